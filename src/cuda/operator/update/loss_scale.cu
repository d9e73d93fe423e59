/* SPDX-License-Identifier: Apache-2.0 */
/* Loss scaling: whether all gradients are finite, scaling of gradients, and the update of the scale. All of it stays on
 * the device, so that a step is not interrupted by the host. */
#include "operator/update/loss_scale.h"

#include "cuda/runtime/convert.h"
#include "cuda/runtime/kernel.h"

/* ---- all_finite -------------------------------------------------------------------------------------------------- */

namespace {

enum { ARRAYS = 64 }; /* of one kernel */

/* The kernel's argument: up to ARRAYS arrays, one behind the other; end[k] counts the elements of arrays 0 to k. */
struct scan {
    mxcu_any array[ARRAYS];
    int64_t end[ARRAYS];
    int32_t *is_finite; /* threads write nothing but 0, so the race between them is harmless */

    MXCU_DEVICE void operator()(int64_t i) const {
        int k = 0;
        while (i >= end[k])
            k++;
        double x = array[k].as<double>(i - (k ? end[k - 1] : 0));
        if (!(x - x == 0))
            *is_finite = 0;
    }
};

} // namespace

static mxc_status scan_some(const mxc_op_call *call, int first, int end, int32_t *is_finite) {
    scan s;
    s.is_finite = is_finite;
    for (int i = first; i < end; i++) {
        s.array[i - first] = mxcu_any_data(&call->in[i]);
        s.end[i - first] = mxcu_size(&call->in[i]) + (i > first ? s.end[i - first - 1] : 0);
    }
    return mxcu_for(call, s.end[end - first - 1], s);
}

/* One thread sets the flag, one launch per ARRAYS arrays clears it where an element is not finite, one thread puts the
 * result. */
static mxc_status all_finite(const mxc_op_call *call) {
    const int init = static_cast<const mxci_finite_params *>(call->params)->init_output;
    int32_t *is_finite = mxcu_temp<int32_t>(call, 0);
    mxcu_out<float> out = mxcu_result<float>(call, &call->out[0], 0);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) { *is_finite = init || out.data[0] != 0; }));
    for (int i = 0; i < call->n_in; i += ARRAYS)
        MXC_TRY(scan_some(call, i, i + ARRAYS < call->n_in ? i + ARRAYS : call->n_in, is_finite));
    return mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) { out.put(0, (float)*is_finite); });
}

static size_t finite_temp(const mxc_op_sig *, mxc_pass) {
    return sizeof(int32_t);
}

/* ---- the scale --------------------------------------------------------------------------------------------------- */

template <class T> static mxc_status copy(const mxc_op_call *call) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    if (call->req[0] == MXC_REQ_NULL || (x.data == y.data && !y.add))
        return MXC_OK;
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, x[i]); });
}

static mxc_status scale_forward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[0].dtype, copy, call)
}

template <class T> static mxc_status scaled(const mxc_op_call *call) {
    mxcu_in<T> from = mxcu_data<T>(&call->out_grad[0]);
    mxcu_out<T> to = mxcu_result<T>(call, &call->in_grad[0], 0);
    const float *state = mxcu_pointer<const float>(call->in[1].data);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_for(call, mxcu_size(&call->out_grad[0]),
                    [=] MXCU_LAMBDA(int64_t i) { to.put(i, from[i] * (mxcu_compute_t<T>)*state); });
}

static mxc_status scale_backward(const mxc_op_call *call) {
    if (call->req[1] == MXC_REQ_WRITE || call->req[1] == MXC_REQ_INPLACE) {
        float *none = mxcu_pointer<float>(call->in_grad[1].data);
        MXC_TRY(mxcu_for(call, mxcu_size(&call->in_grad[1]), [=] MXCU_LAMBDA(int64_t i) { none[i] = 0; }));
    }
    MXCU_SWITCH_FLOAT(call->out_grad[0].dtype, scaled, call)
}

/* One thread: the state is two numbers. */
static mxc_status update(const mxc_op_call *call) {
    const int64_t interval = static_cast<const mxci_loss_scale_params *>(call->params)->interval;
    const float *is_finite = mxcu_pointer<const float>(call->in[0].data);
    float *state = mxcu_pointer<float>(call->aux[0].data);
    mxcu_out<float> factor = mxcu_wanted<float>(call, &call->out[0], 0);
    return mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) {
        float made = mxci_loss_scale_step(*is_finite != 0, interval, state);
        if (factor.data)
            factor.put(0, made);
    });
}

MXCU_OP_IMPLS(loss_scale, {"all_finite", all_finite, nullptr, finite_temp},
              {"multi_all_finite", all_finite, nullptr, finite_temp},
              {"_scale_gradient", scale_forward, scale_backward}, {"_update_loss_scale", update})

/* SPDX-License-Identifier: Apache-2.0 */
/* Dropout. A thread per element draws number i of the call's random range (Philox, a counter-based generator), so that
 * the mask is the same as on the CPU for a seed, whatever the launch. */
#include "operator/nn/dropout.h"

#include "cuda/operator/random/random.h"
#include "cuda/runtime/gradient.h"
#include "cuda/runtime/strided_iterator.h"

enum { OUT, MASK };

/* Element i of the mask: 0, or 1 / keep rounded to T. */
template <class T> struct dropping {
    mxcu_random random;
    float limit;
    mxcu_compute_t<T> factor;

    MXCU_DEVICE mxcu_compute_t<T> operator()(int64_t i) const {
        return mxc_philox_float(random((uint64_t)i)) < limit ? mxcu_widen<T>(mxcu_narrow<T>(factor)) : 0;
    }
};

template <class T> static dropping<T> dropping_of(const mxc_op_call *call) {
    const double keep = 1 - static_cast<const mxci_dropout_params *>(call->params)->p;
    return {mxcu_random_of(call), (float)keep, (mxcu_compute_t<T>)(keep > 0 ? 1 / keep : 0)};
}

/* The element of the mask for each element of data: axes that the parameter names have one element in the mask. */
static mxcu_strided_iterator mask_iterator(const mxc_op_call *call, const mxc_shape *data) {
    mxci_strided strides;
    mxci_dropout_strides(static_cast<const mxci_dropout_params *>(call->params), data, &strides);
    return mxcu_iterate(&strides);
}

static int is_broadcast(const mxc_op_call *call) {
    return static_cast<const mxci_dropout_params *>(call->params)->axes.n > 0;
}

/* A mask that is broadcast: each of its elements is drawn again for every element of data that it covers, instead of
 * being read, since the mask may not be wanted. */
template <class T> static mxc_status drop_broadcast(const mxc_op_call *call) {
    const dropping<T> make = dropping_of<T>(call);
    const mxcu_strided_iterator iterator = mask_iterator(call, &call->in[0].shape);
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[OUT], OUT), mask = mxcu_result<T>(call, &call->out[MASK], MASK);
    if (call->req[MASK] != MXC_REQ_NULL)
        MXC_TRY(mxcu_for(call, mxcu_size(&call->out[MASK]), [=] MXCU_LAMBDA(int64_t i) { mask.put(i, make(i)); }));
    if (call->req[OUT] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_for(call, mxcu_size(&call->in[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, x[i] * make(iterator(i))); });
}

/* A thread per element writes both results: the mask, rounded to T, and the product with it. */
template <class T> static mxc_status drop(const mxc_op_call *call) {
    const dropping<T> make = dropping_of<T>(call);
    const int puts_out = call->req[OUT] != MXC_REQ_NULL, puts_mask = call->req[MASK] != MXC_REQ_NULL;
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[OUT], OUT), mask = mxcu_result<T>(call, &call->out[MASK], MASK);
    return mxcu_for(call, mxcu_size(&call->in[0]), [=] MXCU_LAMBDA(int64_t i) {
        const mxcu_compute_t<T> kept = make(i);
        if (puts_mask)
            mask.put(i, kept);
        if (puts_out)
            y.put(i, x[i] * kept);
    });
}

/* In inference, and with p = 0, a copy; the mask is then 1. */
static mxc_status forward(const mxc_op_call *call) {
    if (!mxci_dropout_drops(static_cast<const mxci_dropout_params *>(call->params), call->is_train)) {
        MXC_TRY(mxcu_put(call, &call->out[OUT], OUT, &call->in[0]));
        return mxcu_put_constant(call, &call->out[MASK], MASK, 1);
    }
    if (is_broadcast(call)) {
        MXCU_SWITCH_FLOAT(call->in[0].dtype, drop_broadcast, call)
    }
    MXCU_SWITCH_FLOAT(call->in[0].dtype, drop, call)
}

template <class T> static mxc_status apply_broadcast(const mxc_op_call *call) {
    const mxcu_strided_iterator iterator = mask_iterator(call, &call->in_grad[0].shape);
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[OUT]), mask = mxcu_data<T>(&call->out[MASK]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]),
                    [=] MXCU_LAMBDA(int64_t i) { dx.put(i, g[i] * mask[iterator(i)]); });
}

template <class T> static mxc_status apply_mask(const mxc_op_call *call) {
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[OUT]), mask = mxcu_data<T>(&call->out[MASK]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]), [=] MXCU_LAMBDA(int64_t i) { dx.put(i, g[i] * mask[i]); });
}

static mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (is_broadcast(call)) {
        MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, apply_broadcast, call)
    }
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, apply_mask, call)
}

MXCU_OP_IMPLS(dropout, {"Dropout", forward, backward})

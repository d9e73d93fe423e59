/* SPDX-License-Identifier: Apache-2.0 */
/* LRN: local response normalization over neighbouring channels, y = x / (knorm + alpha / n sum of x^2)^beta. A thread
 * per element sums over the n channels around it; neighbouring threads read neighbouring pixels. */
#include "cuda/runtime/kernel.h"
#include "cuda/runtime/math.h"
#include "operator/nn/norms.h"

enum { OUT, NORM };

template <class C> static MXCU_DEVICE C power_of(C base, C exponent) {
    return mxcu_exp(exponent * mxcu_log(base));
}

namespace {

/* Data (samples, channels, inner). half_window: channels on each side. */
template <class T> struct lrn {
    using C = mxcu_compute_t<T>;
    int64_t channels, inner, half_window;
    C scale, beta, knorm;
    mxcu_in<T> x, dy;
    const C *norm; /* backward */
    C *share;      /* of each element: dy x norm^(-beta - 1) */
    mxcu_out<C> norm_out;
    mxcu_out<T> to; /* no data: not wanted */

    /* The sum of f(element) over the channels around that of element i. */
    template <class F> MXCU_DEVICE C around(int64_t i, const F &f) const {
        const int64_t c = i / inner % channels;
        const int64_t before = c < half_window ? c : half_window,
                      after = channels - 1 - c < half_window ? channels - 1 - c : half_window;
        C sum = 0;
        for (int64_t k = -before; k <= after; k++)
            sum += f(i + k * inner);
        return sum;
    }
    MXCU_DEVICE void forward(int64_t i) const {
        const mxcu_in<T> from = x;
        const C base = knorm + scale * around(i, [from](int64_t at) { return from[at] * from[at]; });
        if (norm_out.data)
            norm_out.put(i, base);
        if (to.data)
            to.put(i, x[i] * power_of(base, -beta));
    }
    /* First launch of backward: what each element contributes to the gradients of its neighbours, which each of them
     * would compute again otherwise. */
    MXCU_DEVICE void make_share(int64_t i) const {
        share[i] = dy[i] * x[i] * power_of(norm[i], -beta - 1);
    }
    /* dx = dy norm^-beta - 2 scale beta x (sum of the shares of the neighbours). */
    MXCU_DEVICE void backward(int64_t i) const {
        const C *from = share;
        const C sum = around(i, [from](int64_t at) { return from[at]; });
        to.put(i, dy[i] * power_of(norm[i], -beta) - 2 * scale * beta * x[i] * sum);
    }
};

} // namespace

template <class T> static lrn<T> lrn_of(const mxc_op_call *call) {
    using C = mxcu_compute_t<T>;
    const mxci_lrn_params *p = static_cast<const mxci_lrn_params *>(call->params);
    const mxc_shape *data = &call->in[0].shape;
    lrn<T> r = {};
    r.channels = data->dim[1];
    r.inner = mxcu_product(data, 2, data->ndim);
    r.half_window = p->nsize / 2;
    r.scale = (C)(p->alpha / (double)p->nsize);
    r.beta = (C)p->beta;
    r.knorm = (C)p->knorm;
    r.x = mxcu_data<T>(&call->in[0]);
    return r;
}

template <class T> static mxc_status forward_as(const mxc_op_call *call) {
    lrn<T> r = lrn_of<T>(call);
    if (call->req[NORM] != MXC_REQ_NULL)
        r.norm_out = mxcu_result<mxcu_compute_t<T>>(call, &call->out[NORM], NORM);
    if (call->req[OUT] != MXC_REQ_NULL)
        r.to = mxcu_result<T>(call, &call->out[OUT], OUT);
    return mxcu_for(call, mxcu_size(&call->in[0]), [=] MXCU_LAMBDA(int64_t i) { r.forward(i); });
}

template <class T> static mxc_status backward_as(const mxc_op_call *call) {
    const int64_t size = mxcu_size(&call->in[0]);
    lrn<T> r = lrn_of<T>(call);
    r.dy = mxcu_data<T>(&call->out_grad[OUT]);
    r.norm = mxcu_pointer<const mxcu_compute_t<T>>(call->out[NORM].data);
    r.share = mxcu_temp<mxcu_compute_t<T>>(call, 0);
    r.to = mxcu_result<T>(call, &call->in_grad[0], 0);
    MXC_TRY(mxcu_for(call, size, [=] MXCU_LAMBDA(int64_t i) { r.make_share(i); }));
    return mxcu_for(call, size, [=] MXCU_LAMBDA(int64_t i) { r.backward(i); });
}

static mxc_status forward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[0].dtype, forward_as, call)
}

static mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in[0].dtype, backward_as, call)
}

/* A share of each element, float or double. */
static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *data = &sig->in_shape[0];
    return pass == MXC_FORWARD ? 0 : mxci_shape_bytes(data, sizeof(double));
}

MXCU_OP_IMPLS(lrn, {"LRN", forward, backward, temp_bytes})

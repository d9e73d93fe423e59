/* SPDX-License-Identifier: Apache-2.0 */
/* IdentityAttachKLSparseReg: forward copies data and updates the moving average of each channel's activation, a team
 * per channel; backward adds the derivative of the KL divergence from the target, a thread per element. */
#include "cuda/runtime/gradient.h"
#include "cuda/runtime/kernel.h"
#include "operator/nn/identity_kl_sparse_reg.h"

enum { OUT, AVERAGE };

/* data (N, C, D). moving_avg and the hidden output average have data's compute type. */
template <class T> static mxc_status average(const mxc_op_call *call) {
    using A = mxcu_compute_t<T>;
    const mxc_shape *data = &call->in[0].shape;
    const int64_t channels = data->dim[1], d = mxcu_product(data, 2, data->ndim), n = data->dim[0] * d;
    const double keep = static_cast<const mxci_sparse_params *>(call->params)->momentum;
    const int learns = call->is_train && n > 0, wanted = call->req[AVERAGE] != MXC_REQ_NULL;
    A *moving = mxcu_pointer<A>(call->aux[0].data);
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<A> y = mxcu_result<A>(call, &call->out[AVERAGE], AVERAGE);
    return mxcu_rows(call, channels, n, [=] MXCU_LAMBDA(int64_t c, mxcu_team team) {
        double a = moving[c], sum = 0;
        for (int64_t i = team.rank; i < n && learns; i += team.size)
            sum += (double)x[(i / d * channels + c) * d + i % d];
        sum = team.sum(sum);
        if (team.rank != 0)
            return;
        if (learns)
            moving[c] = (A)(a = keep * a + (1 - keep) * sum / (double)n);
        if (wanted)
            y.put(c, (A)a);
    });
}

/* dx = g + penalty (-target / a + (1 - target) / (1 - a)), a the channel's average. */
template <class T> static mxc_status penalize(const mxc_op_call *call) {
    using A = mxcu_compute_t<T>;
    const mxci_sparse_params p = *static_cast<const mxci_sparse_params *>(call->params);
    const mxc_shape *data = &call->in_grad[0].shape;
    const int64_t channels = data->dim[1], d = mxcu_product(data, 2, data->ndim);
    const A *averages = mxcu_pointer<const A>(call->out[AVERAGE].data);
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[OUT]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]), [=] MXCU_LAMBDA(int64_t at) {
        const double a = averages[at / d % channels], target = p.sparseness_target;
        dx.put(at, (A)((double)g[at] + p.penalty * (-target / a + (1 - target) / (1 - a))));
    });
}

static mxc_status average_any(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[0].dtype, average, call)
}

static mxc_status forward(const mxc_op_call *call) {
    MXC_TRY(average_any(call));
    return mxcu_put(call, &call->out[OUT], OUT, &call->in[0]);
}

static mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, penalize, call)
}

MXCU_OP_IMPLS(identity_kl_sparse_reg, {"IdentityAttachKLSparseReg", forward, backward})

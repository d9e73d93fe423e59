/* SPDX-License-Identifier: Apache-2.0 */
/* L2Normalization: of data (outer, k, inner) the k elements that are inner apart share a norm. A team per norm where
 * inner is 1, else a thread per norm, so that neighbouring threads read neighbours. */
#include "cuda/runtime/kernel.h"
#include "operator/nn/norms.h"

namespace {

template <class T> struct l2_norm {
    using C = mxcu_compute_t<T>;
    int64_t outer, k, inner;
    double eps;
    mxcu_in<T> x, g;
    mxcu_out<T> to;

    template <class Team> MXCU_DEVICE double dot(int64_t at, const mxcu_in<T> &other, const Team &team) const {
        double sum = 0;
        for (int64_t i = team.rank; i < k; i += team.size)
            sum += (double)x[at + i * inner] * (double)other[at + i * inner];
        return team.sum(sum);
    }
    /* With r = 1 / sqrt(sum of x^2 + eps): y = r x; dx = r g - x r^3 (sum of g x). */
    template <class Team> MXCU_DEVICE void run(int64_t row, const Team &team) const {
        const int64_t at = row / inner * k * inner + row % inner;
        const double total = dot(at, x, team) + eps, product = g.data ? dot(at, g, team) : 0;
        const C scale = (C)(1 / sqrt(total)), share = (C)(product / total / sqrt(total));
        for (int64_t i = team.rank; i < k; i += team.size) {
            const int64_t e = at + i * inner;
            to.put(e, g.data ? g[e] * scale - x[e] * share : x[e] * scale);
        }
    }
};

} // namespace

/* instance: all of a sample; channel: the channels of a pixel; spatial: the pixels of a channel. */
template <class T> static mxc_status run(const mxc_op_call *call, const mxc_tensor *g, const mxc_tensor *to) {
    const mxci_l2_params *p = static_cast<const mxci_l2_params *>(call->params);
    const mxc_shape *data = &call->in[0].shape;
    const int first = p->mode == MXCI_L2_SPATIAL ? 2 : 1, end = p->mode == MXCI_L2_CHANNEL ? 2 : data->ndim;
    l2_norm<T> l = {
        mxcu_product(data, 0, first),        mxcu_product(data, first, end),
        mxcu_product(data, end, data->ndim), p->eps,
        mxcu_data<T>(&call->in[0]),          {nullptr},
        mxcu_result<T>(call, to, 0),
    };
    if (g)
        l.g = mxcu_data<T>(g);
    if (l.inner == 1)
        return mxcu_rows(call, l.outer, l.k, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) { l.run(row, team); });
    return mxcu_for(call, l.outer * l.inner, [=] MXCU_LAMBDA(int64_t row) { l.run(row, mxcu_single_thread()); });
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in[0].dtype, run, call, nullptr, &call->out[0])
}

static mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in[0].dtype, run, call, &call->out_grad[0], &call->in_grad[0])
}

MXCU_OP_IMPLS(l2_normalization, {"L2Normalization", forward, backward})

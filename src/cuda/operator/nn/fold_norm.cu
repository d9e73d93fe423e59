/* SPDX-License-Identifier: Apache-2.0 */
/* _fold_norm: the weight and bias of a layer into which the BatchNorm behind it is folded; a team per filter. */
#include "operator/nn/fold_norm.h"

#include "cuda/runtime/kernel.h"

/* weight (F, ...) times scale = gamma / sqrt(variance + eps) of its filter; bias = (bias - mean) scale + beta, in
 * float64. */
template <class T> static mxc_status forward_as(const mxc_op_call *call) {
    using P = mxcu_compute_t<T>;
    const mxci_fold_params *p = static_cast<const mxci_fold_params *>(call->params);
    const mxc_tensor *in = call->in;
    const mxc_shape *shape = &in[MXCI_FOLD_WEIGHT].shape;
    const int64_t filter_size = mxcu_product(shape, 1, shape->ndim);
    const double eps = p->eps;
    const P *gamma = p->fix_gamma ? nullptr : mxcu_pointer<const P>(in[MXCI_FOLD_GAMMA].data);
    const P *beta = mxcu_pointer<const P>(in[MXCI_FOLD_BETA].data);
    const P *mean = mxcu_pointer<const P>(in[MXCI_FOLD_MEAN].data);
    const P *variance = mxcu_pointer<const P>(in[MXCI_FOLD_VARIANCE].data);
    mxcu_in<T> weight = mxcu_data<T>(&in[MXCI_FOLD_WEIGHT]), bias = {nullptr};
    mxcu_out<T> new_weight = mxcu_wanted<T>(call, &call->out[0], 0), new_bias = mxcu_wanted<T>(call, &call->out[1], 1);
    if (!p->no_bias)
        bias = mxcu_data<T>(&in[MXCI_FOLD_BIAS]);
    return mxcu_rows(call, shape->dim[0], filter_size, [=] MXCU_LAMBDA(int64_t f, mxcu_team team) {
        const double scale = (gamma ? (double)gamma[f] : 1) / sqrt((double)variance[f] + eps);
        for (int64_t i = team.rank; i < filter_size && new_weight.data; i += team.size)
            new_weight.put(f * filter_size + i, (P)((double)weight[f * filter_size + i] * scale));
        if (team.rank == 0 && new_bias.data)
            new_bias.put(f, (P)(((bias.data ? (double)bias[f] : 0) - (double)mean[f]) * scale + (double)beta[f]));
    });
}

static mxc_status forward(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->in[0].dtype, forward_as, call)
}

MXCU_OP_IMPLS(fold_norm, {"_fold_norm", forward})

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learning rates by layer (LARS: Y. You et al., 2017), one for each of K weights, out of the sums of squares that
 * multi_sum_sq gives:
 *   multi_lars  out = lr eta |w| / (rescale_grad |g| + wd |w| + eps), and lr where |w| or |g| is 0
 */
#include "operator/update/update.h"

enum { LRS, WEIGHTS_SUM_SQ, GRADS_SUM_SQ, WDS };

static const mxc_param lars_params[] = {
    {MXC_PARAM_FIELD(mxci_lars_params, eta), .name = "eta", .type = MXC_PARAM_FLOAT,
     .doc = "Trust coefficient: ratio of the length of a step to the length of the weight."},
    {MXC_PARAM_FIELD(mxci_lars_params, eps), .name = "eps", .type = MXC_PARAM_FLOAT,
     .doc = "Added to the denominator, for stability."},
    {MXC_PARAM_FIELD(mxci_lars_params, rescale_grad), .name = "rescale_grad", .type = MXC_PARAM_FLOAT, .initial = "1.0",
     .doc = "Factor of the gradients; grads_sum_sq does not include it."},
    MXC_PARAM_END,
};

static mxc_status multi_lars(const mxc_op_call *call) {
    const mxci_lars_params *p = call->params;
    for (int64_t i = 0; i < mxci_tensor_size(&call->out[0]); i++)
        mxci_assign_value(call->req[0], &call->out[0], i,
                          mxci_lars_rate(p, mxci_value_at(&call->in[LRS], i),
                                         mxci_value_at(&call->in[WEIGHTS_SUM_SQ], i),
                                         mxci_value_at(&call->in[GRADS_SUM_SQ], i), mxci_value_at(&call->in[WDS], i)));
    return MXC_OK;
}

const mxc_op_def mxci_op_multi_lars = {
    .size = sizeof(mxc_op_def),
    .name = "multi_lars",
    .args = "lrs,weights_sum_sq,grads_sum_sq,wds",
    .doc = "Learning rates by layer: output = lrs eta |w| / (rescale_grad |g| + wds |w| + eps), where |w| and |g| are "
           "the square roots of weights_sum_sq and grads_sum_sq; lrs where either is 0",
    .params = lars_params,
    .param_size = sizeof(mxci_lars_params),
    .dtypes = MXC_DTYPES_FLOAT,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(LRS), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = multi_lars},
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follow the moving leader (S. Zheng and J. Kwok, ICML 2017); c as in update.h, with wd weight added before the limit:
 *   ftml_update  v = beta2 v + (1 - beta2) g^2;
 *                d' = (1 - beta1^t) / lr (sqrt(v / (1 - beta2^t)) + epsilon);
 *                z = beta1 z + (1 - beta1) g - (d' - beta1 d) weight;  d = d';  out = -z / d
 */
#include "operator/update/update.h"

static const mxc_param ftml_params[] = {
    MXCI_LR,
    MXCI_FACTOR(beta1, "0.6", "Decay rate of the gradients before."),
    MXCI_FACTOR(beta2, "0.999", "Decay rate of the mean of squared gradients."),
    MXCI_FACTOR(epsilon, "1e-8", "Added to the square root, for stability."),
    {MXC_PARAM_FIELD(mxci_ftml_params, t), .name = "t", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 9e15, .doc = "Number of this update, counted from 1."},
    MXCI_WD,
    MXCI_RESCALE,
    {MXC_PARAM_FIELD(mxci_update, clip_gradient), .name = "clip_grad", .type = MXC_PARAM_FLOAT, .initial = "-1.0",
     .doc = "Clip the rescaled gradient with weight decay to [-value, value]. Negative: off."},
    MXC_PARAM_END,
};

static mxc_status ftml(const mxc_op_call *call) {
    const mxci_ftml_params *p = call->params;
    const mxci_update factors = mxci_ftml_factors(p);
    return mxci_update_run(call, mxci_update_ftml, &factors);
}

const mxc_op_def mxci_op_ftml_update = {
    MXCI_UPDATE_DEF,
    .name = "ftml_update",
    .args = "weight,grad",
    .aux = "d,v,z",
    .params = ftml_params,
    .doc = "g = clip(rescale_grad grad + wd weight); v = beta2 v + (1 - beta2) g^2; "
           "d' = (1 - beta1^t) / lr (sqrt(v / (1 - beta2^t)) + epsilon); "
           "z = beta1 z + (1 - beta1) g - (d' - beta1 d) weight; d = d'; out = -z / d",
    .param_size = sizeof(mxci_ftml_params),
    .forward = {[MXC_CPU] = ftml},
};

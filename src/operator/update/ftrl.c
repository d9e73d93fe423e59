/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follow the regularized leader, with a step for each element; c as in update.h, g = c(grad):
 *   ftrl_update  z = z + g - (sqrt(n + g^2) - sqrt(n)) weight / lr;  n = n + g^2;
 *                out = 0 where |z| <= lamda1, else (sign(z) lamda1 - z) / ((beta + sqrt(n)) / lr + wd)
 */
#include "operator/update/update.h"

static const mxc_param ftrl_params[] = {
    MXCI_LR,
    MXCI_FACTOR(lamda1, "0.01", "L1 regularization, which sets small weights to 0."),
    MXCI_FACTOR(beta, "1.0", "Added to the denominator of the per-weight learning rate."),
    MXCI_WD,
    MXCI_RESCALE,
    MXCI_CLIP,
    MXC_PARAM_END,
};

static mxc_status ftrl(const mxc_op_call *call) {
    return mxci_update_run(call, mxci_update_ftrl, call->params);
}

const mxc_op_def mxci_op_ftrl_update = {
    MXCI_UPDATE_DEF,
    .name = "ftrl_update",
    .args = "weight,grad",
    .aux = "z,n",
    .params = ftrl_params,
    .doc = "g = clip(rescale_grad grad); z += g - (sqrt(n + g^2) - sqrt(n)) weight / lr; n += g^2; "
           "out = |z| <= lamda1 ? 0 : (sign(z) lamda1 - z) / ((beta + sqrt(n)) / lr + wd)",
    .param_size = sizeof(mxci_update),
    .forward = {[MXC_CPU] = ftrl},
};

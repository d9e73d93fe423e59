/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps scaled by a running mean of the gradient's square. With d = rescale_grad grad + wd weight, kept within
 * +-clip_gradient, and the new weight kept within +-clip_weights, each where it is not negative:
 *   rmsprop_update      n = gamma1 n + (1 - gamma1) d^2;  out = weight - lr d / sqrt(n + epsilon)
 *   rmspropalex_update  also g = gamma1 g + (1 - gamma1) d;  delta = gamma2 delta - lr d / sqrt(n - g^2 + epsilon);
 *                       out = weight + delta
 */
#include "operator/update/update.h"

#define GAMMA1 MXCI_FACTOR(gamma1, "0.95", "Decay rate of the running means.")
#define EPSILON MXCI_FACTOR(epsilon, "1e-8", "Added under the square root, for stability.")
#define CLIP_WEIGHTS MXCI_FACTOR(clip_weights, "-1.0", "Limit of the absolute value of the new weight. Negative: none.")

static const mxc_param plain_params[] = {
    MXCI_LR, GAMMA1, EPSILON, MXCI_WD, MXCI_RESCALE, MXCI_CLIP, CLIP_WEIGHTS, MXC_PARAM_END,
};
static const mxc_param centered_params[] = {
    MXCI_LR,   GAMMA1,       MXCI_FACTOR(gamma2, "0.9", "Momentum: share of the previous step that is repeated."),
    EPSILON,   MXCI_WD,      MXCI_RESCALE,
    MXCI_CLIP, CLIP_WEIGHTS, MXC_PARAM_END,
};

static mxc_status plain(const mxc_op_call *call) {
    return mxci_update_run(call, mxci_update_rmsprop, call->params);
}
static mxc_status centered(const mxc_op_call *call) {
    return mxci_update_run(call, mxci_update_rmspropalex, call->params);
}

const mxc_op_def mxci_op_rmsprop_update = {
    MXCI_UPDATE_DEF,
    .name = "rmsprop_update",
    .args = "weight,grad",
    .aux = "n",
    .params = plain_params,
    .doc = "d = clip(rescale_grad grad + wd weight); n = gamma1 n + (1 - gamma1) d^2; "
           "out = clip_weights(weight - lr d / sqrt(n + epsilon))",
    .param_size = sizeof(mxci_update),
    .forward = {[MXC_CPU] = plain},
};

const mxc_op_def mxci_op_rmspropalex_update = {
    MXCI_UPDATE_DEF,
    .name = "rmspropalex_update",
    .args = "weight,grad",
    .aux = "n,g,delta",
    .params = centered_params,
    .doc = "d = clip(rescale_grad grad + wd weight); n = gamma1 n + (1 - gamma1) d^2; g = gamma1 g + (1 - gamma1) d; "
           "delta = gamma2 delta - lr d / sqrt(n - g^2 + epsilon); out = clip_weights(weight + delta)",
    .param_size = sizeof(mxci_update),
    .forward = {[MXC_CPU] = centered},
};

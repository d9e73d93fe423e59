/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps along the gradient, or along its sign, one pass over memory; c as in update.h:
 *   sgd_update      out = (1 - lr wd) weight - lr c(grad)
 *   sgd_mom_update  mom = momentum mom - lr wd weight - lr c(grad);  out = weight + mom
 *   nag_mom_update  step = lr (c(grad) + wd weight);  mom = momentum mom - step;  out = weight + momentum mom - step
 *   signsgd_update  out = (1 - lr wd) weight - lr sign(grad)
 *   signum_update   mom = momentum mom - (1 - momentum) (wd weight + c(grad));
 *                   out = (1 - lr wd_lh) weight + lr sign(mom)
 */
#include "operator/update/update.h"

#define MOMENTUM MXCI_FACTOR(momentum, "0.0", "Momentum: share of the previous step that is repeated.")

static const mxc_param sgd_params[] = {MXCI_LR, MXCI_WD, MXCI_RESCALE, MXCI_CLIP, MXCI_LAZY, MXC_PARAM_END};
static const mxc_param sgd_mom_params[] = {
    MXCI_LR, MOMENTUM, MXCI_WD, MXCI_RESCALE, MXCI_CLIP, MXCI_LAZY, MXC_PARAM_END,
};
static const mxc_param plain_params[] = {MXCI_LR, MXCI_WD, MXCI_RESCALE, MXCI_CLIP, MXC_PARAM_END};
static const mxc_param momentum_params[] = {MXCI_LR, MOMENTUM, MXCI_WD, MXCI_RESCALE, MXCI_CLIP, MXC_PARAM_END};
static const mxc_param signum_params[] = {
    MXCI_LR,       MOMENTUM,  MXCI_WD,
    MXCI_RESCALE,  MXCI_CLIP, MXCI_FACTOR(wd_lh, "0.0", "Weight decay that is applied outside the sign."),
    MXC_PARAM_END,
};

static mxc_status sgd(const mxc_op_call *call) {
    return mxci_update_run(call, mxci_update_sgd, call->params);
}
static mxc_status sgd_mom(const mxc_op_call *call) {
    return mxci_update_run(call, mxci_update_sgd_mom, call->params);
}
static mxc_status nag_mom(const mxc_op_call *call) {
    return mxci_update_run(call, mxci_update_nag_mom, call->params);
}
static mxc_status signsgd(const mxc_op_call *call) {
    return mxci_update_run(call, mxci_update_signsgd, call->params);
}
static mxc_status signum(const mxc_op_call *call) {
    return mxci_update_run(call, mxci_update_signum, call->params);
}

const mxc_op_def mxci_op_sgd_update = {
    MXCI_UPDATE_DEF,
    .name = "sgd_update",
    .args = "weight,grad",
    .params = sgd_params,
    .doc = "out = (1 - lr wd) weight - lr clip(rescale_grad grad)",
    .param_size = sizeof(mxci_update),
    .forward = {[MXC_CPU] = sgd},
};

const mxc_op_def mxci_op_sgd_mom_update = {
    MXCI_UPDATE_DEF,
    .name = "sgd_mom_update",
    .args = "weight,grad",
    .aux = "mom",
    .params = sgd_mom_params,
    .doc = "mom = momentum mom - lr wd weight - lr clip(rescale_grad grad); out = weight + mom",
    .param_size = sizeof(mxci_update),
    .forward = {[MXC_CPU] = sgd_mom},
};

const mxc_op_def mxci_op_nag_mom_update = {
    MXCI_UPDATE_DEF,
    .name = "nag_mom_update",
    .args = "weight,grad",
    .aux = "mom",
    .params = momentum_params,
    .doc = "step = lr (clip(rescale_grad grad) + wd weight); mom = momentum mom - step; "
           "out = weight + momentum mom - step",
    .param_size = sizeof(mxci_update),
    .forward = {[MXC_CPU] = nag_mom},
};

const mxc_op_def mxci_op_signsgd_update = {
    MXCI_UPDATE_DEF,
    .name = "signsgd_update",
    .args = "weight,grad",
    .params = plain_params,
    .doc = "out = (1 - lr wd) weight - lr sign(grad); rescale_grad and clip_gradient have no effect",
    .param_size = sizeof(mxci_update),
    .forward = {[MXC_CPU] = signsgd},
};

const mxc_op_def mxci_op_signum_update = {
    MXCI_UPDATE_DEF,
    .name = "signum_update",
    .args = "weight,grad",
    .aux = "mom",
    .params = signum_params,
    .doc = "mom = momentum mom - (1 - momentum) (wd weight + clip(rescale_grad grad)); "
           "out = (1 - lr wd_lh) weight + lr sign(mom)",
    .param_size = sizeof(mxci_update),
    .forward = {[MXC_CPU] = signum},
};

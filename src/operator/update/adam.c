/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps along the running mean of the gradient over the root of that of its square; c as in update.h:
 *   adam_update    d = c(grad) with wd weight added before the limit;  mean = beta1 mean + (1 - beta1) d;
 *                  var = beta2 var + (1 - beta2) d^2;  out = weight - lr mean / (sqrt(var) + epsilon)
 *   _adamw_update  d = c(grad);  out = weight - eta (lr mean / (sqrt(var) + epsilon) + wd weight)
 * Neither corrects the bias of the means towards their start at 0: the caller includes the correction in lr.
 */
#include <math.h>

#include "operator/update/update.h"

#define BETA1 MXCI_FACTOR(beta1, "0.9", "Decay rate of the mean of gradients.")
#define BETA2 MXCI_FACTOR(beta2, "0.999", "Decay rate of the mean of squared gradients.")
#define EPSILON MXCI_FACTOR(epsilon, "1e-8", "Added to the square root, for stability.")

static const mxc_param adam_params[] = {
    MXCI_LR, BETA1, BETA2, EPSILON, MXCI_WD, MXCI_RESCALE, MXCI_CLIP, MXCI_LAZY, MXC_PARAM_END,
};

static mxc_status adam(const mxc_op_call *call) {
    return mxci_update_run(call, mxci_update_adam, call->params);
}

const mxc_op_def mxci_op_adam_update = {
    MXCI_UPDATE_DEF,
    .name = "adam_update",
    .args = "weight,grad",
    .aux = "mean,var",
    .params = adam_params,
    .doc = "d = clip(rescale_grad grad + wd weight); mean = beta1 mean + (1 - beta1) d; "
           "var = beta2 var + (1 - beta2) d^2; out = weight - lr mean / (sqrt(var) + epsilon)",
    .param_size = sizeof(mxci_update),
    .forward = {[MXC_CPU] = adam},
};

/* ---- _adamw_update ---------------------------------------------------------------------------------------------- */

/* rescale_grad is an array of one element, the last auxiliary state, as in MXNet, though it does not change. */

enum { ADAMW_RESCALE = 2 };

static const mxc_param adamw_params[] = {
    MXCI_LR,   BETA1,         BETA2,
    EPSILON,   MXCI_WD,       MXCI_FACTOR(eta, NULL, "Factor of the whole step, weight decay included."),
    MXCI_CLIP, MXC_PARAM_END,
};

static mxc_status infer_adamw_shape(mxc_op_sig *sig) {
    static const int slots[] = {0, 1, MXC_SLOT_OUT(0), MXC_SLOT_AUX(0), MXC_SLOT_AUX(1)};
    MXC_TRY(mxci_sig_same_shape(sig, 5, slots));
    return mxci_update_infer_single(sig, MXC_SLOT_AUX(ADAMW_RESCALE), "rescale_grad");
}

static mxc_status infer_adamw_type(mxc_op_sig *sig) {
    static const int slots[] = {0, 1, MXC_SLOT_OUT(0), MXC_SLOT_AUX(0), MXC_SLOT_AUX(1)};
    MXC_TRY(mxci_sig_same_type(sig, 5, slots));
    return mxc_sig_set_type(sig, MXC_SLOT_AUX(ADAMW_RESCALE), MXC_F32);
}

static mxc_status adamw(const mxc_op_call *call) {
    mxci_update factors = *(const mxci_update *)call->params;
    factors.rescale_grad = *(const float *)call->aux[ADAMW_RESCALE].data;
    if (isfinite(factors.rescale_grad) && factors.rescale_grad != 0) {
        mxc_op_call with_states = *call;
        with_states.n_aux = ADAMW_RESCALE;
        return mxci_update_run(&with_states, mxci_update_adamw, &factors);
    }
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[0]);
    return MXC_OK;
}

const mxc_op_def mxci_op_adamw_update = {
    .size = sizeof(mxc_op_def),
    .infer_shape = infer_adamw_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .inplace_forward = mxci_update_inplace,
    .name = "_adamw_update",
    .args = "weight,grad",
    .aux = "mean,var,rescale_grad",
    .doc = "d = clip(rescale_grad grad); mean = beta1 mean + (1 - beta1) d; var = beta2 var + (1 - beta2) d^2; "
           "out = weight - eta (lr mean / (sqrt(var) + epsilon) + wd weight); nothing changes where rescale_grad is 0 "
           "or not finite",
    .params = adamw_params,
    .param_size = sizeof(mxci_update),
    .infer_type = infer_adamw_type,
    .forward = {[MXC_CPU] = adamw},
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps along the running mean of the gradient over the root of that of its square; c as in update.h:
 *   adam_update    d = c(grad) with wd weight added before the limit;  mean = beta1 mean + (1 - beta1) d;
 *                  var = beta2 var + (1 - beta2) d^2;  out = weight - lr mean / (sqrt(var) + epsilon)
 *   _adamw_update  d = c(grad);  out = weight - eta (lr mean / (sqrt(var) + epsilon) + wd weight)
 *   _mp_adamw_update  the same of weight32, an f32 copy of a 16-bit weight; out is its rounded copy
 * None corrects the bias of the means towards their start at 0: the caller includes the correction in lr.
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

static const mxc_param adamw_params[] = {
    MXCI_LR,   BETA1,         BETA2,
    EPSILON,   MXCI_WD,       MXCI_FACTOR(eta, NULL, "Factor of the whole step, weight decay included."),
    MXCI_CLIP, MXC_PARAM_END,
};

static mxc_status infer_adamw_shape(mxc_op_sig *sig) {
    mxc_op_sig others = *sig;
    others.n_aux--;
    MXC_TRY(mxci_update_infer_shape(&others));
    return mxci_update_infer_single(sig, MXC_SLOT_AUX(others.n_aux), "rescale_grad");
}

static mxc_status infer_adamw_type(mxc_op_sig *sig) {
    mxc_op_sig others = *sig;
    others.n_aux--;
    MXC_TRY(mxci_infer_type_same(&others));
    return mxc_sig_set_type(sig, MXC_SLOT_AUX(others.n_aux), MXC_F32);
}

/* Where rescale_grad is 0 or not finite nothing changes: the gradients of a training with a loss scale overflowed. */
static mxc_status adamw_step(const mxc_op_call *call, int has_master) {
    mxci_update factors = *(const mxci_update *)call->params;
    const mxci_update_step step = mxci_update_step_of(call, mxci_update_adamw, &factors, 0, 2, has_master);
    factors.rescale_grad = *(const float *)call->aux[call->n_aux - 1].data;
    if (isfinite(factors.rescale_grad) && factors.rescale_grad != 0)
        mxci_update_step_run(call->run, &step);
    else
        mxci_assign_cast(call->run, step.req, step.out, has_master ? step.master : step.weight);
    return MXC_OK;
}

static mxc_status adamw(const mxc_op_call *call) {
    return adamw_step(call, 0);
}

static mxc_status mp_adamw(const mxc_op_call *call) {
    return adamw_step(call, 1);
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

/* All but weight, gradient and output are f32, the factor too. */
const mxc_op_def mxci_op_mp_adamw_update = {
    .size = sizeof(mxc_op_def),
    .infer_shape = infer_adamw_shape,
    .dtypes = MXCI_MASTER_DTYPES,
    .inplace_forward = mxci_update_inplace,
    .name = "_mp_adamw_update",
    .args = "weight,grad",
    .aux = "mean,var,weight32,rescale_grad",
    .doc = "_adamw_update of weight32, the float32 copy of a 16-bit weight; out = weight32 in weight's dtype",
    .params = adamw_params,
    .param_size = sizeof(mxci_update),
    .infer_type = mxci_update_infer_master_type,
    .forward = {[MXC_CPU] = mp_adamw},
};

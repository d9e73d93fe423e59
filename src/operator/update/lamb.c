/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adam whose step's length follows the weight's norm. c as in update.h; between the phases the caller takes norms:
 *   lamb_update_phase1  d = c(grad);  mean and var as in _adamw_update, in the formula over 1 - beta1^t and 1 - beta2^t
 *                       where bias_correction is on;  out = mean / (sqrt(var) + epsilon) + wd weight
 *   lamb_update_phase2  r = r1 kept within lower_bound and upper_bound, over r2 (1 where either is 0);
 *                       out = weight - lr r g
 * mp_lamb_update_phase1 and mp_lamb_update_phase2 are the same with weight32, an f32 copy of a 16-bit weight, in the
 * weight's place: the direction is f32, and the second phase changes weight32. (MXNet 1.9.1 leaves weight32 as it is,
 * so that the weight never gets beyond one step.)
 */
#include "operator/update/update.h"

/* ---- phase 1 ---------------------------------------------------------------------------------------------------- */

static const mxc_param phase1_schema[] = {
    MXCI_FACTOR(beta1, "0.9", "Decay rate of the mean of gradients."),
    MXCI_FACTOR(beta2, "0.999", "Decay rate of the mean of squared gradients."),
    MXCI_FACTOR(epsilon, "1e-6", "Added to the square root, for stability."),
    {MXC_PARAM_FIELD(mxci_lamb1_params, t), .name = "t", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 9e15, .doc = "Number of this update, counted from 1."},
    {MXC_PARAM_FIELD(mxci_lamb1_params, bias_correction), .name = "bias_correction", .type = MXC_PARAM_BOOL,
     .initial = "true", .doc = "Correct the moving means for their initialization with 0."},
    MXCI_FACTOR(wd, NULL, "Weight decay: wd times the weight is added to the step."),
    MXCI_RESCALE,
    MXCI_CLIP,
    MXC_PARAM_END,
};

static mxc_status phase1(const mxc_op_call *call) {
    const mxci_lamb1_params *p = call->params;
    mxci_update factors = p->factors;
    mxci_lamb_correct(&factors, p->bias_correction, (double)p->t);
    return mxci_update_run(call, mxci_update_lamb, &factors);
}

/* The auxiliary states are mean, var and weight32. */
static mxc_status mp_phase1(const mxc_op_call *call) {
    const mxci_lamb1_params *p = call->params;
    mxci_update factors = p->factors;
    mxci_update_step step = mxci_update_step_of(call, mxci_update_lamb, &factors, 0, 2, 1);
    mxci_lamb_correct(&factors, p->bias_correction, (double)p->t);
    step.keeps_master = 1;
    mxci_update_step_run(call->run, &step);
    return MXC_OK;
}

/* Weight and gradient have one dtype; all else is f32. */
static mxc_status infer_mp_phase1_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 2, (const int[]){0, 1}));
    for (int i = 0; i < sig->n_aux; i++)
        MXC_TRY(mxc_sig_set_type(sig, MXC_SLOT_AUX(i), MXC_F32));
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_F32);
}

const mxc_op_def mxci_op_lamb_update_phase1 = {
    MXCI_UPDATE_DEF,
    .name = "lamb_update_phase1",
    .args = "weight,grad",
    .aux = "mean,var",
    .params = phase1_schema,
    .doc = "d = clip(rescale_grad grad); mean = beta1 mean + (1 - beta1) d; var = beta2 var + (1 - beta2) d^2; "
           "out = mean' / (sqrt(var') + epsilon) + wd weight, mean' and var' corrected for bias",
    .param_size = sizeof(mxci_lamb1_params),
    .forward = {[MXC_CPU] = phase1},
};

const mxc_op_def mxci_op_mp_lamb_update_phase1 = {
    .size = sizeof(mxc_op_def),
    .name = "mp_lamb_update_phase1",
    .args = "weight,grad",
    .aux = "mean,var,weight32",
    .params = phase1_schema,
    .doc = "lamb_update_phase1 of weight32, the float32 copy of a 16-bit weight; out is float32",
    .param_size = sizeof(mxci_lamb1_params),
    .infer_shape = mxci_update_infer_shape,
    .infer_type = infer_mp_phase1_type,
    .dtypes = MXCI_MASTER_DTYPES,
    .forward = {[MXC_CPU] = mp_phase1},
};

/* ---- phase 2 ---------------------------------------------------------------------------------------------------- */

static const mxc_param phase2_schema[] = {
    {MXC_PARAM_FIELD(mxci_lamb2_params, lr), .name = "lr", .type = MXC_PARAM_FLOAT, .doc = "Learning rate."},
    {MXC_PARAM_FIELD(mxci_lamb2_params, lower_bound), .name = "lower_bound", .type = MXC_PARAM_FLOAT, .initial = "-1.0",
     .doc = "Lower bound of r1. Negative: none."},
    {MXC_PARAM_FIELD(mxci_lamb2_params, upper_bound), .name = "upper_bound", .type = MXC_PARAM_FLOAT, .initial = "-1.0",
     .doc = "Upper bound of r1. Negative: none."},
    MXC_PARAM_END,
};

static mxc_status infer_phase2_shape(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_shape(sig, 3 + sig->n_aux, (const int[]){0, 1, MXC_SLOT_OUT(0), MXC_SLOT_AUX(0)}));
    MXC_TRY(mxci_update_infer_single(sig, 2, "r1"));
    return mxci_update_infer_single(sig, 3, "r2");
}

/* All but the weight are f32. */
static mxc_status infer_mp_phase2_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 2, (const int[]){0, MXC_SLOT_OUT(0)}));
    for (int i = 1; i < sig->n_in; i++)
        MXC_TRY(mxc_sig_set_type(sig, i, MXC_F32));
    return mxc_sig_set_type(sig, MXC_SLOT_AUX(0), MXC_F32);
}

/* The one auxiliary state of the operator with f32 copies is weight32. */
static mxc_status phase2(const mxc_op_call *call) {
    const mxci_lamb2_params *p = call->params;
    const double r1 = mxci_value_at(&call->in[2], 0), r2 = mxci_value_at(&call->in[3], 0);
    const mxci_update factors = {
        .lr = p->lr * mxci_lamb_ratio(r1, r2, p->lower_bound, p->upper_bound),
        .rescale_grad = 1,
        .clip_gradient = -1,
    };
    const mxci_update_step step = mxci_update_step_of(call, mxci_update_sgd, &factors, 0, 0, call->n_aux);
    mxci_update_step_run(call->run, &step);
    return MXC_OK;
}

const mxc_op_def mxci_op_lamb_update_phase2 = {
    .size = sizeof(mxc_op_def),
    .name = "lamb_update_phase2",
    .args = "weight,g,r1,r2",
    .doc = "out = weight - lr (r1 / r2) g, with r1 limited to the bounds; r1 / r2 is 1 where either is 0",
    .params = phase2_schema,
    .param_size = sizeof(mxci_lamb2_params),
    .infer_shape = infer_phase2_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .inplace_forward = mxci_update_inplace,
    .forward = {[MXC_CPU] = phase2},
};

const mxc_op_def mxci_op_mp_lamb_update_phase2 = {
    .size = sizeof(mxc_op_def),
    .name = "mp_lamb_update_phase2",
    .args = "weight,g,r1,r2",
    .aux = "weight32",
    .doc = "lamb_update_phase2 of weight32, the float32 copy of a 16-bit weight; out = weight32 in weight's dtype",
    .params = phase2_schema,
    .param_size = sizeof(mxci_lamb2_params),
    .infer_shape = infer_phase2_shape,
    .infer_type = infer_mp_phase2_type,
    .dtypes = MXCI_MASTER_DTYPES,
    .inplace_forward = mxci_update_inplace,
    .forward = {[MXC_CPU] = phase2},
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of sgd_update and sgd_mom_update (sgd.c) with f32 copies of 16-bit weights, and of several weights in one call.
 *   mp_sgd_update, mp_sgd_mom_update  the step is made on weight32, an auxiliary state; out is its rounded copy
 *   mp_nag_mom_update  the same of nag_mom_update
 *   multi_sgd_update, ..., multi_mp_sgd_mom_update  num_weights such steps, each with its lr and wd
 *   preloaded_multi_sgd_update, ...  the same with lrs and wds as arrays (num_weights,), the last two arguments
 * Callers pass weight_0, grad_0 and the states of weight_0, then those of weight_1...; in a call the states are apart.
 */
#include "operator/update/update.h"

#define MOMENTUM MXCI_FACTOR(momentum, "0.0", "Momentum: share of the previous step that is repeated.")
#define RATES                                                                             \
    {MXC_PARAM_FIELD(mxci_multi_params, lrs), .name = "lrs", .type = MXC_PARAM_FLOATS,    \
     .doc = "Learning rate of each weight."},                                             \
    {                                                                                     \
        MXC_PARAM_FIELD(mxci_multi_params, wds), .name = "wds", .type = MXC_PARAM_FLOATS, \
                                                 .doc = "Weight decay of each weight."    \
    }
#define COMMON MXCI_RESCALE, MXCI_CLIP, MXCI_NUM_WEIGHTS(mxci_multi_params, num_weights)

static const mxc_param plain_params[] = {MXCI_LR, MXCI_WD, MXCI_RESCALE, MXCI_CLIP, MXCI_LAZY, MXC_PARAM_END};
static const mxc_param momentum_params[] = {MXCI_LR,   MOMENTUM,  MXCI_WD,      MXCI_RESCALE,
                                            MXCI_CLIP, MXCI_LAZY, MXC_PARAM_END};
static const mxc_param multi_plain_params[] = {RATES, COMMON, MXC_PARAM_END};
static const mxc_param multi_momentum_params[] = {RATES, COMMON, MOMENTUM, MXC_PARAM_END};
static const mxc_param preloaded_plain_params[] = {COMMON, MXC_PARAM_END};
static const mxc_param preloaded_momentum_params[] = {COMMON, MOMENTUM, MXC_PARAM_END};

/* ---- counts ------------------------------------------------------------------------------------------------------ */

static mxc_status check_counts(const mxci_multi_params *p, const char *name) {
    if (p->lrs.n == p->num_weights && p->wds.n == p->num_weights)
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "%s: lrs has %d numbers and wds %d, expected num_weights, %lld", name, (int)p->lrs.n,
                    (int)p->wds.n, (long long)p->num_weights);
}

static mxc_status check_multi_sgd(void *params) {
    return check_counts(params, "multi_sgd_update");
}
static mxc_status check_multi_sgd_mom(void *params) {
    return check_counts(params, "multi_sgd_mom_update");
}
static mxc_status check_multi_mp_sgd(void *params) {
    return check_counts(params, "multi_mp_sgd_update");
}
static mxc_status check_multi_mp_sgd_mom(void *params) {
    return check_counts(params, "multi_mp_sgd_mom_update");
}

static int count_weights(const void *params) {
    return (int)((const mxci_multi_params *)params)->num_weights;
}

static int multi_update_count_args(const void *params) {
    return 2 * count_weights(params);
}

static int count_aux_pairs(const void *params) {
    return 2 * count_weights(params);
}

static int preloaded_count_args(const void *params) {
    return 2 * count_weights(params) + 2;
}

static mxc_status infer_multi_shape(mxc_op_sig *sig) {
    return mxci_update_infer_weights(sig, sig->n_aux / sig->n_out);
}

static mxc_status infer_preloaded_shape(mxc_op_sig *sig) {
    const mxc_shape rates = mxci_shape_of(1, (int64_t[]){sig->n_out});
    MXC_TRY(mxc_sig_set_shape(sig, 2 * sig->n_out, &rates));
    MXC_TRY(mxc_sig_set_shape(sig, 2 * sig->n_out + 1, &rates));
    return infer_multi_shape(sig);
}

/* Rates are f32; all else as without them. */
static mxc_status infer_rates_type(mxc_op_sig *sig, mxc_status (*infer_others)(mxc_op_sig *)) {
    mxc_op_sig others = *sig;
    others.n_in = 2 * sig->n_out;
    MXC_TRY(infer_others(&others));
    MXC_TRY(mxc_sig_set_type(sig, 2 * sig->n_out, MXC_F32));
    return mxc_sig_set_type(sig, 2 * sig->n_out + 1, MXC_F32);
}

static mxc_status infer_preloaded_type(mxc_op_sig *sig) {
    return infer_rates_type(sig, mxci_infer_type_same);
}

static mxc_status infer_preloaded_master_type(mxc_op_sig *sig) {
    return infer_rates_type(sig, mxci_update_infer_master_type);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void step(const mxc_op_call *call, const mxci_update_fn *rule, const mxci_update *factors, int i,
                 int has_master) {
    const mxci_update_step s =
        mxci_update_step_of(call, rule, factors, i, call->n_aux / call->n_out - has_master, has_master);
    mxci_update_step_run(call->run, &s);
}

/* Rates come as parameters, or as the two arguments behind all weights and gradients. */
static mxc_status steps(const mxc_op_call *call, const mxci_update_fn *rule, int has_master) {
    const mxci_multi_params *p = call->params;
    const mxc_tensor *rates = call->n_in > 2 * call->n_out ? &call->in[2 * call->n_out] : NULL;
    for (int i = 0; i < call->n_out; i++) {
        mxci_update factors = p->factors;
        factors.lr = rates ? mxci_value_at(&rates[0], i) : p->lrs.value[i];
        factors.wd = rates ? mxci_value_at(&rates[1], i) : p->wds.value[i];
        step(call, rule, &factors, i, has_master);
    }
    return MXC_OK;
}

static mxc_status mp_sgd(const mxc_op_call *call) {
    step(call, mxci_update_sgd, call->params, 0, 1);
    return MXC_OK;
}
static mxc_status mp_sgd_mom(const mxc_op_call *call) {
    step(call, mxci_update_sgd_mom, call->params, 0, 1);
    return MXC_OK;
}
static mxc_status mp_nag_mom(const mxc_op_call *call) {
    step(call, mxci_update_nag_mom, call->params, 0, 1);
    return MXC_OK;
}
static mxc_status multi_sgd(const mxc_op_call *call) {
    return steps(call, mxci_update_sgd, 0);
}
static mxc_status multi_sgd_mom(const mxc_op_call *call) {
    return steps(call, mxci_update_sgd_mom, 0);
}
static mxc_status multi_mp_sgd(const mxc_op_call *call) {
    return steps(call, mxci_update_sgd, 1);
}
static mxc_status multi_mp_sgd_mom(const mxc_op_call *call) {
    return steps(call, mxci_update_sgd_mom, 1);
}

/* ---- the operators ----------------------------------------------------------------------------------------------- */

#define MULTI_DEF                                                                                                     \
    .size = sizeof(mxc_op_def), .param_size = sizeof(mxci_multi_params), .args = "weight,grad", .args_per_output = 2, \
    .n_args = multi_update_count_args, .n_outputs = count_weights, .infer_shape = infer_multi_shape,                  \
    .inplace_forward = mxci_update_inplace_weights

const mxc_op_def mxci_op_mp_sgd_update = {
    .size = sizeof(mxc_op_def),
    .name = "mp_sgd_update",
    .args = "weight,grad",
    .aux = "weight32",
    .doc = "weight32 = (1 - lr wd) weight32 - lr clip(rescale_grad grad); out = weight32 in weight's dtype",
    .params = plain_params,
    .param_size = sizeof(mxci_update),
    .infer_shape = mxci_update_infer_shape,
    .infer_type = mxci_update_infer_master_type,
    .dtypes = MXCI_MASTER_DTYPES,
    .inplace_forward = mxci_update_inplace,
    .forward = {[MXC_CPU] = mp_sgd},
};

const mxc_op_def mxci_op_mp_sgd_mom_update = {
    .size = sizeof(mxc_op_def),
    .name = "mp_sgd_mom_update",
    .args = "weight,grad",
    .aux = "mom,weight32",
    .doc = "mom = momentum mom - lr wd weight32 - lr clip(rescale_grad grad); weight32 = weight32 + mom; "
           "out = weight32 in weight's dtype",
    .params = momentum_params,
    .param_size = sizeof(mxci_update),
    .infer_shape = mxci_update_infer_shape,
    .infer_type = mxci_update_infer_master_type,
    .dtypes = MXCI_MASTER_DTYPES,
    .inplace_forward = mxci_update_inplace,
    .forward = {[MXC_CPU] = mp_sgd_mom},
};

const mxc_op_def mxci_op_mp_nag_mom_update = {
    .size = sizeof(mxc_op_def),
    .name = "mp_nag_mom_update",
    .args = "weight,grad",
    .aux = "mom,weight32",
    .doc = "nag_mom_update of weight32, the float32 copy of a 16-bit weight; out = weight32 in weight's dtype",
    .params = momentum_params,
    .param_size = sizeof(mxci_update),
    .infer_shape = mxci_update_infer_shape,
    .infer_type = mxci_update_infer_master_type,
    .dtypes = MXCI_MASTER_DTYPES,
    .inplace_forward = mxci_update_inplace,
    .forward = {[MXC_CPU] = mp_nag_mom},
};

const mxc_op_def mxci_op_multi_sgd_update = {
    MULTI_DEF,
    .name = "multi_sgd_update",
    .params_check = check_multi_sgd,
    .params = multi_plain_params,
    .dtypes = MXC_DTYPES_FLOAT,
    .doc = "sgd_update of num_weights weights, each with its own entry of lrs and wds",
    .forward = {[MXC_CPU] = multi_sgd},
};

const mxc_op_def mxci_op_multi_sgd_mom_update = {
    MULTI_DEF,
    .name = "multi_sgd_mom_update",
    .params_check = check_multi_sgd_mom,
    .params = multi_momentum_params,
    .dtypes = MXC_DTYPES_FLOAT,
    .aux = "mom",
    .n_aux = count_weights,
    .doc = "sgd_mom_update of num_weights weights, each with its own entry of lrs and wds",
    .forward = {[MXC_CPU] = multi_sgd_mom},
};

const mxc_op_def mxci_op_multi_mp_sgd_update = {
    MULTI_DEF,
    .name = "multi_mp_sgd_update",
    .params_check = check_multi_mp_sgd,
    .params = multi_plain_params,
    .infer_type = mxci_update_infer_master_type,
    .dtypes = MXCI_MASTER_DTYPES,
    .aux = "weight32",
    .n_aux = count_weights,
    .doc = "mp_sgd_update of num_weights weights, each with its own entry of lrs and wds",
    .forward = {[MXC_CPU] = multi_mp_sgd},
};

const mxc_op_def mxci_op_multi_mp_sgd_mom_update = {
    MULTI_DEF,
    .name = "multi_mp_sgd_mom_update",
    .params_check = check_multi_mp_sgd_mom,
    .params = multi_momentum_params,
    .infer_type = mxci_update_infer_master_type,
    .dtypes = MXCI_MASTER_DTYPES,
    .aux = "mom,weight32",
    .n_aux = count_aux_pairs,
    .doc = "mp_sgd_mom_update of num_weights weights, each with its own entry of lrs and wds",
    .forward = {[MXC_CPU] = multi_mp_sgd_mom},
};

/* ---- with rates in arrays ---------------------------------------------------------------------------------------- */

#define PRELOADED_DEF                                                                                   \
    .size = sizeof(mxc_op_def), .param_size = sizeof(mxci_multi_params), .args = "weight,grad,lrs,wds", \
    .args_per_output = 2, .n_args = preloaded_count_args, .n_outputs = count_weights,                   \
    .infer_shape = infer_preloaded_shape, .inplace_forward = mxci_update_inplace_weights

const mxc_op_def mxci_op_preloaded_multi_sgd_update = {
    PRELOADED_DEF,
    .name = "preloaded_multi_sgd_update",
    .params = preloaded_plain_params,
    .infer_type = infer_preloaded_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .doc = "sgd_update of num_weights weights, each with its own element of the arrays lrs and wds (num_weights,)",
    .forward = {[MXC_CPU] = multi_sgd},
};

const mxc_op_def mxci_op_preloaded_multi_sgd_mom_update = {
    PRELOADED_DEF,
    .name = "preloaded_multi_sgd_mom_update",
    .params = preloaded_momentum_params,
    .infer_type = infer_preloaded_type,
    .dtypes = MXC_DTYPES_FLOAT,
    .aux = "mom",
    .n_aux = count_weights,
    .doc = "sgd_mom_update of num_weights weights, each with its own element of the arrays lrs and wds (num_weights,)",
    .forward = {[MXC_CPU] = multi_sgd_mom},
};

const mxc_op_def mxci_op_preloaded_multi_mp_sgd_update = {
    PRELOADED_DEF,
    .name = "preloaded_multi_mp_sgd_update",
    .params = preloaded_plain_params,
    .infer_type = infer_preloaded_master_type,
    .dtypes = MXCI_MASTER_DTYPES,
    .aux = "weight32",
    .n_aux = count_weights,
    .doc = "mp_sgd_update of num_weights weights, each with its own element of the arrays lrs and wds (num_weights,)",
    .forward = {[MXC_CPU] = multi_mp_sgd},
};

const mxc_op_def mxci_op_preloaded_multi_mp_sgd_mom_update = {
    PRELOADED_DEF,
    .name = "preloaded_multi_mp_sgd_mom_update",
    .params = preloaded_momentum_params,
    .infer_type = infer_preloaded_master_type,
    .dtypes = MXCI_MASTER_DTYPES,
    .aux = "mom,weight32",
    .n_aux = count_aux_pairs,
    .doc = "mp_sgd_mom_update of num_weights weights, each with its own element of the arrays lrs and wds "
           "(num_weights,)",
    .forward = {[MXC_CPU] = multi_mp_sgd_mom},
};

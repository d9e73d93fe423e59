/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of sgd_update and sgd_mom_update (sgd.c) with f32 copies of 16-bit weights, and of several weights in one call.
 *   mp_sgd_update, mp_sgd_mom_update  the step is made on weight32, an auxiliary state; out is its rounded copy
 *   multi_sgd_update, ..., multi_mp_sgd_mom_update  num_weights such steps, each with its lr and wd
 * Arguments are weight_0, grad_0, weight_1, ..., then come the states, those of weight_0 first. (MXNet puts a weight's
 * states behind its gradient.)
 */
#include "operator/update/update.h"

#define MOMENTUM MXCI_FACTOR(momentum, "0.0", "Momentum: share of the previous step that is repeated.")
#define MULTI                                                                                                          \
    {MXC_PARAM_FIELD(mxci_multi_params, lrs), .name = "lrs", .type = MXC_PARAM_FLOATS,                                 \
     .doc = "Learning rate of each weight."},                                                                          \
        {MXC_PARAM_FIELD(mxci_multi_params, wds), .name = "wds", .type = MXC_PARAM_FLOATS,                             \
         .doc = "Weight decay of each weight."},                                                                       \
        MXCI_RESCALE, MXCI_CLIP, {                                                                                     \
        MXC_PARAM_FIELD(mxci_multi_params, num_weights), .name = "num_weights", .type = MXC_PARAM_INT, .initial = "1", \
                                                         .bounded = 1, .minimum = 1, .maximum = MXC_TUPLE_MAX,         \
                                                         .doc = "Number of weights."                                   \
    }

static const mxc_param plain_params[] = {MXCI_LR, MXCI_WD, MXCI_RESCALE, MXCI_CLIP, MXCI_LAZY, MXC_PARAM_END};
static const mxc_param momentum_params[] = {MXCI_LR,   MOMENTUM,  MXCI_WD,      MXCI_RESCALE,
                                            MXCI_CLIP, MXCI_LAZY, MXC_PARAM_END};
static const mxc_param multi_plain_params[] = {MULTI, MXC_PARAM_END};
static const mxc_param multi_momentum_params[] = {MULTI, MOMENTUM, MXC_PARAM_END};

/* ---- names and counts -------------------------------------------------------------------------------------------- */

#define MOM(i) "mom_" #i
#define MASTER(i) "weight32_" #i
#define MOM_MASTER(i) "mom_" #i ",weight32_" #i

static mxc_status check_multi(void *params) {
    const mxci_multi_params *p = params;
    if (p->lrs.n == p->num_weights && p->wds.n == p->num_weights)
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "multi_sgd_update: lrs has %d numbers and wds %d, expected num_weights, %lld",
                    (int)p->lrs.n, (int)p->wds.n, (long long)p->num_weights);
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

static mxc_status infer_multi_shape(mxc_op_sig *sig) {
    return mxci_update_infer_weights(sig, sig->n_aux / sig->n_out);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void step(const mxc_op_call *call, const mxci_update_fn *rule, const mxci_update *factors, int i,
                 int has_master) {
    const mxci_update_step s =
        mxci_update_step_of(call, rule, factors, i, call->n_aux / call->n_out - has_master, has_master);
    mxci_update_step_run(call->run, &s);
}

static mxc_status steps(const mxc_op_call *call, const mxci_update_fn *rule, int has_master) {
    const mxci_multi_params *p = call->params;
    for (int i = 0; i < call->n_out; i++) {
        mxci_update factors = p->factors;
        factors.lr = p->lrs.value[i];
        factors.wd = p->wds.value[i];
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

#define MASTER_DTYPES (MXC_DTYPES_FLOAT & ~MXC_DTYPE_BIT(MXC_F64))
#define MULTI_DEF                                                                                     \
    .size = sizeof(mxc_op_def), .param_size = sizeof(mxci_multi_params), .params_check = check_multi, \
    .args = MXCI_WEIGHT_NAMES, .n_args = multi_update_count_args, .n_outputs = count_weights,         \
    .infer_shape = infer_multi_shape, .inplace_forward = mxci_update_inplace_weights

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
    .dtypes = MASTER_DTYPES,
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
    .dtypes = MASTER_DTYPES,
    .inplace_forward = mxci_update_inplace,
    .forward = {[MXC_CPU] = mp_sgd_mom},
};

const mxc_op_def mxci_op_multi_sgd_update = {
    MULTI_DEF,
    .name = "multi_sgd_update",
    .params = multi_plain_params,
    .dtypes = MXC_DTYPES_FLOAT,
    .doc = "sgd_update of num_weights weights, each with its own entry of lrs and wds",
    .forward = {[MXC_CPU] = multi_sgd},
};

const mxc_op_def mxci_op_multi_sgd_mom_update = {
    MULTI_DEF,
    .name = "multi_sgd_mom_update",
    .params = multi_momentum_params,
    .dtypes = MXC_DTYPES_FLOAT,
    .aux = MXCI_EACH_WEIGHT(MOM),
    .n_aux = count_weights,
    .doc = "sgd_mom_update of num_weights weights, each with its own entry of lrs and wds",
    .forward = {[MXC_CPU] = multi_sgd_mom},
};

const mxc_op_def mxci_op_multi_mp_sgd_update = {
    MULTI_DEF,
    .name = "multi_mp_sgd_update",
    .params = multi_plain_params,
    .infer_type = mxci_update_infer_master_type,
    .dtypes = MASTER_DTYPES,
    .aux = MXCI_EACH_WEIGHT(MASTER),
    .n_aux = count_weights,
    .doc = "mp_sgd_update of num_weights weights, each with its own entry of lrs and wds",
    .forward = {[MXC_CPU] = multi_mp_sgd},
};

const mxc_op_def mxci_op_multi_mp_sgd_mom_update = {
    MULTI_DEF,
    .name = "multi_mp_sgd_mom_update",
    .params = multi_momentum_params,
    .infer_type = mxci_update_infer_master_type,
    .dtypes = MASTER_DTYPES,
    .aux = MXCI_EACH_WEIGHT(MOM_MASTER),
    .n_aux = count_aux_pairs,
    .doc = "mp_sgd_mom_update of num_weights weights, each with its own entry of lrs and wds",
    .forward = {[MXC_CPU] = multi_mp_sgd_mom},
};

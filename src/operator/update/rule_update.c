/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _multi_update: steps of any rule of update.def for several weights in one call. Optimizers queue it; the
 * operators named after rules (sgd.c, adam.c...) are those of MXNet.
 *
 * Callers pass weight_0, grad_0 and the states of weight_0, then those of weight_1...; in a call the states are apart.
 * With multi_precision the last state of each weight is its f32 copy, which takes the step; the weight becomes its
 * rounded copy, and the other states are f32 too. With trust_ratio, lars and lbsgd multiply their etas by a trust ratio
 * (update.h), which the call computes from the norms of weight and gradient. With scaled one more array comes last, of
 * one element, f32: it multiplies rescale_grad, and where it is 0 or not finite nothing changes. (It does not change
 * and counts as a state all the same, as that of _adamw_update.)
 *
 * _multi_adamw_update and _multi_mp_adamw_update of MXNet are this operator with rule adamw and scaled.
 */
#include <math.h>

#include "operator/update/update.h"

#define NUMBERS(field, text) \
    { .name = #field, .type = MXC_PARAM_FLOATS, MXC_PARAM_FIELD(mxci_rule_params, field), .doc = text }
#define SWITCH(field, text)                                                                                   \
    {                                                                                                         \
        .name = #field, .type = MXC_PARAM_BOOL, MXC_PARAM_FIELD(mxci_rule_params, field), .initial = "False", \
        .doc = text                                                                                           \
    }

#define LRS NUMBERS(lrs, "Learning rate of each weight.")
#define WDS NUMBERS(wds, "Weight decay of each weight.")

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_rule_params, rule), .name = "rule", .type = MXC_PARAM_ENUM,
     .choices = &
#define RULE(name, states) "," #name
#include "operator/update/update_kernels.def"
#undef RULE
                [1],
     .doc = "Update rule, named as the single-weight update operator."},
    MXCI_NUM_WEIGHTS(mxci_rule_params, num_weights),
    SWITCH(multi_precision, "Weights have float32 master copies, which are updated."),
    SWITCH(scaled, "A factor of the gradients is passed as an array."),
    LRS,
    WDS,
    SWITCH(trust_ratio, "lars, lbsgd: multiply etas by a trust ratio."),
    NUMBERS(etas, "Second rate of each weight, for rules that have one: adamw: factor of the whole step; nadam: of the "
                  "mean of gradients; lars, lbsgd: of the gradient within the momentum."),
    {MXC_PARAM_FIELD(mxci_rule_params, scales), .name = "scales", .type = MXC_PARAM_FLOATS, .initial = "()",
     .doc = "One number of each weight, for rules that have one: nadam: correction of the mean of squared gradients; "
            "lars: coefficient of the trust ratio, 0: none; lbsgd: 1 / number of gradients in a sum."},
    MXCI_RESCALE,
    MXCI_CLIP,
    MXCI_FACTOR(momentum, "0",
                "sgd_mom, nag_mom, signum, dcasgd, lars, lbsgd: share of the previous step or mean that "
                "is kept."),
    MXCI_FACTOR(wd_lh, "0", "signum: weight decay applied outside the sign."),
    MXCI_FACTOR(beta1, "0.9",
                "adam, adamw, adamax, nadam: decay rate of the mean of gradients; lion: share of the mean "
                "in the direction."),
    MXCI_FACTOR(beta2, "0.999",
                "adam, adamw, nadam: decay rate of the mean of squared gradients; adamax: of the norm; "
                "lion: of the mean of gradients."),
    MXCI_FACTOR(epsilon, "1e-8",
                "adam, adamw, nadam, rmsprop, adagrad, adadelta, lars: added to a divisor or under its "
                "square root, for stability."),
    MXCI_FACTOR(gamma1, "0.9", "rmsprop: decay rate of the means."),
    MXCI_FACTOR(gamma2, "0.9", "rmspropalex: momentum, share of the previous step that is kept."),
    MXCI_FACTOR(clip_weights, "-1", "rmsprop: limit of the absolute weights. Negative: none."),
    MXCI_FACTOR(lamda1, "0.01", "ftrl: L1 regularization, which sets small weights to 0."),
    MXCI_FACTOR(beta, "1", "ftrl: added to the denominator of the per-weight learning rate."),
    MXCI_FACTOR(rho, "0.9", "adadelta: decay rate of the means of squared gradients and steps."),
    MXCI_FACTOR(lamda, "0.04", "dcasgd: factor of the compensation for delayed gradients."),
    MXC_PARAM_END,
};

static const mxc_param multi_adamw_params[] = {
    LRS,
    MXCI_FACTOR(beta1, "0.9", "Decay rate of the mean of gradients."),
    MXCI_FACTOR(beta2, "0.999", "Decay rate of the mean of squared gradients."),
    MXCI_FACTOR(epsilon, "1e-8", "Added to the square root, for stability."),
    WDS,
    NUMBERS(etas, "Factor of the whole step of each weight, weight decay included."),
    MXCI_CLIP,
    MXCI_NUM_WEIGHTS(mxci_rule_params, num_weights),
    MXC_PARAM_END,
};

static const struct {
    const char *name;
    const mxci_update_fn *run;
    int states;
} rules[MXCI_RULES] = {
#define RULE(name, states) {#name, mxci_update_##name, states},
#include "operator/update/update_kernels.def"
#undef RULE
};

static mxc_status check_counts(const mxci_rule_params *p, const char *name) {
    if (p->lrs.n == p->num_weights && p->wds.n == p->num_weights && p->etas.n == p->num_weights)
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "%s: lrs has %d numbers, wds %d and etas %d, expected num_weights, %lld", name,
                    (int)p->lrs.n, (int)p->wds.n, (int)p->etas.n, (long long)p->num_weights);
}

static mxc_status rule_update_check(void *params) {
    const mxci_rule_params *p = params;
    if (p->rule == MXCI_RULE_lamb)
        return MXC_FAIL(MXC_EINVAL, "_multi_update: a step of lamb takes two operators");
    if (p->rule == MXCI_RULE_ftml)
        return MXC_FAIL(MXC_EINVAL, "_multi_update: a step of ftml depends on its number; use ftml_update");
    if (p->trust_ratio && p->rule != MXCI_RULE_lars && p->rule != MXCI_RULE_lbsgd)
        return MXC_FAIL(MXC_EINVAL, "_multi_update: trust_ratio is set with rule %s, expected rule lars or lbsgd",
                        rules[p->rule].name);
    if (p->scales.n != 0 && p->scales.n != p->num_weights)
        return MXC_FAIL(MXC_EINVAL, "_multi_update: scales has %d numbers, expected none or num_weights, %lld",
                        (int)p->scales.n, (long long)p->num_weights);
    return check_counts(p, "_multi_update");
}

/* Those of the operators named after adamw: the members that they have no parameters for. */
static mxc_status check_adamw(mxci_rule_params *p, const char *name) {
    p->rule = MXCI_RULE_adamw;
    p->scaled = 1;
    p->factors.rescale_grad = 1;
    return check_counts(p, name);
}

static mxc_status multi_adamw_check(void *params) {
    return check_adamw(params, "_multi_adamw_update");
}

static mxc_status multi_mp_adamw_check(void *params) {
    mxci_rule_params *p = params;
    p->multi_precision = 1;
    return check_adamw(p, "_multi_mp_adamw_update");
}

static int count_weights(const void *params) {
    return (int)((const mxci_rule_params *)params)->num_weights;
}

static int rule_update_count_args(const void *params) {
    return 2 * count_weights(params);
}

/* Auxiliary states of one weight. */
static int states_of(const mxci_rule_params *p) {
    return rules[p->rule].states + p->multi_precision;
}

static int count_aux(const void *params) {
    const mxci_rule_params *p = params;
    return count_weights(p) * states_of(p) + p->scaled;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

static mxc_status rule_update_infer_shape(mxc_op_sig *sig) {
    const mxci_rule_params *p = sig->params;
    MXC_TRY(mxci_update_infer_weights(sig, states_of(p)));
    return p->scaled ? mxci_update_infer_single(sig, MXC_SLOT_AUX(sig->n_aux - 1), "the factor") : MXC_OK;
}

/* Without f32 copies all but the factor have one type. */
static mxc_status rule_update_infer_type(mxc_op_sig *sig) {
    const mxci_rule_params *p = sig->params;
    mxc_op_sig others = *sig;
    others.n_aux -= p->scaled;
    MXC_TRY((p->multi_precision ? mxci_update_infer_master_type : mxci_infer_type_same)(&others));
    return p->scaled ? mxc_sig_set_type(sig, MXC_SLOT_AUX(sig->n_aux - 1), MXC_F32) : MXC_OK;
}

/* ---- trust ratios ------------------------------------------------------------------------------------------------ */

static size_t rule_update_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    int64_t most = 0;
    (void)pass;
    for (int i = 0; ((const mxci_rule_params *)sig->params)->trust_ratio && i < sig->n_out; i++) {
        int64_t blocks = mxci_update_square_blocks(mxc_shape_size(&sig->in_shape[2 * i]));
        most = blocks > most ? blocks : most;
    }
    return mxci_size_of(most, sizeof(double));
}

static double trust_ratio_of(const mxc_op_call *call, const mxci_update_step *s) {
    const mxci_rule_params *p = call->params;
    const mxci_update *f = s->factors;
    const double weight_sq = mxci_update_square_sum(call->run, s->master ? s->master : s->weight, 1, NULL, call->temp);
    double unit = f->scale / p->factors.rescale_grad; /* of lbsgd's sum, to the mean without rescale_grad */
    if (p->rule == MXCI_RULE_lars)
        return mxci_trust_ratio(1, f->scale, f->wd, f->epsilon, weight_sq,
                                mxci_update_square_sum(call->run, s->grad, f->rescale_grad, NULL, call->temp));
    return mxci_trust_ratio(0, 0, f->wd, 0, weight_sq,
                            unit * unit *
                                mxci_update_square_sum(call->run, s->grad, f->rescale_grad, &s->state[1], call->temp));
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static mxc_status rule_update_forward(const mxc_op_call *call) {
    const mxci_rule_params *p = call->params;
    mxci_update factors = p->factors;
    const double scale = p->scaled ? (double)*(const float *)call->aux[call->n_aux - 1].data : 1;
    factors.rescale_grad *= scale;
    for (int i = 0; i < call->n_out; i++) {
        const mxci_update_step s =
            mxci_update_step_of(call, rules[p->rule].run, &factors, i, rules[p->rule].states, p->multi_precision);
        factors.lr = p->lrs.value[i];
        factors.wd = p->wds.value[i];
        factors.eta = p->etas.value[i];
        factors.scale = p->scales.n > 0 ? p->scales.value[i] : 1;
        if (isfinite(scale) && scale != 0) {
            if (p->trust_ratio)
                factors.eta *= trust_ratio_of(call, &s);
            mxci_update_step_run(call->run, &s);
        } else {
            mxci_assign_cast(call->run, s.req, s.out, s.master ? s.master : s.weight); /* no step */
        }
    }
    return MXC_OK;
}

#define RULE_UPDATE_DEF                                                                                              \
    .size = sizeof(mxc_op_def), .param_size = sizeof(mxci_rule_params), .args = "weight,grad", .args_per_output = 2, \
    .n_args = rule_update_count_args, .n_outputs = count_weights, .n_aux = count_aux,                                \
    .infer_shape = rule_update_infer_shape, .infer_type = rule_update_infer_type,                                    \
    .inplace_forward = mxci_update_inplace_weights, .forward = {[MXC_CPU] = rule_update_forward}

const mxc_op_def mxci_op_multi_update = {
    RULE_UPDATE_DEF,
    .name = "_multi_update",
    .flags = MXC_OP_HIDDEN | MXC_OP_ARRAY_ONLY,
    .doc = "One step of an update rule for num_weights weights, each with its own entry of lrs, wds and etas",
    .params = schema,
    .params_check = rule_update_check,
    .dtypes = MXC_DTYPES_FLOAT,
    .temp_bytes = rule_update_temp_bytes,
};

const mxc_op_def mxci_op_multi_adamw_update = {
    RULE_UPDATE_DEF,
    .name = "_multi_adamw_update",
    .doc = "_adamw_update of num_weights weights, each with its own entry of lrs, wds and etas. The states of a weight "
           "are mean and var; behind all weights comes rescale_grad, float32 of one element, as a state",
    .params = multi_adamw_params,
    .params_check = multi_adamw_check,
    .dtypes = MXC_DTYPES_FLOAT,
};

const mxc_op_def mxci_op_multi_mp_adamw_update = {
    RULE_UPDATE_DEF,
    .name = "_multi_mp_adamw_update",
    .doc =
        "_mp_adamw_update of num_weights weights, each with its own entry of lrs, wds and etas. The states of a weight "
        "are mean, var and weight32; behind all weights comes rescale_grad, float32 of one element, as a state",
    .params = multi_adamw_params,
    .params_check = multi_mp_adamw_check,
    .dtypes = MXCI_MASTER_DTYPES,
};

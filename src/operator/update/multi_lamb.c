/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _multi_lamb_update and _multi_mp_lamb_update: both phases of lamb (lamb.c) and the norms between them, for several
 * weights in one call. Callers pass weight_0, grad_0, mean_0, var_0 and the f32 copy of a 16-bit weight, then those of
 * weight_1...; in a call the states are apart.
 */
#include <math.h>

#include "base/size.h"
#include "operator/update/update.h"

#define FIELD(field, type_, text) \
    { MXC_PARAM_FIELD(mxci_multi_lamb_params, field), .name = #field, .type = type_, .doc = text }
#define BOUND(field, text)                                                                                          \
    {                                                                                                               \
        MXC_PARAM_FIELD(mxci_multi_lamb_params, field), .name = #field, .type = MXC_PARAM_FLOAT, .initial = "-1.0", \
                                                        .doc = text                                                 \
    }

static const mxc_param multi_lamb_schema[] = {
    FIELD(learning_rates, MXC_PARAM_FLOATS, "Learning rate of each weight."),
    MXCI_FACTOR(beta1, "0.9", "Decay rate of the mean of gradients."),
    MXCI_FACTOR(beta2, "0.999", "Decay rate of the mean of squared gradients."),
    MXCI_FACTOR(epsilon, "1e-6", "Added to the square root, for stability."),
    FIELD(wds, MXC_PARAM_FLOATS, "Weight decay of each weight: wd times the weight is added to the step."),
    MXCI_RESCALE,
    BOUND(lower_bound, "Lower bound of the norm of a weight. Negative: none."),
    BOUND(upper_bound, "Upper bound of the norm of a weight. Negative: none."),
    MXCI_CLIP,
    {MXC_PARAM_FIELD(mxci_multi_lamb_params, bias_correction), .name = "bias_correction", .type = MXC_PARAM_BOOL,
     .initial = "true", .doc = "Correct the moving means for their initialization with 0."},
    {MXC_PARAM_FIELD(mxci_multi_lamb_params, step_count), .name = "step_count", .type = MXC_PARAM_FLOATS, .bounded = 1,
     .minimum = 1, .maximum = 9e15, .doc = "Number of this update of each weight, counted from 1; whole numbers."},
    MXCI_NUM_WEIGHTS(mxci_multi_lamb_params, num_tensors),
    MXC_PARAM_END,
};

static mxc_status check_counts(const mxci_multi_lamb_params *p, const char *name) {
    for (int i = 0; i < p->step_count.n; i++)
        if (p->step_count.value[i] != floor(p->step_count.value[i]))
            return MXC_FAIL(MXC_EINVAL, "%s: step_count %d is %g, expected a whole number", name, i,
                            p->step_count.value[i]);
    if (p->learning_rates.n == p->num_tensors && p->wds.n == p->num_tensors && p->step_count.n == p->num_tensors)
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL,
                    "%s: learning_rates has %d numbers, wds %d and step_count %d, expected num_tensors, %lld", name,
                    (int)p->learning_rates.n, (int)p->wds.n, (int)p->step_count.n, (long long)p->num_tensors);
}

static mxc_status multi_lamb_check(void *params) {
    return check_counts(params, "_multi_lamb_update");
}

static mxc_status multi_mp_lamb_check(void *params) {
    return check_counts(params, "_multi_mp_lamb_update");
}

static int count_weights(const void *params) {
    return (int)((const mxci_multi_lamb_params *)params)->num_tensors;
}

static int multi_lamb_count_args(const void *params) {
    return 2 * count_weights(params);
}

static int count_aux_pairs(const void *params) {
    return 2 * count_weights(params);
}

static int count_aux_triples(const void *params) {
    return 3 * count_weights(params);
}

static mxc_status infer_multi_lamb_shape(mxc_op_sig *sig) {
    return mxci_update_infer_weights(sig, sig->n_aux / sig->n_out);
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* Scratch: the direction of one weight, in the dtype that the step is computed from, and a sum for each block. */
typedef struct lamb_scratch {
    void *direction;
    double *sums;
} lamb_scratch;

static lamb_scratch take_scratch(mxci_scratch *s, int64_t n) {
    lamb_scratch b;
    b.direction = mxci_scratch_array(s, n, sizeof(double));
    b.sums = mxci_scratch_array(s, mxci_update_square_blocks(n), sizeof(double));
    return b;
}

static size_t multi_lamb_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    size_t most = 0;
    (void)pass;
    for (int i = 0; i < sig->n_out; i++) {
        mxci_scratch measure = {0};
        take_scratch(&measure, mxc_shape_size(&sig->in_shape[2 * i]));
        most = measure.bytes > most ? measure.bytes : most;
    }
    return most;
}

/* Weight i: the direction into scratch, then a step of gradient descent along it. */
static void step_weight(const mxc_op_call *call, int i, int has_master) {
    const mxci_multi_lamb_params *p = call->params;
    const lamb_scratch scratch = take_scratch(&(mxci_scratch){.base = call->temp}, mxci_tensor_size(&call->in[2 * i]));
    mxci_update factors = p->factors, along = {.rescale_grad = 1, .clip_gradient = -1};
    mxci_update_step first = mxci_update_step_of(call, mxci_update_lamb, &factors, i, 2, has_master), second = first;
    const mxc_tensor *weight = has_master ? first.master : first.weight;
    mxc_tensor direction = *weight;
    direction.data = scratch.direction;
    mxci_lamb_correct(&factors, p->bias_correction, p->step_count.value[i]);
    factors.wd = p->wds.value[i];
    first.out = &direction;
    first.req = MXC_REQ_WRITE;
    first.keeps_master = has_master;
    mxci_update_step_run(call->run, &first);
    const double r1 = sqrt(mxci_update_square_sum(call->run, weight, 1, NULL, scratch.sums));
    const double r2 = sqrt(mxci_update_square_sum(call->run, &direction, 1, NULL, scratch.sums));
    along.lr = p->learning_rates.value[i] * mxci_lamb_ratio(r1, r2, p->lower_bound, p->upper_bound);
    second.rule = mxci_update_sgd;
    second.factors = &along;
    second.grad = &direction;
    second.n_states = 0;
    mxci_update_step_run(call->run, &second);
}

static mxc_status multi_lamb(const mxc_op_call *call) {
    for (int i = 0; i < call->n_out; i++)
        step_weight(call, i, call->n_aux > 2 * call->n_out);
    return MXC_OK;
}

/* ---- the operators ----------------------------------------------------------------------------------------------- */

#define MULTI_LAMB_DEF                                                                                        \
    .size = sizeof(mxc_op_def), .params = multi_lamb_schema, .param_size = sizeof(mxci_multi_lamb_params),    \
    .args = "weight,grad", .args_per_output = 2, .n_args = multi_lamb_count_args, .n_outputs = count_weights, \
    .infer_shape = infer_multi_lamb_shape, .temp_bytes = multi_lamb_bytes,                                    \
    .inplace_forward = mxci_update_inplace_weights, .forward = {[MXC_CPU] = multi_lamb}

const mxc_op_def mxci_op_multi_lamb_update = {
    MULTI_LAMB_DEF,
    .name = "_multi_lamb_update",
    .params_check = multi_lamb_check,
    .aux = "mean,var",
    .n_aux = count_aux_pairs,
    .doc =
        "lamb_update_phase1, the norms of weight and direction, and lamb_update_phase2, of num_tensors weights, each "
        "with its own entry of learning_rates, wds and step_count",
    .dtypes = MXC_DTYPES_FLOAT,
};

const mxc_op_def mxci_op_multi_mp_lamb_update = {
    MULTI_LAMB_DEF,
    .name = "_multi_mp_lamb_update",
    .params_check = multi_mp_lamb_check,
    .aux = "mean,var,weight32",
    .n_aux = count_aux_triples,
    .infer_type = mxci_update_infer_master_type,
    .doc = "_multi_lamb_update of weights with float32 copies, which take the steps; each output is its copy in the "
           "weight's dtype",
    .dtypes = MXCI_MASTER_DTYPES,
};

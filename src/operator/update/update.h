/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the optimizer updates share: parameters, inference, and one pass over all arrays. The arguments begin with
 * weight and grad, the auxiliary states are the rule's, the output has weight's shape; usually it is weight's array.
 * In formulas c(g) = rescale_grad g, kept within +-clip_gradient where that is not negative.
 */
#ifndef MXCI_OPERATOR_UPDATE_UPDATE_H
#define MXCI_OPERATOR_UPDATE_UPDATE_H

#include <math.h>

#include "math/assign.h"
#include "math/loop.h"
#include "operator/infer.h"
#include "operator/update/update_kernels.h"

/* A factor of mxci_update as a parameter. */
#define MXCI_FACTOR(field, value, text) \
    { .name = #field, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(mxci_update, field), .initial = value, .doc = text }
#define MXCI_LR MXCI_FACTOR(lr, NULL, "Learning rate.")
#define MXCI_WD MXCI_FACTOR(wd, "0.0", "Weight decay: wd times the weight is added to the gradient.")
#define MXCI_RESCALE MXCI_FACTOR(rescale_grad, "1.0", "Factor of the gradient, applied first.")
#define MXCI_CLIP MXCI_FACTOR(clip_gradient, "-1.0", "Clip the rescaled gradient to [-value, value]. Negative: off.")
/* Of MXNet's operators with a form for gradients in row_sparse storage. */
#define MXCI_LAZY                                                                                                    \
    {                                                                                                                \
        .name = "lazy_update", .type = MXC_PARAM_BOOL, MXC_PARAM_FIELD(mxci_update, lazy_update), .initial = "True", \
        .doc = "Accepted for compatibility with MXNet; has no effect, since gradients are dense."                    \
    }

/* Arguments, outputs and states all alike. */
mxc_status mxci_update_infer_shape(mxc_op_sig *sig);
/* One step: a rule (a table of operator/update/update_kernels.h), its factors, and the arrays, all of one size. */
typedef struct mxci_update_step {
    const mxci_update_fn *rule;
    const mxci_update *factors;
    const mxc_tensor *weight, *grad, *out;
    const mxc_tensor *state; /* n_states of them, at most MXCI_UPDATE_STATES */
    int n_states;
    /* f32, of a weight in f64 f64, as the states: takes the step in weight's place; out is its copy. NULL: none */
    const mxc_tensor *master;
    int keeps_master; /* 1: the master copy does not change, and out is what the rule makes of it, in out's dtype */
    mxc_req req;      /* of out; the states change in any case */
} mxci_update_step;
void mxci_update_step_run(const mxc_run *run, const mxci_update_step *step);
/* The step of weight i of a call on several, of whose arrays per weight the last auxiliary state is the f32 copy where
 * there is one. */
mxci_update_step mxci_update_step_of(const mxc_op_call *call, const mxci_update_fn *rule, const mxci_update *factors,
                                     int i, int n_states, int has_master);
/* Inference for calls on several weights: all arrays of one weight have one shape, n_aux states each; arguments and
 * outputs have one type, states are f32 where they come with f32 copies (f64 for weights in f64). */
mxc_status mxci_update_infer_weights(mxc_op_sig *sig, int n_aux);
mxc_status mxci_update_infer_master_type(mxc_op_sig *sig);
/* Run a rule (a table of operator/update/update_kernels.h) over the call's arrays. */
mxc_status mxci_update_run(const mxc_op_call *call, const mxci_update_fn *rule, const mxci_update *factors);
/* The sum of (factor a + b)^2 in float64; b NULL: 0. blocks: scratch of mxci_update_square_blocks(size of a) numbers.
 * The blocks have a fixed size, so that the number of threads does not change the sum. */
int64_t mxci_update_square_blocks(int64_t n);
double mxci_update_square_sum(const mxc_run *run, const mxc_tensor *a, double factor, const mxc_tensor *b,
                              double *blocks);
/* weight may become out; of calls on several weights: each its own. */
extern const mxc_inplace mxci_update_inplace[], mxci_update_inplace_weights[];
/* Of calls on several weights: their number. */
#define MXCI_NUM_WEIGHTS(params, field)                                                                      \
    {                                                                                                        \
        MXC_PARAM_FIELD(params, field), .name = #field, .type = MXC_PARAM_INT, .initial = "1", .bounded = 1, \
                                        .minimum = 1, .maximum = MXC_FLOATS_MAX, .doc = "Number of weights." \
    }

/* The members that all descriptors of updates have alike. */
#define MXCI_UPDATE_DEF                                                                             \
    .size = sizeof(mxc_op_def), .infer_shape = mxci_update_infer_shape, .dtypes = MXC_DTYPES_FLOAT, \
    .inplace_forward = mxci_update_inplace

/* Dtypes of weights that have f32 copies. */
#define MXCI_MASTER_DTYPES (MXC_DTYPES_FLOAT & ~MXC_DTYPE_BIT(MXC_F64))

/* The slot, if it is known, must hold one element; if not, it gets the shape (1,). */
mxc_status mxci_update_infer_single(mxc_op_sig *sig, int slot, const char *name);

typedef struct mxci_lamb1_params {
    mxci_update factors; /* first: MXCI_FACTOR's offsets hold */
    int64_t t;
    int32_t bias_correction;
} mxci_lamb1_params;

typedef struct mxci_lamb2_params {
    double lr, lower_bound, upper_bound;
} mxci_lamb2_params;

typedef struct mxci_ftml_params {
    mxci_update factors; /* first: MXCI_FACTOR's offsets hold */
    int64_t t;
} mxci_ftml_params;

/* Of _multi_lamb_update and _multi_mp_lamb_update. */
typedef struct mxci_multi_lamb_params {
    mxci_update factors; /* first: MXCI_FACTOR's offsets hold */
    mxc_floats learning_rates, wds, step_count;
    double lower_bound, upper_bound;
    int64_t num_tensors;
    int32_t bias_correction;
} mxci_multi_lamb_params;

typedef struct mxci_lars_params {
    double eta, eps, rescale_grad;
} mxci_lars_params;

/* A gradient rescaled and clipped: c(g). Compiled for the CPU and for GPUs; the rules have it for vectors. */
MXCI_SCALAR double mxci_update_gradient(const mxci_update *u, double g) {
    g *= u->rescale_grad;
    if (u->clip_gradient < 0)
        return g;
    return g < -u->clip_gradient ? -u->clip_gradient : g > u->clip_gradient ? u->clip_gradient : g;
}
/* The factors of lamb's first phase in update number t, with the correction of the moments' bias. */
static inline void mxci_lamb_correct(mxci_update *factors, int bias_correction, double t) {
    factors->mean_scale = bias_correction ? 1 / (1 - pow(factors->beta1, t)) : 1;
    factors->var_scale = bias_correction ? 1 / (1 - pow(factors->beta2, t)) : 1;
}
/* The factors of update number t of ftml. */
static inline mxci_update mxci_ftml_factors(const mxci_ftml_params *p) {
    mxci_update factors = p->factors;
    factors.mean_scale = (1 - pow(factors.beta1, (double)p->t)) / factors.lr;
    factors.var_scale = 1 / (1 - pow(factors.beta2, (double)p->t));
    return factors;
}
/* What multiplies the learning rate in lamb's second phase: r1, the weight's norm, within bounds that are not negative,
 * over r2, the norm of the direction; 1 where either is 0. */
MXCI_SCALAR double mxci_lamb_ratio(double r1, double r2, double lower_bound, double upper_bound) {
    r1 = lower_bound >= 0 && r1 < lower_bound ? lower_bound : r1;
    r1 = upper_bound >= 0 && r1 > upper_bound ? upper_bound : r1;
    return r1 == 0 || r2 == 0 ? 1 : r1 / r2;
}
/* The learning rate that LARS makes of lr: sums of squares of weight and gradient; 64 bits. */
MXCI_SCALAR double mxci_lars_rate(const mxci_lars_params *p, double lr, double weight_sq, double grad_sq, double wd) {
    const double weight = sqrt(weight_sq), grad = sqrt(grad_sq);
    return weight > 0 && grad > 0 ? lr * p->eta * weight / (p->rescale_grad * grad + wd * weight + p->eps) : lr;
}

/* Of multi_sgd_update and those like it; those with rates in arrays (preloaded) have no lrs and wds. */
typedef struct mxci_multi_params {
    mxci_update factors; /* first: MXCI_FACTOR's offsets hold */
    mxc_floats lrs, wds;
    int64_t num_weights;
} mxci_multi_params;

/* Of _multi_update. */
typedef struct mxci_rule_params {
    mxci_update factors; /* first: MXCI_FACTOR's offsets hold */
    mxc_floats lrs, wds, etas, scales;
    int64_t num_weights;
    int32_t rule; /* mxci_rule */
    int32_t multi_precision, scaled, trust_ratio;
} mxci_rule_params;

extern const mxc_op_def mxci_op_multi_update;

typedef enum mxci_rule {
#define RULE(name, states) MXCI_RULE_##name,
#include "operator/update/update_kernels.def"
#undef RULE
    MXCI_RULES
} mxci_rule;

/* The trust ratio of lars and lbsgd, from the sums of squares of the weight and of the gradient g that a step of lars
 * would take before clipping, or of the mean of lbsgd's gradients without rescale_grad:
 *   lars   scale |w| / (|g| + wd |w| + epsilon); 1 where a norm or scale is 0
 *   lbsgd  |w| / sqrt(|g|^2 + wd |w|^2), between 0.01 and 100 (MXNet's)
 * (You et al., "Large Batch Training of Convolutional Networks", 2017.) Compiled for the CPU and for GPUs. */
MXCI_SCALAR double mxci_trust_ratio(int is_lars, double scale, double wd, double epsilon, double weight_sq,
                                    double grad_sq) {
    double ratio;
    if (is_lars)
        return scale == 0 || weight_sq == 0 || grad_sq == 0
                   ? 1
                   : scale * sqrt(weight_sq) / (sqrt(grad_sq) + wd * sqrt(weight_sq) + epsilon);
    ratio = sqrt(weight_sq / (grad_sq + wd * weight_sq + 1e-18));
    return ratio < 0.01 ? 0.01 : ratio > 100 ? 100 : ratio;
}

typedef struct mxci_clip_norm_params {
    double max_norm;
} mxci_clip_norm_params;

#endif

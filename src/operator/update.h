/*
 * What the optimizer updates share: parameters, inference, and one pass over all arrays. The arguments begin with
 * weight and grad, the auxiliary states are the rule's, the output has weight's shape; usually it is weight's array.
 * In formulas c(g) = rescale_grad g, kept within +-clip_gradient where that is not negative.
 */
#ifndef MXCI_OPERATOR_UPDATE_H
#define MXCI_OPERATOR_UPDATE_H

#include "operator/common.h"
#include "operator/kernels/update.h"

/* A factor of mxci_update as a parameter. */
#define MXCI_FACTOR(field, value, text)                                                                      \
    {.name = #field, .type = MXC_PARAM_FLOAT, MXC_PARAM_FIELD(mxci_update, field), .initial = value, .doc = text}
#define MXCI_LR MXCI_FACTOR(lr, NULL, "learning rate")
#define MXCI_WD MXCI_FACTOR(wd, "0.0", "weight decay: adds wd * weight to the gradient")
#define MXCI_RESCALE MXCI_FACTOR(rescale_grad, "1.0", "factor of the gradient, applied first")
#define MXCI_CLIP MXCI_FACTOR(clip_gradient, "-1.0", "limit of the rescaled gradient's size; negative: none")

/* Arguments, outputs and states all alike. */
mxc_status mxci_update_infer_shape(mxc_op_sig *sig);
/* One step: a rule (a table of kernels/update.h), its factors, and the arrays, all of one size. */
typedef struct mxci_update_step {
    const mxci_update_fn *rule;
    const mxci_update *factors;
    const mxc_tensor *weight, *grad, *out;
    const mxc_tensor *state; /* n_states of them, at most MXCI_UPDATE_STATES */
    int n_states;
    const mxc_tensor *master; /* f32: takes the step in weight's place, with states f32; out is its copy. NULL: none */
    mxc_req req;              /* of out; the states change in any case */
} mxci_update_step;
void mxci_update_step_run(const mxc_run *run, const mxci_update_step *step);
/* Run a rule (a table of kernels/update.h) over the call's arrays. */
mxc_status mxci_update_run(const mxc_op_call *call, const mxci_update_fn *rule, const mxci_update *factors);
/* weight may become out. */
extern const mxc_inplace mxci_update_inplace[];

/* The members that all descriptors of updates have alike. */
#define MXCI_UPDATE_DEF                                                                            \
    .size = sizeof(mxc_op_def), .infer_shape = mxci_update_infer_shape, .dtypes = MXC_DTYPES_FLOAT, \
    .inplace_forward = mxci_update_inplace

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

typedef struct mxci_multi_params {
    mxci_update factors; /* first: MXCI_FACTOR's offsets hold */
    mxc_floats lrs, wds;
    int64_t num_weights;
} mxci_multi_params;

typedef struct mxci_clip_norm_params {
    double max_norm;
} mxci_clip_norm_params;

#endif

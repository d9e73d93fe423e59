/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Update rules that are made of operators on the arrays of one weight: those that need norms or products of matrices,
 * random numbers, or an operator of their own. All arithmetic happens on the weight's device; nothing waits.
 */
#include "optimizer/array_updates.h"

#include <math.h>
#include <stddef.h>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "optimizer/optimizer.h"

typedef mxci_optimizer_settings settings;

/* ---- calling operators ------------------------------------------------------------------------------------------- */

enum { MOST_TEMPS = 40, MOST_NUMBERS = 10 };

/* Intermediate results of an update. After a failure further calls do nothing, so that a rule checks once, at its
 * end. */
typedef struct update_run {
    mxc_status status;
    int n;
    mxc_ndarray *temps[MOST_TEMPS];
} update_run;

/* A parameter of an operator. */
typedef struct number {
    const char *key;
    double value;
} number;

#define NUMBERS(...)   \
    (const number[]) { \
        __VA_ARGS__, { \
            NULL, 0    \
        }              \
    }
#define ARRAYS(...)     \
    (mxc_ndarray *[]) { \
        __VA_ARGS__     \
    }

static mxc_status update_run_end(update_run *r) {
    for (int i = 0; i < r->n; i++)
        mxc_ndarray_release(r->temps[i]);
    return r->status;
}

static mxc_ndarray *keep(update_run *r, mxc_ndarray *made) {
    MXCI_ASSERT(r->n < MOST_TEMPS);
    if (r->status == MXC_OK)
        return r->temps[r->n++] = made;
    mxc_ndarray_release(made);
    return NULL;
}

/* Queues an operator into `to`, or into a new array where that is NULL, and returns it; NULL after a failure. */
static mxc_ndarray *apply(update_run *r, const char *op, const number *numbers, int n_in, mxc_ndarray *const *in,
                          mxc_ndarray *to) {
    const char *keys[MOST_NUMBERS], *values[MOST_NUMBERS];
    char text[MOST_NUMBERS][32];
    mxc_ndarray *out = to;
    int n = 0;
    if (r->status != MXC_OK)
        return NULL;
    for (; numbers && numbers[n].key; n++) {
        mxci_format(text[n], sizeof text[n], "%.17g", numbers[n].value);
        keys[n] = numbers[n].key;
        values[n] = text[n];
    }
    r->status = to ? mxc_invoke_into(op, n_in, in, n, keys, values, 1, &out)
                   : mxc_invoke(op, n_in, in, n, keys, values, 1, &out);
    return to ? to : keep(r, out);
}

static mxc_ndarray *unary(update_run *r, const char *op, mxc_ndarray *x) {
    return apply(r, op, NULL, 1, &x, NULL);
}

static mxc_ndarray *binary(update_run *r, const char *op, mxc_ndarray *a, mxc_ndarray *b) {
    return apply(r, op, NULL, 2, ARRAYS(a, b), NULL);
}

static mxc_ndarray *with_scalar(update_run *r, const char *op, mxc_ndarray *x, double scalar) {
    return apply(r, op, NUMBERS({"scalar", scalar}), 1, &x, NULL);
}

/* a = factor a + b */
static void decay_and_add(update_run *r, mxc_ndarray *a, double factor, mxc_ndarray *b) {
    apply(r, "_mul_scalar", NUMBERS({"scalar", factor}), 1, &a, a);
    apply(r, "elemwise_add", NULL, 2, ARRAYS(a, b), a);
}

/* A running mean: a = share a + (1 - share) b */
static void update_mean(update_run *r, mxc_ndarray *a, double share, mxc_ndarray *b) {
    decay_and_add(r, a, share, with_scalar(r, "_mul_scalar", b, 1 - share));
}

static mxc_ndarray *reshape(update_run *r, mxc_ndarray *x, int ndim, const int64_t *dims) {
    mxc_ndarray *view = NULL;
    if (r->status != MXC_OK)
        return NULL;
    r->status = mxc_ndarray_reshape(x, ndim, dims, &view);
    return keep(r, view);
}

/* x itself where it has that dtype, else a copy. */
static mxc_ndarray *in_dtype(update_run *r, mxc_ndarray *x, mxc_dtype dtype) {
    mxc_ndarray *copy = NULL;
    if (r->status != MXC_OK || mxc_ndarray_dtype(x) == dtype)
        return r->status == MXC_OK ? x : NULL;
    r->status = mxc_ndarray_copy(x, mxc_ndarray_context(x), dtype, &copy);
    return keep(r, copy);
}

/* The dtype that products and means are computed in: float32 for 16-bit weights. */
static mxc_dtype compute_dtype(mxc_ndarray *weight) {
    return mxc_ndarray_dtype(weight) == MXC_F64 ? MXC_F64 : MXC_F32;
}

/* The rescaled and clipped gradient, in a new array of the compute dtype. */
static mxc_ndarray *clipped_gradient(update_run *r, const mxc_optimizer_call *call) {
    mxc_ndarray *grad = in_dtype(r, call->grad, compute_dtype(call->weight));
    grad = with_scalar(r, "_mul_scalar", grad, call->rescale_grad);
    if (call->clip_gradient < 0)
        return grad;
    return apply(r, "clip", NUMBERS({"a_min", -call->clip_gradient}, {"a_max", call->clip_gradient}), 1, &grad, NULL);
}

/* ---- rules that have operators ----------------------------------------------------------------------------------- */

mxc_status mxci_array_update_ftml(const mxc_optimizer_call *call) {
    const settings *set = call->params;
    update_run r = {.status = MXC_OK};
    apply(&r, "ftml_update",
          NUMBERS({"lr", call->lr}, {"beta1", set->beta1}, {"beta2", set->beta2}, {"epsilon", set->epsilon},
                  {"t", (double)call->t}, {"wd", call->wd}, {"rescale_grad", call->rescale_grad},
                  {"clip_grad", call->clip_gradient}),
          5, ARRAYS(call->weight, call->grad, call->states[0], call->states[1], call->states[2]), call->weight);
    return update_run_end(&r);
}

mxc_status mxci_array_update_lamb(const mxc_optimizer_call *call) {
    const settings *set = call->params;
    update_run r = {.status = MXC_OK};
    mxc_ndarray *weight = call->weight;
    mxc_ndarray *direction =
        apply(&r, "lamb_update_phase1",
              NUMBERS({"beta1", set->beta1}, {"beta2", set->beta2}, {"epsilon", set->epsilon}, {"t", (double)call->t},
                      {"bias_correction", set->bias_correction}, {"wd", call->wd}, {"rescale_grad", call->rescale_grad},
                      {"clip_gradient", call->clip_gradient}),
              4, ARRAYS(weight, call->grad, call->states[0], call->states[1]), NULL);
    apply(&r, "lamb_update_phase2",
          NUMBERS({"lr", call->lr}, {"lower_bound", isnan(set->lower_bound) ? -1 : set->lower_bound},
                  {"upper_bound", isnan(set->upper_bound) ? -1 : set->upper_bound}),
          4, ARRAYS(weight, direction, unary(&r, "norm", weight), unary(&r, "norm", direction)), weight);
    return update_run_end(&r);
}

/* The history has one element for each row. */
mxc_status mxci_array_init_groupadagrad(const mxc_optimizer_call *call, int i, mxc_ndarray **out) {
    const mxc_shape *shape = mxc_ndarray_shape(call->weight);
    char text[MXC_SHAPE_TEXT];
    (void)i;
    if (shape->ndim != 2)
        return MXC_FAIL(MXC_ESHAPE, "groupadagrad: weight %s has shape %s, expected 2 axes", call->key,
                        mxc_shape_format(shape, text, sizeof text));
    return mxci_optimizer_create_zeros(call->weight, 2, (int64_t[]){shape->dim[0], 1}, mxc_ndarray_dtype(call->weight),
                                       out);
}

mxc_status mxci_array_update_groupadagrad(const mxc_optimizer_call *call) {
    const settings *set = call->params;
    update_run r = {.status = MXC_OK};
    apply(&r, "_contrib_group_adagrad_update",
          NUMBERS({"lr", call->lr}, {"rescale_grad", call->rescale_grad}, {"clip_gradient", call->clip_gradient},
                  {"epsilon", set->epsilon}),
          3, ARRAYS(call->weight, call->grad, call->states[0]), call->weight);
    return update_run_end(&r);
}

/* Half a step of sgd, and noise of the variance lr. */
mxc_status mxci_array_update_sgld(const mxc_optimizer_call *call) {
    const mxc_shape *shape = mxc_ndarray_shape(call->weight);
    update_run r = {.status = MXC_OK};
    mxc_ndarray *noise = NULL;
    apply(&r, "sgd_update",
          NUMBERS({"lr", call->lr / 2}, {"wd", call->wd}, {"rescale_grad", call->rescale_grad},
                  {"clip_gradient", call->clip_gradient}),
          2, ARRAYS(call->weight, call->grad), call->weight);
    if (r.status == MXC_OK)
        r.status = mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(call->weight),
                                      mxc_ndarray_context(call->weight), &noise);
    noise = keep(&r, noise);
    if (r.status == MXC_OK)
        r.status = mxc_ndarray_fill_normal(noise, 0, sqrt(call->lr));
    apply(&r, "elemwise_add", NULL, 2, ARRAYS(call->weight, noise), call->weight);
    return update_run_end(&r);
}

/* ---- adafactor --------------------------------------------------------------------------------------------------- */

enum { ROW, COLUMN, VAR };

/* A weight of several axes as a matrix (R,C). Returns 0 for vectors. */
static int matrix_of(mxc_ndarray *weight, int64_t dims[2]) {
    const mxc_shape *shape = mxc_ndarray_shape(weight);
    dims[0] = shape->ndim > 0 ? shape->dim[0] : 1;
    dims[1] = dims[0] > 0 ? mxc_ndarray_size(weight) / dims[0] : 0;
    return shape->ndim > 1;
}

/* row (R) and column (C) of matrices, var of vectors. */
mxc_status mxci_array_init_adafactor(const mxc_optimizer_call *call, int i, mxc_ndarray **out) {
    const mxc_shape *shape = mxc_ndarray_shape(call->weight);
    int64_t dims[2];
    if (matrix_of(call->weight, dims))
        return i == VAR ? MXC_OK
                        : mxci_optimizer_create_zeros(call->weight, 1, &dims[i], compute_dtype(call->weight), out);
    return i == VAR
               ? mxci_optimizer_create_zeros(call->weight, shape->ndim, shape->dim, compute_dtype(call->weight), out)
               : MXC_OK;
}

static mxc_ndarray *mean_over(update_run *r, mxc_ndarray *x, int axis) {
    return apply(r, "mean", NUMBERS({"axis", axis}), 1, &x, NULL);
}

/* Root mean square of all elements, (1,). */
static mxc_ndarray *root_mean_square(update_run *r, mxc_ndarray *x) {
    return unary(r, "sqrt", unary(r, "mean", unary(r, "square", x)));
}

/* The running means of squared gradients, and from them the root of the variance of each element: of a matrix it is
 * estimated as row column / mean(row). */
static mxc_ndarray *adafactor_deviation(update_run *r, const mxc_optimizer_call *call, int is_matrix,
                                        const int64_t dims[2], mxc_ndarray *grad) {
    const settings *set = call->params;
    const double share = 1 - pow((double)call->t, set->decay_rate);
    mxc_ndarray *square = with_scalar(r, "_plus_scalar", unary(r, "square", grad), set->epsilon);
    if (!is_matrix) {
        update_mean(r, call->states[VAR], share, square);
        return unary(r, "sqrt", call->states[VAR]);
    }
    update_mean(r, call->states[ROW], share, mean_over(r, square, 1));
    update_mean(r, call->states[COLUMN], share, mean_over(r, square, 0));
    mxc_ndarray *row = binary(r, "broadcast_div", call->states[ROW], unary(r, "mean", call->states[ROW]));
    row = reshape(r, unary(r, "sqrt", row), 2, (int64_t[]){dims[0], 1});
    mxc_ndarray *column = reshape(r, unary(r, "sqrt", call->states[COLUMN]), 2, (int64_t[]){1, dims[1]});
    return binary(r, "broadcast_mul", row, column);
}

mxc_status mxci_array_update_adafactor(const mxc_optimizer_call *call) {
    const settings *set = call->params;
    const double limit = 1 / sqrt((double)call->t), lr = set->relative_step && call->lr > limit ? limit : call->lr;
    const mxc_shape *shape = mxc_ndarray_shape(call->weight);
    update_run r = {.status = MXC_OK};
    int64_t dims[2];
    const int is_matrix = matrix_of(call->weight, dims);
    mxc_ndarray *weight = in_dtype(&r, call->weight, compute_dtype(call->weight)), *grad = clipped_gradient(&r, call);
    if (is_matrix)
        grad = reshape(&r, grad, 2, dims);
    mxc_ndarray *step = binary(&r, "elemwise_div", grad, adafactor_deviation(&r, call, is_matrix, dims, grad));
    mxc_ndarray *size = with_scalar(&r, "_mul_scalar", root_mean_square(&r, step), 1 / set->clip_threshold);
    size = with_scalar(&r, "_maximum_scalar", size, 1);
    step = reshape(&r, step, 1, (int64_t[]){dims[0] * dims[1]});
    step = reshape(&r, binary(&r, "broadcast_div", step, size), shape->ndim, shape->dim);
    if (call->wd != 0)
        step = binary(&r, "elemwise_add", step, with_scalar(&r, "_mul_scalar", weight, call->wd));
    if (set->scale_parameter) {
        mxc_ndarray *scale = with_scalar(&r, "_maximum_scalar", root_mean_square(&r, weight), set->epsilon2);
        step = reshape(&r, step, 1, (int64_t[]){dims[0] * dims[1]});
        step = reshape(&r, binary(&r, "broadcast_mul", step, scale), shape->ndim, shape->dim);
    }
    apply(&r, "sgd_update", NUMBERS({"lr", lr}), 2,
          ARRAYS(call->weight, in_dtype(&r, step, mxc_ndarray_dtype(call->weight))), call->weight);
    return update_run_end(&r);
}

/* ---- muon -------------------------------------------------------------------------------------------------------- */

int mxci_array_is_matrix(mxc_ndarray *weight) {
    return mxc_ndarray_shape(weight)->ndim == 2;
}

/* Matrices have a mean only, in the compute dtype; other weights have the states of adamw. */
mxc_status mxci_array_init_muon(const mxc_optimizer_call *call, int i, mxc_ndarray **out) {
    const mxc_shape *shape = mxc_ndarray_shape(call->weight);
    const int is_matrix = mxci_array_is_matrix(call->weight);
    if (is_matrix && i > 0)
        return MXC_OK;
    return mxci_optimizer_create_zeros(call->weight, shape->ndim, shape->dim,
                                       is_matrix ? compute_dtype(call->weight) : mxc_ndarray_dtype(call->weight), out);
}

/* An approximation of the orthogonal factor U V' of x = U S V': iterations of the odd polynomial a s + b s^3 + c s^5 on
 * the singular values, with Jordan's coefficients, which bring them near 1 quickly. The smaller of x x' and x' x is
 * used. */
static mxc_ndarray *orthogonalised(update_run *r, mxc_ndarray *x, int64_t steps) {
    const double a = 3.4445, b = -4.7750, c = 2.0315;
    const mxc_shape *shape = mxc_ndarray_shape(x);
    const int is_tall = shape->dim[0] > shape->dim[1];
    mxc_ndarray *norm = with_scalar(r, "_plus_scalar", unary(r, "norm", x), 1e-7);
    norm = reshape(r, norm, 2, (int64_t[]){1, 1});
    x = binary(r, "broadcast_div", x, norm);
    for (int64_t i = 0; i < steps && r->status == MXC_OK; i++) {
        const int last = r->n - 1; /* temps[last] is x */
        mxc_ndarray *square =
            apply(r, "_linalg_gemm2", NUMBERS({is_tall ? "transpose_a" : "transpose_b", 1}), 2, ARRAYS(x, x), NULL);
        mxc_ndarray *sum =
            apply(r, "_linalg_gemm", NUMBERS({"alpha", c}, {"beta", b}), 3, ARRAYS(square, square, square), NULL);
        x = apply(r, "_linalg_gemm", NUMBERS({"alpha", 1}, {"beta", a}), 3,
                  ARRAYS(is_tall ? x : sum, is_tall ? sum : x, x), NULL);
        if (r->status == MXC_OK) { /* from here on only the new x is needed; it takes the place of the one before */
            for (int k = last; k < r->n - 1; k++)
                mxc_ndarray_release(r->temps[k]);
            r->temps[last] = x;
            r->n = last + 1;
        }
    }
    return x;
}

mxc_status mxci_array_update_muon(const mxc_optimizer_call *call) {
    const settings *set = call->params;
    const mxc_shape *shape = mxc_ndarray_shape(call->weight);
    const int64_t largest = shape->dim[0] > shape->dim[1] ? shape->dim[0] : shape->dim[1];
    const double scale = 0.2 * sqrt((double)largest); /* gives steps the root mean square that those of Adam have */
    update_run r = {.status = MXC_OK};
    mxc_ndarray *grad = clipped_gradient(&r, call), *mean = call->states[0], *step = mean;
    decay_and_add(&r, mean, set->momentum, grad);
    if (set->nesterov)
        step = binary(&r, "elemwise_add", grad, with_scalar(&r, "_mul_scalar", mean, set->momentum));
    if (r.status == MXC_OK)
        step = in_dtype(&r, orthogonalised(&r, step, set->ns_steps), mxc_ndarray_dtype(call->weight));
    apply(&r, "sgd_update", NUMBERS({"lr", call->lr * scale}, {"wd", call->wd / scale}), 2, ARRAYS(call->weight, step),
          call->weight);
    return update_run_end(&r);
}

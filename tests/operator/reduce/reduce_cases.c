/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of sum, mean, prod, nansum, nanprod, max, min, _square_sum and norm. */
#include <math.h>

#include "operator/cases.h"

/* ---- axes -------------------------------------------------------------------------------------------------------- */

/* reduced[i] = 1 for each axis that axis= and exclude= name; all where axis is not given or (). */
static void mark_axes(const op_run *r, int *reduced) {
    int ndim = r->in_shape[0].ndim, exclude = case_is(r, "exclude", "True");
    mxc_tuple axis = case_tuple(r, "axis");
    for (int i = 0; i < ndim; i++)
        reduced[i] = axis.n == 0 || exclude;
    for (int i = 0; i < axis.n; i++)
        reduced[axis.value[i] < 0 ? axis.value[i] + ndim : axis.value[i]] = !exclude;
}

/* The output element that data's element i belongs to. */
static int64_t place_of(const mxc_shape *data, const int *reduced, int64_t i) {
    int64_t place = 0, size = 1;
    for (int axis = data->ndim - 1; axis >= 0; axis--) {
        int64_t index = i % data->dim[axis];
        i /= data->dim[axis];
        if (!reduced[axis]) {
            place += index * size;
            size *= data->dim[axis];
        }
    }
    return place;
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

static void reduce(const op_run *r, double initial, double (*step)(double, double)) {
    int reduced[MXC_MAX_NDIM];
    mark_axes(r, reduced);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = initial;
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        double *out = &r->out[0][place_of(&r->in_shape[0], reduced, i)];
        *out = step(*out, r->in[0][i]);
    }
}

static double add(double a, double x) {
    return a + x;
}

static double add_square(double a, double x) {
    return a + x * x;
}

static double add_absolute(double a, double x) {
    return a + fabs(x);
}

static double multiply(double a, double x) {
    return a * x;
}

static double add_known(double a, double x) {
    return isnan(x) ? a : a + x;
}

static double multiply_known(double a, double x) {
    return isnan(x) ? a : a * x;
}

/* NaN stays. */
static double greater(double a, double x) {
    return isnan(a) || a > x ? a : x;
}

static double less(double a, double x) {
    return isnan(a) || a < x ? a : x;
}

static void ref_sum(const op_run *r) {
    reduce(r, 0, add);
}

static void ref_prod(const op_run *r) {
    reduce(r, 1, multiply);
}

static void ref_nansum(const op_run *r) {
    reduce(r, 0, add_known);
}

static void ref_nanprod(const op_run *r) {
    reduce(r, 1, multiply_known);
}

static void ref_max(const op_run *r) {
    reduce(r, -INFINITY, greater);
}

static void ref_min(const op_run *r) {
    reduce(r, INFINITY, less);
}

static void ref_mean(const op_run *r) {
    int64_t n = case_size(&r->out_shape[0]);
    reduce(r, 0, add);
    for (int64_t i = 0; i < n; i++)
        r->out[0][i] /= (double)case_size(&r->in_shape[0]) / (double)n;
}

static void ref_square_sum(const op_run *r) {
    reduce(r, 0, add_square);
}

static void ref_norm_1(const op_run *r) {
    reduce(r, 0, add_absolute);
}

static void ref_norm(const op_run *r) {
    reduce(r, 0, add_square);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = sqrt(r->out[0][i]);
}

/* Each element equal to the maximum or minimum gets the gradient, ties all of it. */
static void grad_select(const op_run *r) {
    int reduced[MXC_MAX_NDIM];
    mark_axes(r, reduced);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        int64_t place = place_of(&r->in_shape[0], reduced, i);
        r->in_grad[0][i] = r->in[0][i] == r->out[0][place] ? r->out_grad[0][place] : 0;
    }
}

/* ---- the cases --------------------------------------------------------------------------------------------------- */

/* Every choice of axes; sizes that end within a vector, cross a tile, or have one element. */
#define REDUCTION(name, ref, range)                                                                                   \
    {.op = name, .in = "7@" range "; 1; s; 2x3x2x1x2; 16; 5x9@" range "n; 5x9@" range "f", .reference = ref},         \
        {.op = name, .in = "1x1x1@" range, .reference = ref}, {.op = name, .in = "3x5@" range, .reference = ref},     \
        {.op = name, .params = "axis=()", .in = "2x3x4@" range, .reference = ref},                                    \
        {.op = name,                                                                                                  \
         .params = "axis=0; axis=1",                                                                                  \
         .in = "3x5@" range "; 17x1; 1x17; 3x2x2x1; 9x11@" range "nf",                                                \
         .reference = ref},                                                                                           \
        {.op = name, .params = "axis=1", .in = "3x5@" range, .reference = ref},                                       \
        {.op = name, .params = "axis=-1", .in = "2x3x4@" range, .reference = ref},                                    \
        {.op = name, .params = "axis=(0,2)", .in = "2x3x4@" range, .reference = ref},                                 \
        {.op = name, .params = "axis=(-1,0)", .in = "2x3x4@" range, .reference = ref},                                \
        {.op = name, .params = "axis=(1,3)", .in = "2x3x1x4x2@" range, .reference = ref},                             \
        {.op = name,                                                                                                  \
         .params = "axis=(0,2,4,6)",                                                                                  \
         .in = "2x1x3x2x1x2x1x2@" range "; 1x2x1x2x1x2x3x1",                                                          \
         .reference = ref},                                                                                           \
        {.op = name, .params = "axis=1 keepdims=True", .in = "2x3x4@" range, .reference = ref},                       \
        {.op = name, .params = "keepdims=True", .in = "2x3@" range, .reference = ref},                                \
        {.op = name, .params = "axis=1 exclude=True", .in = "2x3x4@" range, .reference = ref},                        \
        {.op = name, .params = "axis=(0,-1) exclude=True keepdims=True", .in = "2x3x4x2@" range, .reference = ref},   \
        {.op = name, .params = "axis=(0,1) exclude=True", .in = "2x3@" range, .reference = ref},                      \
        {.op = name, .params = "axis=0", .in = "2x0@" range, .reference = ref},                                       \
        INFERS(name, "", "2x? -> ? => 2x? -> 1"), INFERS(name, "axis=1", "2x?x4 -> ? => 2x?x4 -> 2x4"),               \
        INFERS(name, "axis=1", "2x3x? -> ?x4 => 2x3x4 -> 2x4"),                                                       \
        INFERS(name, "axis=0 keepdims=True", "2x? -> ?x7 => 2x7 -> 1x7"), INFERS(name, "axis=0", "? -> 7 => ? -> 7"), \
        FAILS(name, "axis=2", "2x3", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),                                         \
        FAILS(name, "axis=(1,-1)", "2x3", MXC_ESHAPE, "axis 1 is named twice"),                                       \
        FAILS(name, "axis=x", "2x3", MXC_EINVAL, "axis")

static const op_case cases[] = {
    REDUCTION("sum", ref_sum, "-2:2.3"),
    REDUCTION("mean", ref_mean, "-2:2.3"),
    REDUCTION("prod", ref_prod, "0.5:1.5"),
    REDUCTION("nansum", ref_nansum, "-2:2.3"),
    REDUCTION("nanprod", ref_nanprod, "0.5:1.5"),
    REDUCTION("max", ref_max, "-2:2.3"),
    REDUCTION("min", ref_min, "-2:2.3"),
    REDUCTION("norm", ref_norm, "0.5:2.3"),
    REDUCTION("_square_sum", ref_square_sum, "-2:2.3"),

    /* more than a tile, a vector, a thread's share; the kept axis inside, outside, and between */
    {.op = "sum", .in = "40001", .reference = ref_sum},
    {.op = "sum", .params = "axis=0", .in = "301x70", .reference = ref_sum},
    {.op = "sum", .params = "axis=0", .in = "3x1100", .reference = ref_sum},
    {.op = "sum", .params = "axis=1", .in = "70x1301", .reference = ref_sum},
    {.op = "sum", .params = "axis=(0,2)", .in = "11x5x813", .reference = ref_sum},
    {.op = "norm", .in = "7@1e19:2e19; 7@1e-20:2e-20", .reference = ref_norm, .flags = CASE_FLOAT_ONLY},
    {.op = "mean", .in = "3x65; 65x3; 1031; 2x129x2", .params = "axis=0; axis=-1; ", .reference = ref_mean},
    {.op = "nansum", .in = "3x65; 65x3; 1031; 2x129x2", .params = "axis=0; axis=-1; ", .reference = ref_nansum},
    {.op = "prod",
     .in = "3x65@0.9:1.1; 65x3; 1031; 2x129x2",
     .params = "axis=0; axis=-1; ",
     .reference = ref_prod,
     .flags = CASE_FLOAT_ONLY,
     .tolerance = 4},
    {.op = "nanprod",
     .in = "3x65@0.9:1.1; 65x3; 1031; 2x129x2",
     .params = "axis=0; axis=-1; ",
     .reference = ref_nanprod,
     .flags = CASE_FLOAT_ONLY,
     .tolerance = 4},
    {.op = "mean", .params = "axis=(0,2,3)", .in = "5x3x17x19", .reference = ref_mean},
    {.op = "max", .in = "40001@-100:100", .reference = ref_max, .gradient = grad_select},
    {.op = "max", .params = "axis=1", .in = "70x1301@-100:100", .reference = ref_max, .gradient = grad_select},
    {.op = "min", .params = "axis=0", .in = "301x70@-100:100", .reference = ref_min, .gradient = grad_select},
    {.op = "norm", .in = "20011", .reference = ref_norm},
    {.op = "norm",
     .params = "ord=1; ord=1 axis=1; ord=1 axis=(0,2) keepdims=True",
     .in = "3x5x4@-2:2.3; 65x3x7; 1x1x1",
     .reference = ref_norm_1},
    {.op = "norm", .params = "ord=1", .in = "20011@-2:2.3; 5x9@-1:1n; 0x3; s", .reference = ref_norm_1},
    {.op = "norm", .params = "ord=2 out_dtype=None axis=0", .in = "3x5", .reference = ref_norm},
    FAILS("norm", "ord=3", "3x5", MXC_EINVAL, "ord"),
    FAILS("norm", "out_dtype=int32", "3x5", MXC_EUNSUPPORTED, "norm: out_dtype int32 of data of float32"),

    /* nothing to reduce; ties; a norm of zero */
    {.op = "sum", .params = "axis=0", .in = "0x3", .reference = ref_sum},
    {.op = "sum", .in = "0x3", .reference = ref_sum},
    {.op = "prod", .params = "axis=1", .in = "3x0", .reference = ref_prod},
    {.op = "norm", .params = "axis=1", .in = "3x0", .reference = ref_norm},
    {.op = "max", .params = "axis=0", .in = "0x3", .reference = ref_max, .flags = CASE_FLOAT_ONLY},
    {.op = "min", .params = "axis=0", .in = "0x3", .reference = ref_min, .flags = CASE_FLOAT_ONLY},
    {.op = "max", .params = "axis=1", .in = "4x9@0:2i", .reference = ref_max, .gradient = grad_select},
    {.op = "min", .params = "axis=0", .in = "9x4@0:2i", .reference = ref_min, .gradient = grad_select},
    {.op = "norm", .params = "axis=1", .in = "2x3@0:0", .reference = ref_norm, .gradient = case_zero_gradient},
    {.op = "sum", .in = "s", .reference = ref_sum},
    {.op = "sum_axis", .params = "axis=1", .in = "2x3", .reference = ref_sum},
    {.op = "max_axis", .params = "axis=1", .in = "2x3", .reference = ref_max},
    {.op = "min_axis", .params = "axis=1", .in = "2x3", .reference = ref_min},
};

MXC_CASES(reduce_reduce_cases, cases);

/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the functions of two numbers: of two arrays of one shape, and of an array and a scalar. */
#include <math.h>

#include "operator/cases.h"

static void map(const op_run *r, double (*f)(double, double)) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = f(r->in[0][i], r->in[1][i]);
}

/* out[i] = f(data[i], scalar), or f(scalar, data[i]). */
static void map_scalar(const op_run *r, double (*f)(double, double), int before) {
    double s = case_number(r, "scalar", 1);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = before ? f(s, r->in[0][i]) : f(r->in[0][i], s);
}

#define FUNCTION(name, expression)                     \
    static double f_##name(double a, double b) {       \
        return expression;                             \
    }                                                  \
    static void ref_##name(const op_run *r) {          \
        map(r, f_##name);                              \
    }                                                  \
    static void ref_##name##_scalar(const op_run *r) { \
        map_scalar(r, f_##name, 0);                    \
    }
#include "operator/elementwise/binary_functions.def"

#define REVERSED(name)                                  \
    static void ref_r##name##_scalar(const op_run *r) { \
        map_scalar(r, f_##name, 1);                     \
    }

REVERSED(mod)
REVERSED(sub)
REVERSED(div)
REVERSED(power)

static void ref_zero(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = 0;
}

static void ref_smooth_l1(const op_run *r) {
    double sigma = case_number(r, "scalar", 1), edge = 1 / (sigma * sigma);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double x = r->in[0][i];
        r->out[0][i] = fabs(x) < edge ? 0.5 * pow(sigma * x, 2) : fabs(x) - 0.5 * edge;
    }
}

/* Backward only is multiplied. */
static void grad_multiplier(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->in_grad[0][i] = r->out_grad[0][i] * case_number(r, "scalar", 1);
}

/* Values of two ranges, some of them not finite in the last sets. */
#define PAIRS(shape, a, b) shape "@" a " " shape "@" b CASE_EACH(CASE_TWO) "; 9x11@" a "nf 9x11@" b "nf"
#define ELEMWISE(name, ref, a, b)                                                                                      \
    {.op = name, .in = PAIRS("3x5", a, b), .reference = ref}, {.op = name, .infer = "2x?,?x3 -> ? => 2x3,2x3 -> 2x3"}, \
    {                                                                                                                  \
        .op = name, .in = "2x3 2x4", .status = MXC_ESHAPE,                                                             \
        .error = "argument 'rhs': expected shape (2,3), found (2,4)"                                                   \
    }
#define COMPARE(name, ref)                                                                              \
    {.op = name, .in = "3x5 3x5@-1:1.1", .reference = ref}, {                                           \
        .op = name, .in = PAIRS("20", "0:2i", "0:2i"), .reference = ref, .gradient = case_zero_gradient \
    }
#define SCALAR(name, ref, scalar, range)                                                     \
    {.op = name,                                                                             \
     .params = "scalar=" scalar,                                                             \
     .in = "3x5@" range CASE_EACH(CASE_ONE) "; 5x9@" range "nf",                             \
     .reference = ref},                                                                      \
        {.op = name, .params = "scalar=" scalar, .infer = "? -> 2x3 => 2x3 -> 2x3"}, {       \
        .op = name, .params = "scalar=x", .in = "2", .status = MXC_EINVAL, .error = "scalar" \
    }
#define COMPARE_SCALAR(name, ref)                                                                       \
    {                                                                                                   \
        .op = name, .params = "scalar=1; scalar=0", .in = "20@0:2i" CASE_EACH(CASE_ONE) "; 5x9@0:2inf", \
        .reference = ref, .gradient = case_zero_gradient                                                \
    }

static const op_case cases[] = {
    ELEMWISE("elemwise_add", ref_add, "-2:2.3", "-2:2.3"),
    ELEMWISE("_grad_add", ref_add, "-2:2.3", "-2:2.3"),
    ELEMWISE("_sub", ref_sub, "-2:2.3", "-2:2.3"),
    ELEMWISE("_mul", ref_mul, "-2:2.3", "-2:2.3"),
    ELEMWISE("_maximum", ref_maximum, "-2:2.3", "-1.5:1.7"),
    ELEMWISE("_minimum", ref_minimum, "-2:2.3", "-1.5:1.7"),
    ELEMWISE("_power", ref_power, "0.5:2", "-0.5:1"),
    {.op = "_power", .in = PAIRS("3x5", "0.5:2", "-2:2.3"), .reference = ref_power, .flags = CASE_FLOAT_ONLY},
    ELEMWISE("_hypot", ref_hypot, "0.5:2", "-2:2.3"),
    {.op = "_div", .in = PAIRS("3x5", "0.5:5", "0.5:2"), .reference = ref_div},
    {.op = "_div", .in = "3x5@0.5:5 3x5@0:0", .reference = ref_div, .flags = CASE_FLOAT_ONLY | CASE_NO_GRADIENT},
    {.op = "elemwise_add", .in = "150x301 150x301", .reference = ref_add},
    {.op = "_mul", .in = "150x301@-2:2 150x301@-2:2.3", .reference = ref_mul},
    {.op = "_power", .in = "9x9@-3:3i 9x9@0:3i; 9x9@0:0 9x9@0:3i", .reference = ref_power, .flags = CASE_NO_GRADIENT},
    {.op = "_power_scalar", .params = "scalar=-2", .in = "99@0:0", .reference = ref_zero, .flags = CASE_INT_ONLY},
    {.op = "_hypot",
     .in = "9x9@-1e19:1e19 9x9@-1e19:1e19",
     .reference = ref_hypot,
     .flags = CASE_FLOAT_ONLY | CASE_NO_GRADIENT},
    COMPARE("_equal", ref_equal),
    COMPARE("_not_equal", ref_not_equal),
    COMPARE("_greater", ref_greater),
    COMPARE("_greater_equal", ref_greater_equal),
    COMPARE("_lesser", ref_lesser),
    COMPARE("_lesser_equal", ref_lesser_equal),
    ELEMWISE("_mod", ref_mod, "5:5.5", "2:2.4"),
    ELEMWISE("_mod", ref_mod, "5:5.5", "-2.4:-2"),
    {.op = "_mod", .in = "40@-9:9 40@-3:3", .reference = ref_mod, .flags = CASE_F64_ONLY | CASE_NO_GRADIENT},
    {.op = "_mod", .in = "40@-9:9i 40@-3:3i", .reference = ref_mod, .flags = CASE_INT_ONLY | CASE_NO_GRADIENT},
    COMPARE("_logical_and", ref_logical_and),
    COMPARE("_logical_or", ref_logical_or),
    COMPARE("_logical_xor", ref_logical_xor),

    SCALAR("_plus_scalar", ref_add_scalar, "3", "-2:2.3"),
    SCALAR("_minus_scalar", ref_sub_scalar, "3", "-2:2.3"),
    SCALAR("_rminus_scalar", ref_rsub_scalar, "3", "-2:2.3"),
    SCALAR("_mul_scalar", ref_mul_scalar, "-2", "-2:2.3"),
    SCALAR("_div_scalar", ref_div_scalar, "4", "-2:2.3"),
    SCALAR("_rdiv_scalar", ref_rdiv_scalar, "4", "0.5:2"),
    SCALAR("_maximum_scalar", ref_maximum_scalar, "1", "-2:1.7"),
    SCALAR("_minimum_scalar", ref_minimum_scalar, "1", "-2:1.7"),
    SCALAR("_power_scalar", ref_power_scalar, "2", "-2:2.3"),
    SCALAR("_rpower_scalar", ref_rpower_scalar, "2", "-2:2.3"),
    {.op = "_power_scalar",
     .params = "scalar=2.5",
     .in = "3x5@0.5:2",
     .reference = ref_power_scalar,
     .flags = CASE_FLOAT_ONLY},
    {.op = "_rpower_scalar",
     .params = "scalar=2.5",
     .in = "3x5@-2:2.3",
     .reference = ref_rpower_scalar,
     .flags = CASE_FLOAT_ONLY},
    {.op = "_power_scalar",
     .params = "scalar=-1; scalar=-2; scalar=0",
     .in = "3x5@1:4i; 9@1:9i; 3x5@1:1",
     .reference = ref_power_scalar,
     .flags = CASE_INT_ONLY},
    {.op = "_power_scalar",
     .params = "scalar=5",
     .in = "3x5@-2:2i",
     .reference = ref_power_scalar,
     .flags = CASE_INT_ONLY},
    {.op = "_rpower_scalar",
     .params = "scalar=-1; scalar=3",
     .in = "9@-3:3i; 20@-3:3i",
     .reference = ref_rpower_scalar,
     .flags = CASE_INT_ONLY},
    SCALAR("_hypot_scalar", ref_hypot_scalar, "1.5", "-2:2.3"),
    {.op = "_plus_scalar", .params = "scalar=0.25", .in = "2x3", .reference = ref_add_scalar, .flags = CASE_FLOAT_ONLY},
    COMPARE_SCALAR("_equal_scalar", ref_equal_scalar),
    COMPARE_SCALAR("_not_equal_scalar", ref_not_equal_scalar),
    COMPARE_SCALAR("_greater_scalar", ref_greater_scalar),
    COMPARE_SCALAR("_greater_equal_scalar", ref_greater_equal_scalar),
    COMPARE_SCALAR("_lesser_scalar", ref_lesser_scalar),
    COMPARE_SCALAR("_lesser_equal_scalar", ref_lesser_equal_scalar),
    SCALAR("_mod_scalar", ref_mod_scalar, "2", "4.2:5.8"),
    SCALAR("_mod_scalar", ref_mod_scalar, "-3", "-5.7:-3.3"),
    SCALAR("_rmod_scalar", ref_rmod_scalar, "7", "2.5:3.3"),
    COMPARE_SCALAR("_logical_and_scalar", ref_logical_and_scalar),
    COMPARE_SCALAR("_logical_or_scalar", ref_logical_or_scalar),
    COMPARE_SCALAR("_logical_xor_scalar", ref_logical_xor_scalar),
    {.op = "_logical_or_scalar",
     .params = "scalar=0",
     .in = "20@0:2i",
     .reference = ref_logical_or_scalar,
     .gradient = case_zero_gradient},
    {.op = "_contrib_gradientmultiplier",
     .params = "scalar=-0.5",
     .in = "3x5@-2:2.3" CASE_EACH(CASE_ONE) "; 5x9@-2:2nf",
     .reference = case_copy,
     .gradient = grad_multiplier},
    {.op = "_scatter_elemwise_div", .in = "3x5@0.5:5 3x5@0.5:2", .reference = ref_div},
    {.op = "_scatter_plus_scalar", .params = "scalar=3", .in = "3x5", .reference = ref_add_scalar},
    {.op = "_scatter_minus_scalar", .params = "scalar=3", .in = "3x5", .reference = ref_sub_scalar},
    {.op = "smooth_l1",
     .params = "scalar=1",
     .in = "40@-3:3.3" CASE_EACH(CASE_ONE) "; 5x9@-3:3.3nf",
     .reference = ref_smooth_l1},
    {.op = "smooth_l1", .params = "scalar=2.5", .in = "8x9@-1:1.3", .reference = ref_smooth_l1},
    {.op = "smooth_l1", .in = "2x3", .reference = ref_smooth_l1},
    {.op = "_plus_scalar", .params = "; is_int=True; scalar=2", .in = "3x5@-9:9i", .reference = ref_add_scalar},
    {.op = "_div_scalar", .in = "3x5@-9:9i", .reference = ref_div_scalar},
    {.op = "_mul_scalar",
     .params = "is_int=False scalar=2.7",
     .in = "3x5",
     .flags = CASE_FLOAT_ONLY,
     .reference = ref_mul_scalar},
    {.op = "_plus_scalar", .params = "is_int=2", .in = "2", .status = MXC_EINVAL, .error = "is_int"},
};

MXC_CASES(elementwise_binary_cases, cases);

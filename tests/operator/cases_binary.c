/* Cases of functions of two numbers: arrays of one shape, an array and a scalar, stretched arrays. */
#include <math.h>

#include "operator/cases.h"

static void map(const op_run *r, double (*f)(double, double)) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = f(r->in[0][i], r->in[1][i]);
}

/* out[i] = f(data[i], scalar), or f(scalar, data[i]). */
static void map_scalar(const op_run *r, double (*f)(double, double), int before) {
    double s = case_number(r, "scalar", NAN);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = before ? f(s, r->in[0][i]) : f(r->in[0][i], s);
}

/* The element of a stretched array that out's element i reads. */
static int64_t stretched(const mxc_shape *in, const mxc_shape *out, int64_t i) {
    int64_t at = 0, size = 1;
    for (int k = 1; k <= out->ndim; k++) {
        int64_t dim = out->dim[out->ndim - k], index = i % dim;
        i /= dim;
        if (k <= in->ndim) {
            at += in->dim[in->ndim - k] == 1 ? 0 : index * size;
            size *= in->dim[in->ndim - k];
        }
    }
    return at;
}

static void map_stretched(const op_run *r, double (*f)(double, double)) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = f(r->in[0][stretched(&r->in_shape[0], &r->out_shape[0], i)],
                         r->in[1][stretched(&r->in_shape[1], &r->out_shape[0], i)]);
}

#define FUNCTION(name, expression)                      \
    static double f_##name(double a, double b) {        \
        return expression;                              \
    }                                                   \
    static void ref_##name(const op_run *r) {           \
        map(r, f_##name);                               \
    }                                                   \
    static void ref_##name##_scalar(const op_run *r) {  \
        map_scalar(r, f_##name, 0);                     \
    }                                                   \
    static void ref_broadcast_##name(const op_run *r) { \
        map_stretched(r, f_##name);                     \
    }
#define REVERSED(name)                                  \
    static void ref_r##name##_scalar(const op_run *r) { \
        map_scalar(r, f_##name, 1);                     \
    }

FUNCTION(add, a + b)
FUNCTION(sub, a - b)
FUNCTION(mul, a *b)
FUNCTION(div, a / b)
FUNCTION(power, pow(a, b))
FUNCTION(maximum, isnan(a) || a > b ? a : b)
FUNCTION(minimum, isnan(a) || a < b ? a : b)
FUNCTION(hypot, hypot(a, b))
FUNCTION(equal, a == b)
FUNCTION(not_equal, a != b)
FUNCTION(greater, a > b)
FUNCTION(greater_equal, a >= b)
FUNCTION(lesser, a < b)
FUNCTION(lesser_equal, a <= b)
FUNCTION(mod, b == 0 ? 0 : fmod(a, b) != 0 && (fmod(a, b) < 0) != (b < 0) ? fmod(a, b) + b : fmod(a, b))
FUNCTION(logical_and, a &&b)
FUNCTION(logical_or, a || b)
FUNCTION(logical_xor, !a != !b)
REVERSED(mod)
REVERSED(sub)
REVERSED(div)
REVERSED(power)

static void ref_smooth_l1(const op_run *r) {
    double sigma = case_number(r, "scalar", 1), edge = 1 / (sigma * sigma);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double x = r->in[0][i];
        r->out[0][i] = fabs(x) < edge ? 0.5 * pow(sigma * x, 2) : fabs(x) - 0.5 * edge;
    }
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
#define SCALAR(name, ref, scalar, range)                                               \
    {.op = name,                                                                       \
     .params = "scalar=" scalar,                                                       \
     .in = "3x5@" range CASE_EACH(CASE_ONE) "; 5x9@" range "nf",                       \
     .reference = ref},                                                                \
        {.op = name, .params = "scalar=" scalar, .infer = "? -> 2x3 => 2x3 -> 2x3"}, { \
        .op = name, .in = "2", .status = MXC_EINVAL, .error = "scalar"                 \
    }
#define COMPARE_SCALAR(name, ref)                                                                       \
    {                                                                                                   \
        .op = name, .params = "scalar=1; scalar=0", .in = "20@0:2i" CASE_EACH(CASE_ONE) "; 5x9@0:2inf", \
        .reference = ref, .gradient = case_zero_gradient                                                \
    }
/* Stretched at either side and at both, along outer, middle and inner axes, and where the array has fewer axes. */
#define STRETCHED(a, b)                                                                                    \
    "2x3@" a " 2x3@" b "; 0x3 1x3; s s; s 3x4; 4x5 s; 1x1 1x1; 1x129 3x1; 7x1 1; 1x5x1x2 3x1x4x1; 3x0 1; " \
    "3x0x1 1x0x4; 1x3 5x3; 2x3x2 3x1; 1x2x1x1 2x1x1x2; 17x1x1 1x1x17; 1 9; 65x3 3; 2x3x4 1x3x1; 1 1x1x1; " \
    "1x1x1x1x1x1x1x3 2x1x1x2x1x1x1x1; 5x1@" a "nf 1x7@" b "nf"
#define BROADCAST(name, ref, a, b, wide)                                                  \
    {.op = name, .in = STRETCHED(a, b), .reference = ref},                                \
        {.op = name, .in = "2x1x4@" a " 1x3x1@" b, .reference = ref},                     \
        {.op = name, .in = "2x3x4@" a " 1x3x1@" b, .reference = ref},                     \
        {.op = name, .in = "5x3@" a " 3@" b, .reference = ref},                           \
        {.op = name, .in = "1@" a " 2x1x3@" b, .reference = ref},                         \
        {.op = name,                                                                      \
         .in = "3x1@" a " 3x700@" b "; 1x700 3x1; 2x1x2x1x2x1x2 1x3x1x2x1x3x1",           \
         .reference = ref,                                                                \
         .flags = wide},                                                                  \
        {.op = name, .infer = "2x1,2x3 -> ? => 2x1,2x3 -> 2x3"}, {                        \
        .op = name, .in = "2x3 2x4", .status = MXC_ESHAPE, .error = "expected equal or 1" \
    }
#define BROADCAST_COMPARE(name, ref)                                                             \
    {                                                                                            \
        .op = name, .in = "2x1x4@0:2i 1x3x1@0:2i; " STRETCHED("0:2i", "0:2i"), .reference = ref, \
        .gradient = case_zero_gradient                                                           \
    }

static const op_case cases[] = {
    ELEMWISE("elemwise_add", ref_add, "-2:2.3", "-2:2.3"),
    ELEMWISE("_grad_add", ref_add, "-2:2.3", "-2:2.3"),
    ELEMWISE("_sub", ref_sub, "-2:2.3", "-2:2.3"),
    ELEMWISE("_mul", ref_mul, "-2:2.3", "-2:2.3"),
    ELEMWISE("_maximum", ref_maximum, "-2:2.3", "-1.5:1.7"),
    ELEMWISE("_minimum", ref_minimum, "-2:2.3", "-1.5:1.7"),
    ELEMWISE("_power", ref_power, "0.5:2", "-2:2.3"),
    ELEMWISE("_hypot", ref_hypot, "0.5:2", "-2:2.3"),
    {.op = "_div", .in = PAIRS("3x5", "0.5:5", "0.5:2"), .reference = ref_div},
    {.op = "_div", .in = "3x5@0.5:5 3x5@0:0", .reference = ref_div, .flags = CASE_FLOAT_ONLY | CASE_NO_GRADIENT},
    {.op = "elemwise_add", .in = "150x301 150x301", .reference = ref_add},
    {.op = "_mul", .in = "150x301@-2:2 150x301@-2:2.3", .reference = ref_mul},
    {.op = "_power", .in = "9x9@-3:3i 9x9@0:3i; 9x9@0:0 9x9@0:3i", .reference = ref_power, .flags = CASE_NO_GRADIENT},
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
    SCALAR("_power_scalar", ref_power_scalar, "2.5", "0.5:2"),
    SCALAR("_rpower_scalar", ref_rpower_scalar, "2.5", "-2:2.3"),
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
    {.op = "smooth_l1",
     .params = "scalar=1",
     .in = "40@-3:3.3" CASE_EACH(CASE_ONE) "; 5x9@-3:3.3nf",
     .reference = ref_smooth_l1},
    {.op = "smooth_l1", .params = "scalar=2.5", .in = "8x9@-1:1.3", .reference = ref_smooth_l1},
    {.op = "smooth_l1", .in = "2", .status = MXC_EINVAL, .error = "parameter \"scalar\" is missing"},

    BROADCAST("broadcast_add", ref_broadcast_add, "-2:2.3", "-2:2.3", 0),
    BROADCAST("broadcast_sub", ref_broadcast_sub, "-2:2.3", "-2:2.3", 0),
    BROADCAST("broadcast_mul", ref_broadcast_mul, "-2:2.3", "-2:2.3", 0),
    BROADCAST("broadcast_div", ref_broadcast_div, "-2:2.3", "0.5:2", 0),
    BROADCAST("broadcast_power", ref_broadcast_power, "0.5:2", "-2:2.3", 0),
    BROADCAST("broadcast_maximum", ref_broadcast_maximum, "-2:2.3", "-1.5:1.7", CASE_OUT_EXACT),
    BROADCAST("broadcast_minimum", ref_broadcast_minimum, "-2:2.3", "-1.5:1.7", CASE_OUT_EXACT),
    BROADCAST("broadcast_hypot", ref_broadcast_hypot, "0.5:2", "-2:2.3", 0),
    BROADCAST("broadcast_mod", ref_broadcast_mod, "5:5.5", "2:2.4", 0),
    {.op = "broadcast_mul", .in = "12x1x50 1x20x50", .reference = ref_broadcast_mul},
    BROADCAST_COMPARE("broadcast_equal", ref_broadcast_equal),
    BROADCAST_COMPARE("broadcast_not_equal", ref_broadcast_not_equal),
    BROADCAST_COMPARE("broadcast_greater", ref_broadcast_greater),
    BROADCAST_COMPARE("broadcast_greater_equal", ref_broadcast_greater_equal),
    BROADCAST_COMPARE("broadcast_lesser", ref_broadcast_lesser),
    BROADCAST_COMPARE("broadcast_lesser_equal", ref_broadcast_lesser_equal),
    BROADCAST_COMPARE("broadcast_logical_and", ref_broadcast_logical_and),
    BROADCAST_COMPARE("broadcast_logical_or", ref_broadcast_logical_or),
    BROADCAST_COMPARE("broadcast_logical_xor", ref_broadcast_logical_xor),
};

MXC_CASES(binary_cases, cases);

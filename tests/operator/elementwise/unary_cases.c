/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the element-wise functions of one array. */
#include <math.h>

#include "operator/elementwise/elementwise_reference.h"

static void map(const op_run *r, double (*f)(double)) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = f(r->in[0][i]);
}

#define FUNCTION(name, expression)      \
    static double f_##name(double x) {  \
        return expression;              \
    }                                   \
    static void name(const op_run *r) { \
        map(r, f_##name);               \
    }

FUNCTION(ref_relu, x < 0 ? 0 : x)
FUNCTION(ref_sigmoid, 1 / (1 + exp(-x)))
FUNCTION(ref_negative, -x)
FUNCTION(ref_abs, fabs(x))
FUNCTION(ref_sign, x == 0 || isnan(x) ? x : x > 0 ? 1 : -1)
FUNCTION(ref_round, round(x))
FUNCTION(ref_rint, rint(x))
FUNCTION(ref_ceil, ceil(x))
FUNCTION(ref_floor, floor(x))
FUNCTION(ref_fix, trunc(x))
FUNCTION(ref_square, x *x)
FUNCTION(ref_sqrt, sqrt(x))
FUNCTION(ref_rsqrt, 1 / sqrt(x))
FUNCTION(ref_exp, exp(x))
FUNCTION(ref_log, log(x))
FUNCTION(ref_log10, log10(x))
FUNCTION(ref_log2, log2(x))
FUNCTION(ref_log1p, log1p(x))
FUNCTION(ref_expm1, expm1(x))
FUNCTION(ref_sin, sin(x))
FUNCTION(ref_cos, cos(x))
FUNCTION(ref_tan, tan(x))
FUNCTION(ref_arcsin, asin(x))
FUNCTION(ref_arccos, acos(x))
FUNCTION(ref_arctan, atan(x))
FUNCTION(ref_degrees, x * 180 / acos(-1))
FUNCTION(ref_radians, x *acos(-1) / 180)
FUNCTION(ref_sinh, sinh(x))
FUNCTION(ref_cosh, cosh(x))
FUNCTION(ref_tanh, tanh(x))
FUNCTION(ref_arcsinh, asinh(x))
FUNCTION(ref_arccosh, acosh(x))
FUNCTION(ref_arctanh, atanh(x))
FUNCTION(ref_gamma, tgamma(x))
FUNCTION(ref_gammaln, lgamma(x))
FUNCTION(ref_reciprocal, 1 / x)
FUNCTION(ref_softsign, x / (1 + fabs(x)))
FUNCTION(ref_logical_not, x == 0)
FUNCTION(ref_cbrt, cbrt(x))
FUNCTION(ref_rcbrt, 1 / cbrt(x))
FUNCTION(ref_erf, erf(x))
FUNCTION(ref_gelu, 0.5 * x * (1 + erf(x / sqrt(2))))
FUNCTION(ref_gelu_tanh, 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x))))
FUNCTION(ref_silu, x / (1 + exp(-x)))
FUNCTION(ref_mish, x *tanh(log1p(exp(x))))
FUNCTION(ref_log_sigmoid, x < 0 ? x - log1p(exp(x)) : -log1p(exp(-x)))

/* By digamma(x) = digamma(x + 1) - 1/x up to where few terms of the asymptotic series do. */
static double f_ref_digamma(double x) {
    double sum = 0, y;
    if (x <= 0 && x == floor(x))
        return NAN;
    for (; x < 30; x++)
        sum -= 1 / x;
    y = 1 / (x * x);
    return sum + log(x) - 0.5 / x - y / 12 + y * y / 120 - y * y * y / 252;
}

static void ref_digamma(const op_run *r) {
    map(r, f_ref_digamma);
}

/* By halving the interval in which erf is below and above x. */
static double f_ref_erfinv(double x) {
    double low = -6, high = 6;
    if (!(fabs(x) < 1))
        return fabs(x) == 1 ? x * INFINITY : NAN;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (erf(middle) < x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void ref_erfinv(const op_run *r) {
    map(r, f_ref_erfinv);
}

/* The straight-through estimators. */
static void grad_pass(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->in_grad[0][i] = r->out_grad[0][i];
}

static const op_case cases[] = {
    SHAPES("relu", ref_relu, "-2:2.3"),
    SHAPES("sigmoid", ref_sigmoid, "-6:6.3"),
    SHAPES("negative", ref_negative, "-2:2.3"),
    SHAPES("abs", ref_abs, "-2:2.3"),
    SHAPES("square", ref_square, "-2:2.3"),
    SHAPES("sqrt", ref_sqrt, "0.5:3"),
    SHAPES("rsqrt", ref_rsqrt, "0.5:3"),
    SHAPES("exp", ref_exp, "-4:4.3"),
    SHAPES("log", ref_log, "0.5:9"),
    SHAPES("log10", ref_log10, "0.5:9"),
    SHAPES("log2", ref_log2, "0.5:9"),
    SHAPES("log1p", ref_log1p, "-0.5:9"),
    SHAPES("expm1", ref_expm1, "-3:3.3"),
    SHAPES("sin", ref_sin, "-4:4.3"),
    SHAPES("cos", ref_cos, "-4:4.3"),
    SHAPES("tan", ref_tan, "-1.2:1.2"),
    SHAPES("arcsin", ref_arcsin, "-0.8:0.8"),
    SHAPES("arccos", ref_arccos, "-0.8:0.8"),
    SHAPES("arctan", ref_arctan, "-4:4.3"),
    SHAPES("degrees", ref_degrees, "-2:2.3"),
    SHAPES("radians", ref_radians, "-100:100"),
    SHAPES("sinh", ref_sinh, "-2:2.3"),
    SHAPES("cosh", ref_cosh, "-2:2.3"),
    SHAPES("tanh", ref_tanh, "-4:4.3"),
    SHAPES("arcsinh", ref_arcsinh, "-4:4.3"),
    SHAPES("arccosh", ref_arccosh, "1.5:4"),
    SHAPES("arctanh", ref_arctanh, "-0.8:0.8"),
    SHAPES("gamma", ref_gamma, "0.5:4"),
    SHAPES("gammaln", ref_gammaln, "0.5:9"),
    SHAPES("reciprocal", ref_reciprocal, "0.5:3"),
    SHAPES("softsign", ref_softsign, "-3:3.3"),
    SHAPES("cbrt", ref_cbrt, "0.5:9"),
    SHAPES("cbrt", ref_cbrt, "-9:-0.5"),
    SHAPES("rcbrt", ref_rcbrt, "0.5:9"),
    SHAPES("rcbrt", ref_rcbrt, "-9:-0.5"),
    SHAPES("erf", ref_erf, "-3:3.3"),
    SHAPES("gelu", ref_gelu, "-6:6.3"),
    SHAPES("gelu_tanh", ref_gelu_tanh, "-6:6.3"),
    SHAPES("silu", ref_silu, "-6:6.3"),
    SHAPES("swish", ref_silu, "-1:1.3"),
    SHAPES("mish", ref_mish, "-6:6.3"),
    SHAPES("log_sigmoid", ref_log_sigmoid, "-6:6.3"),
    SHAPES("erfinv", ref_erfinv, "-0.9:0.9"),
    {.op = "erfinv",
     .in = "7@0.99:0.9999; 9@-0.9999:-0.99; 4@1:1; 4@-1:-1; 3@2:3",
     .reference = ref_erfinv,
     .flags = CASE_F64_ONLY},
    {.op = "erfinv", .in = "7@-0.001:0.001", .reference = ref_erfinv},
    {.op = "digamma",
     .in = "3x5@0.5:9; 40@12:30; 7@-2.7:-2.3; 9@100:300" CASE_EACH(CASE_ONE) "; 9@1:9n",
     .reference = ref_digamma,
     .tolerance = 4},
    {.op = "sigmoid", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_sigmoid},
    {.op = "tanh", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_tanh},
    {.op = "softsign", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_softsign},
    {.op = "erf", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_erf},
    {.op = "gelu", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_gelu},
    {.op = "gelu_tanh", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_gelu_tanh},
    {.op = "silu", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_silu},
    {.op = "mish", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_mish},
    {.op = "log_sigmoid", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_log_sigmoid},
    {.op = "relu", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_relu},
    {.op = "arctan", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_arctan},
    {.op = "arcsinh", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_arcsinh},
    {.op = "sign", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_sign},
    {.op = "abs", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_abs},
    {.op = "cbrt", .in = "9@-1e4:1.1e4; 9@-100:110; 9@-1e-3:1.1e-3", .reference = ref_cbrt},
    {.op = "gelu", .in = "150x301@-4:4.3; s", .reference = ref_gelu},
    {.op = "silu", .in = "s@-4:4.3", .reference = ref_silu},
    {.op = "logical_not", .in = INPUTS("20", "-1:1i"), .reference = ref_logical_not, .gradient = case_zero_gradient},
    {.op = "trunc", .in = "40@-3:3.3", .reference = ref_fix},
    {.op = "gamma", .in = "7@-2.9:-2.1; 9@-1.9:-1.1; 3@5:9", .reference = ref_gamma, .tolerance = 4},
    {.op = "gammaln", .in = "7@-2.9:-2.1; 9@-1.9:-1.1; 3@20:90", .reference = ref_gammaln, .tolerance = 4},
    {.op = "relu", .in = "150x301@-2:2.3", .reference = ref_relu},
    {.op = "exp", .in = "150x301@-4:4.3", .reference = ref_exp},
    {.op = "tanh", .in = "s@-4:4.3", .reference = ref_tanh},
    {.op = "sign", .in = INPUTS("3x5", "-2:2.3"), .reference = ref_sign},
    {.op = "sign", .in = "6@-1:1i", .reference = ref_sign, .gradient = case_zero_gradient},
    {.op = "round", .in = INPUTS("40", "-3:3.3"), .reference = ref_round},
    {.op = "round", .in = "9@-2:2i; 9@-2.5:2.5", .reference = ref_round, .gradient = case_zero_gradient},
    {.op = "_contrib_round_ste", .in = INPUTS("40", "-3:3.3"), .reference = ref_round, .gradient = grad_pass},
    {.op = "_contrib_round_ste", .in = "9@-2:2i; 9@-2.5:2.5", .reference = ref_round, .gradient = grad_pass},
    {.op = "_contrib_sign_ste", .in = INPUTS("3x5", "-2:2.3"), .reference = ref_sign, .gradient = grad_pass},
    {.op = "_contrib_sign_ste", .in = "6@-1:1i", .reference = ref_sign, .gradient = grad_pass},
    {.op = "rint", .in = INPUTS("40", "-3:3.3"), .reference = ref_rint},
    {.op = "ceil", .in = INPUTS("40", "-3:3.3"), .reference = ref_ceil},
    {.op = "floor", .in = INPUTS("40", "-3:3.3"), .reference = ref_floor},
    {.op = "fix", .in = INPUTS("40", "-3:3.3"), .reference = ref_fix},
    {.op = "relu", .in = "2 2", .status = MXC_EINVAL, .error = "relu: expected 1 arrays"},
};

MXC_CASES(elementwise_unary_cases, cases);

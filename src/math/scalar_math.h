/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scalar arithmetic of the element-wise operators, in a form that C and nvcc read: what unary.def and binary.def
 * call. Each function has a float and a double version, mxci_<name>_f32 and _f64, and _i64 where integers have one;
 * those that vectorise are in fastmath.h.
 */
#ifndef MXCI_MATH_SCALAR_MATH_H
#define MXCI_MATH_SCALAR_MATH_H

#include "math/fastmath.h"

/* A function of libm under our name. */
#define LIBM_1(name, libm)                           \
    MXCI_SCALAR float mxci_##name##_f32(float x) {   \
        return libm##f(x);                           \
    }                                                \
    MXCI_SCALAR double mxci_##name##_f64(double x) { \
        return libm(x);                              \
    }
#define LIBM_2(name, libm)                                     \
    MXCI_SCALAR float mxci_##name##_f32(float x, float y) {    \
        return libm##f(x, y);                                  \
    }                                                          \
    MXCI_SCALAR double mxci_##name##_f64(double x, double y) { \
        return libm(x, y);                                     \
    }

LIBM_1(abs, fabs)
LIBM_1(rint, rint)
LIBM_1(ceil, ceil)
LIBM_1(floor, floor)
LIBM_1(fix, trunc)
LIBM_1(sqrt, sqrt)
LIBM_1(log10, log10)
LIBM_1(log2, log2)
LIBM_1(expm1, expm1)
LIBM_1(sin, sin)
LIBM_1(cos, cos)
LIBM_1(tan, tan)
LIBM_1(asin, asin)
LIBM_1(acos, acos)
LIBM_1(atan, atan)
LIBM_1(sinh, sinh)
LIBM_1(cosh, cosh)
LIBM_1(asinh, asinh)
LIBM_1(acosh, acosh)
LIBM_1(atanh, atanh)
LIBM_1(gamma, tgamma)
LIBM_1(cbrt, cbrt)
LIBM_2(pow, pow)
LIBM_2(hypot, hypot)

#undef LIBM_1
#undef LIBM_2

/* libm's lgamma stores the sign in a global variable; this one does not. */
MXCI_SCALAR double mxci_gammaln_f64(double x) {
#if defined(__CUDACC__)
    return lgamma(x);
#else
    int sign;
    return lgamma_r(x, &sign);
#endif
}

MXCI_SCALAR float mxci_gammaln_f32(float x) {
    return (float)mxci_gammaln_f64(x);
}

/* Integers are rounded already. */
#define INTEGER_1(name)                                \
    MXCI_SCALAR int64_t mxci_##name##_i64(int64_t x) { \
        return x;                                      \
    }

INTEGER_1(round)
INTEGER_1(rint)
INTEGER_1(ceil)
INTEGER_1(floor)
INTEGER_1(fix)

#undef INTEGER_1

/* Half away from zero. */
MXCI_SCALAR float mxci_round_f32(float x) {
    float whole = truncf(x);
    return fabsf(x - whole) >= 0.5f ? whole + copysignf(1.0f, x) : whole;
}

MXCI_SCALAR double mxci_round_f64(double x) {
    double whole = trunc(x);
    return fabs(x - whole) >= 0.5 ? whole + copysign(1.0, x) : whole;
}

/*
 * The derivative of gammaln. Left of 1/2 by reflection, digamma(x) = digamma(1 - x) - pi / tan(pi x); then upwards by
 * digamma(x) = digamma(x + 1) - 1 / x to 10, from where the asymptotic series is exact to 1e-15. NaN at 0, -1, -2...
 */
MXCI_SCALAR double mxci_digamma_f64(double x) {
    const double pi = 3.14159265358979323846;
    double result = 0, z;
    if (x <= 0 && x == floor(x))
        return NAN;
    if (x < 0.5) {
        result = -pi / tan(pi * (x - floor(x)));
        x = 1 - x;
    }
    for (; x < 10; x += 1)
        result -= 1 / x;
    z = 1 / (x * x); /* Bernoulli numbers over 2k: 1/12, 1/120, 1/252, 1/240, 1/132, 691/32760 */
    result += log(x) - 0.5 / x;
    return result -
           z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760))))));
}

MXCI_SCALAR float mxci_digamma_f32(float x) {
    return (float)mxci_digamma_f64(x);
}

/* The derivative of digamma, in the same three steps. NaN at 0, -1, -2... */
MXCI_SCALAR double mxci_trigamma_f64(double x) {
    const double pi = 3.14159265358979323846;
    double result = 0, sign = 1, z;
    if (x <= 0 && x == floor(x))
        return NAN;
    if (x < 0.5) { /* trigamma(x) = (pi / sin(pi x))^2 - trigamma(1 - x) */
        z = pi / sin(pi * (x - floor(x)));
        result = z * z;
        sign = -1;
        x = 1 - x;
    }
    for (; x < 10; x += 1)
        result += sign / (x * x);
    z = 1 / (x * x); /* Bernoulli numbers: 1/6, 1/30, 1/42, 1/30, 5/66, 691/2730 */
    z *= 1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42 - z * (1.0 / 30 - z * (5.0 / 66 - z * (691.0 / 2730)))));
    return result + sign * (1 + 0.5 / x + z) / x;
}

MXCI_SCALAR float mxci_trigamma_f32(float x) {
    return (float)mxci_trigamma_f64(x);
}

/* The x whose erf is y. A closed formula good to 0.2 % (Winitzki) is improved by two steps of Halley's, on the smaller
 * of erf and 1 - erf, to full precision. */
MXCI_SCALAR double mxci_erfinv_f64(double y) {
    double a = fabs(y), log_rest = log1p(-a) + log1p(a), half, x;
    if (!(a < 1))
        return a == 1 ? copysign(INFINITY, y) : NAN;
    half = 4.33075 + 0.5 * log_rest; /* 2 / (0.147 pi) */
    x = sqrt(sqrt(half * half - log_rest / 0.147) - half);
    for (int i = 0; i < 2; i++) {
        double off = a < 0.5 ? erf(x) - a : (1 - a) - erfc(x), step = off * 0.88622692545275801365 * exp(x * x);
        x -= step / (1 + x * step);
    }
    return a < 1e-150 ? y * 0.88622692545275801365 : copysign(x, y); /* sqrt(pi) / 2 */
}

MXCI_SCALAR float mxci_erfinv_f32(float y) {
    return (float)mxci_erfinv_f64(y);
}

/* The form of gelu by tanh, x (1 + tanh u) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), and its derivative;
 * (1 + tanh u) / 2 is sigmoid(2 u). */
MXCI_SCALAR float mxci_gelu_tanh_f32(float x) {
    return x * mxci_sigmoid_f32(1.59576912f * x * (1.0f + 0.044715f * x * x));
}

MXCI_SCALAR double mxci_gelu_tanh_f64(double x) {
    return x * mxci_sigmoid_f64(1.5957691216057307 * x * (1.0 + 0.044715 * x * x));
}

MXCI_SCALAR float mxci_gelu_tanh_derivative_f32(float x) {
    float s = mxci_sigmoid_f32(1.59576912f * x * (1.0f + 0.044715f * x * x));
    return s + x * s * (1.0f - s) * 1.59576912f * (1.0f + 0.134145f * x * x);
}

MXCI_SCALAR double mxci_gelu_tanh_derivative_f64(double x) {
    double s = mxci_sigmoid_f64(1.5957691216057307 * x * (1.0 + 0.044715 * x * x));
    return s + x * s * (1.0 - s) * 1.5957691216057307 * (1.0 + 0.134145 * x * x);
}

/* The derivative of silu, x sigmoid(x). */
MXCI_SCALAR float mxci_silu_derivative_f32(float x) {
    float s = mxci_sigmoid_f32(x);
    return s * (1.0f + x * (1.0f - s));
}

MXCI_SCALAR double mxci_silu_derivative_f64(double x) {
    double s = mxci_sigmoid_f64(x);
    return s * (1.0 + x * (1.0 - s));
}

/* Remainder of a / b with the sign of b; 0 where b is 0. */
MXCI_SCALAR double mxci_mod_f64(double a, double b) {
    double rest = b == 0.0 ? 0.0 : fmod(a, b);
    return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}

MXCI_SCALAR float mxci_mod_f32(float a, float b) {
    float rest = b == 0.0f ? 0.0f : fmodf(a, b);
    return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}

/* -1, 0 or 1; NaN stays. */
MXCI_SCALAR float mxci_sign_f32(float x) {
    return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x;
}

MXCI_SCALAR double mxci_sign_f64(double x) {
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}

/* ---- integers: no operation is undefined ------------------------------------------------------------------------ */

/* Quotient towards zero; 0 where the divisor is 0. */
MXCI_SCALAR int64_t mxci_quotient_i64(int64_t a, int64_t b) {
    return b == 0 ? 0 : b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b;
}

/* a to the power b, which wraps; of negative b the quotient of 1 and the power, towards zero, and 0 where a is 0. */
MXCI_SCALAR int64_t mxci_pow_i64(int64_t a, int64_t b) {
    uint64_t power = 1, square = (uint64_t)a;
    if (b < 0)
        return a == 1 ? 1 : a == -1 ? 1 - 2 * (b & 1) : 0;
    for (uint64_t rest = (uint64_t)b; rest > 0; rest >>= 1) {
        if (rest & 1)
            power *= square;
        square *= square;
    }
    return (int64_t)power;
}

/* Remainder with the divisor's sign; 0 where that is 0. */
MXCI_SCALAR int64_t mxci_mod_i64(int64_t a, int64_t b) {
    int64_t rest = b == 0 || b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

#endif

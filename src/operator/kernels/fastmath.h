/*
 * Scalar functions with a float and a double version, mxci_<name>_f32 and _f64, in a form that C and nvcc read.
 *
 * The float versions of exp, log, log1p, tanh, sigmoid, softrelu, erf and normal_cdf have no branches or tables, so
 * that the compiler vectorises loops that call them. Errors against the exact value, over all finite floats
 * (tests/operator/test_fastmath.c): normal_cdf at most 8 ulp, sigmoid 3, the others 2. Infinities, zeros and NaN behave
 * as in libm; sigmoid gives 0 where the exact value is below FLT_MIN. The polynomials are Chebyshev fits of the
 * functions named beside them.
 */
#ifndef MXCI_OPERATOR_FASTMATH_H
#define MXCI_OPERATOR_FASTMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "operator/kernels/loop.h"

MXCI_SCALAR uint32_t mxci_float_bits(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

MXCI_SCALAR float mxci_bits_float(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* e^x = 2^n (1 + p) with n = round(x / ln 2), kept as a 32-bit integer; r = x - n ln 2, |r| <= ln 2 / 2,
 * p = r + r^2 P(r). For |x| up to 105. */
MXCI_SCALAR float mxci_exp_parts_f32(float x, uint32_t *n) {
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer, kept in the low bits */
    float shifted = x * 1.44269504f + magic, whole = shifted - magic, r, p;
    *n = mxci_float_bits(shifted) - mxci_float_bits(magic);
    r = x - whole * 0.693359375f; /* exact: the constant has 9 bits */
    r = r - whole * -2.12194440e-4f;
    p = 0.001392692661f;
    p = p * r + 0.008363773874f;
    p = p * r + 0.04166655011f;
    p = p * r + 0.1666657338f;
    p = p * r + 0.5f;
    return (p * r) * r + r;
}

/* 2^n is applied in two factors, so that overflow gives infinity and underflow goes through the subnormals. */
MXCI_SCALAR float mxci_exp_f32(float x) {
    uint32_t n, half;
    float p;
    x = x > 89.0f ? 89.0f : x; /* NaN passes */
    x = x < -105.0f ? -105.0f : x;
    p = mxci_exp_parts_f32(x, &n);
    half = (uint32_t)((int32_t)n >> 1);
    return (p + 1.0f) * mxci_bits_float((half + 127u) << 23) * mxci_bits_float((n - half + 127u) << 23);
}

/* log x = e ln 2 + log m for a positive normal x, m in [sqrt(1/2), sqrt(2)); s = (m - 1) / (m + 1),
 * log m = 2 s + s^3 Q(s^2). */
MXCI_SCALAR float mxci_log_normal_f32(float x) {
    uint32_t bits = mxci_float_bits(x) - 0x3f3504f3u; /* exponent 0 for m in the interval above */
    float e = (float)((int32_t)bits >> 23), m = mxci_bits_float((bits & 0x007fffffu) + 0x3f3504f3u);
    float f = m - 1.0f, s = f / (m + 1.0f), z = s * s, half_square = 0.5f * f * f, q;
    q = 0.233534276f;
    q = q * z + 0.2854996859f;
    q = q * z + 0.4000012943f;
    q = q * z + 0.6666666655f;
    /* 2 s = f - s f, and s f = f^2/2 - s f^2/2: the leading term f is exact */
    q = e * -2.12194440e-4f + s * (half_square + q * z);
    return q - half_square + f + e * 0.693359375f;
}

MXCI_SCALAR float mxci_log_f32(float x) {
    float tiny = x < 1.17549435e-38f ? 1.0f : 0.0f; /* subnormal, or not positive and overridden below */
    float result = mxci_log_normal_f32(x * (tiny > 0.0f ? 8388608.0f : 1.0f)) - tiny * 15.9423847f;
    result = x == 0.0f ? -INFINITY : result;
    result = x < 0.0f ? NAN : result;
    return x > 3.40282347e38f || x != x ? x : result;
}

/* log(1 + x) is the log of the rounded sum, plus what the rounding lost over the sum. */
MXCI_SCALAR float mxci_log1p_f32(float x) {
    float sum = 1.0f + x, result = mxci_log_f32(sum), lost = (x - (sum - 1.0f)) / sum;
    result = sum > 0.0f && sum <= 3.40282347e38f ? result + lost : result;
    return x == 0.0f ? x : result; /* keeps -0 */
}

/* tanh x: x + x^3 R(x^2) below 0.625, 1 - 2 / (e^2|x| + 1) above; that is 1 from 10 on. */
MXCI_SCALAR float mxci_tanh_f32(float x) {
    float a = fabsf(x), z = x * x, r, p, small, large;
    uint32_t n;
    r = -0.006096714166f;
    r = r * z + 0.020997179f;
    r = r * z + -0.05385090958f;
    r = r * z + 0.1333276974f;
    r = r * z + -0.3333332894f;
    small = r * z * a + a;
    p = mxci_exp_parts_f32(a > 10.0f ? 20.0f : 2.0f * a, &n);
    large = 1.0f - 2.0f / ((p + 1.0f) * mxci_bits_float((n + 127u) << 23) + 1.0f);
    return copysignf(a < 0.625f ? small : large, x);
}

MXCI_SCALAR float mxci_sigmoid_f32(float x) {
    return 1.0f / (1.0f + mxci_exp_f32(-x));
}

MXCI_SCALAR double mxci_sigmoid_f64(double x) {
    return 1.0 / (1.0 + exp(-x));
}

/* log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), where the log is as in log1p above. */
MXCI_SCALAR float mxci_softrelu_f32(float x) {
    float u = mxci_exp_f32(-fabsf(x)), sum = 1.0f + u;
    float tail = mxci_log_normal_f32(sum) + (u - (sum - 1.0f)) / sum;
    return (x < 0.0f ? 0.0f : x) + tail;
}

MXCI_SCALAR double mxci_softrelu_f64(double x) {
    double tail = log1p(exp(-fabs(x)));
    return (x > 0.0 ? x : 0.0) + tail;
}

/* The normal distribution's share above a >= 0, Q(a) = e^(-a^2/2) t T(t) with t = 1 / (1 + 0.35 a). The square of a's
 * first 12 bits is exact; the rest of a^2/2 is below 0.08 where the result is not 0. */
MXCI_SCALAR float mxci_normal_tail_f32(float a) {
    float b = a > 20.0f ? 20.0f : a, high = mxci_bits_float(mxci_float_bits(b) & 0xfffff000u); /* NaN passes */
    float rest = 0.5f * (high - b) * (high + b), t = 1.0f / (1.0f + 0.35f * b), p;
    p = -0.02974100586f;
    p = p * t + 0.1468227133f;
    p = p * t + -0.2614819645f;
    p = p * t + 0.1655809541f;
    p = p * t + -0.02736256651f;
    p = p * t + 0.1072260574f;
    p = p * t + 0.1194226226f;
    p = p * t + 0.1399145411f;
    p = p * t + 0.1396186305f;
    rest = 1.0f + rest * (1.0f + rest * (0.5f + rest * (0.16666667f + rest * 0.041666667f)));
    return mxci_exp_f32(-0.5f * high * high) * rest * (p * t);
}

/* erf x: x (2 / sqrt(pi) + E(x^2)) below 0.8, 1 - 2 Q(sqrt(2) |x|) above. */
MXCI_SCALAR float mxci_erf_f32(float x) {
    float a = fabsf(x), z = x * x, e;
    e = -0.0006543816829f;
    e = e * z + 0.005086514367f;
    e = e * z + -0.02682158974f;
    e = e * z + 0.1128313096f;
    e = e * z + -0.3761260287f;
    e = e * z + 0.1283791671f; /* 2 / sqrt(pi) - 1, so that x itself is exact */
    return a < 0.8f ? x + x * e : copysignf(1.0f - 2.0f * mxci_normal_tail_f32(1.41421356f * a), x);
}

/* The normal distribution's share below x. */
MXCI_SCALAR float mxci_normal_cdf_f32(float x) {
    float tail = mxci_normal_tail_f32(fabsf(x));
    return x > 0.0f ? 1.0f - tail : tail;
}

MXCI_SCALAR double mxci_normal_cdf_f64(double x) { return 0.5 * erfc(-0.70710678118654752440 * x); }

/* gelu x = x normal_cdf(x), and its derivative, with the density e^(-x^2/2) / sqrt(2 pi). */
MXCI_SCALAR float mxci_gelu_f32(float x) { return x * mxci_normal_cdf_f32(x); }
MXCI_SCALAR double mxci_gelu_f64(double x) { return x * mxci_normal_cdf_f64(x); }

MXCI_SCALAR float mxci_gelu_slope_f32(float x) {
    return mxci_normal_cdf_f32(x) + x * mxci_exp_f32(-0.5f * x * x) * 0.39894228f;
}

MXCI_SCALAR double mxci_gelu_slope_f64(double x) {
    return mxci_normal_cdf_f64(x) + x * exp(-0.5 * x * x) * 0.39894228040143267794;
}

/* mish x = x tanh(softrelu(x)), and its derivative. */
MXCI_SCALAR float mxci_mish_f32(float x) { return x * mxci_tanh_f32(mxci_softrelu_f32(x)); }
MXCI_SCALAR double mxci_mish_f64(double x) { return x * tanh(mxci_softrelu_f64(x)); }

MXCI_SCALAR float mxci_mish_slope_f32(float x) {
    float t = mxci_tanh_f32(mxci_softrelu_f32(x));
    return t + x * (1.0f - t * t) * mxci_sigmoid_f32(x);
}

MXCI_SCALAR double mxci_mish_slope_f64(double x) {
    double t = tanh(mxci_softrelu_f64(x));
    return t + x * (1.0 - t * t) * mxci_sigmoid_f64(x);
}

MXCI_SCALAR double mxci_exp_f64(double x) { return exp(x); }
MXCI_SCALAR double mxci_log_f64(double x) { return log(x); }
MXCI_SCALAR double mxci_log1p_f64(double x) { return log1p(x); }
MXCI_SCALAR double mxci_tanh_f64(double x) { return tanh(x); }
MXCI_SCALAR double mxci_erf_f64(double x) { return erf(x); }

#endif

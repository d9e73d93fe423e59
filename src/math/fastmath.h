/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalar functions with a float and a double version, mxci_<name>_f32 and _f64, in a form that C and nvcc read.
 *
 * The float versions of exp, log, log1p, tanh, sigmoid, softrelu, erf and normal_cdf have no branches or tables, so
 * that the compiler vectorises loops that call them. Errors against the exact value, over all finite floats
 * (tests/operator/test_fastmath.c): normal_cdf at most 9 ulp, sigmoid 3, the others 2. Infinities, zeros and NaN behave
 * as in libm; sigmoid gives 0 where the exact value is below FLT_MIN. The polynomials are Chebyshev fits of the
 * functions named beside them.
 */
#ifndef MXCI_MATH_FASTMATH_H
#define MXCI_MATH_FASTMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/loop.h"

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

/*
 * Long polynomials are summed as two of half the degree, since waiting for one chain of multiply-adds takes the time. A
 * bound and a later test of what it is put on would make the compiler carry on with the bound as a constant, beside the
 * rest; so the two compare different variables.
 */

/* e^x = 2^n (1 + p) with n = round(x / ln 2); r = x - n ln 2, |r| <= ln 2 / 2, p = r + r^2 P(r). For |x| up to 150. The
 * low 9 bits of *biased are n + bias. */
MXCI_SCALAR float mxci_exp_parts_f32(float x, const float bias, uint32_t *biased) {
    const float magic = 12582912.0f + bias; /* 1.5 * 2^23: adding it rounds to an integer, kept in the low bits */
    float shifted = x * 1.44269504f + magic, whole = shifted - magic, r, square, low, high;
    *biased = mxci_float_bits(shifted);
    r = x - whole * 0.693359375f; /* exact: the constant has 9 bits */
    r = r - whole * -2.12194440e-4f;
    square = r * r;
    low = 0.1666657338f * r + 0.5f;
    high = 0.008363773874f * r + 0.04166655011f;
    high = 0.001392692661f * square + high;
    return (high * square + low) * square + r;
}

/* e^x for |x| up to 150, and NaN. 2^n is applied in two factors, so that overflow gives infinity and underflow goes
 * through the subnormals. */
MXCI_SCALAR float mxci_exp_bounded_f32(float x) {
    uint32_t n;
    float p = mxci_exp_parts_f32(x, 254.0f, &n), half = mxci_bits_float(n >> 1 << 23);
    return (p * half + half) * mxci_bits_float((n - (n >> 1)) << 23);
}

MXCI_SCALAR float mxci_exp_f32(float x) {
    float size = fabsf(x);
    return mxci_exp_bounded_f32(copysignf(size > 150.0f ? 150.0f : size, x)); /* NaN passes */
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
    float tiny = x < 1.17549435e-38f ? 15.9423847f : 0.0f; /* subnormal, or not positive and overridden below */
    float result = mxci_log_normal_f32(tiny > 0.0f ? x * 8388608.0f : x) - tiny;
    result = x > 0.0f ? result : x == 0.0f ? -INFINITY : NAN;
    return x <= 3.40282347e38f ? result : x;
}

/* log(1 + x) is the log of the rounded sum, plus what the rounding lost over the sum. */
MXCI_SCALAR float mxci_log1p_f32(float x) {
    float sum = 1.0f + x, result = mxci_log_f32(sum), lost = (x - (sum - 1.0f)) / sum;
    result = sum > 0.0f && sum <= 3.40282347e38f ? result + lost : result;
    return x == 0.0f ? x : result; /* keeps -0 */
}

/* tanh x: x + x^3 R(x^2) below 0.625, 1 - 2 / (e^2|x| + 1) above; that is 1 from 10 on. */
MXCI_SCALAR float mxci_tanh_f32(float x) {
    float a = fabsf(x), z = x * x, r, p, scale, small, large;
    uint32_t n;
    r = -0.006096714166f;
    r = r * z + 0.020997179f;
    r = r * z + -0.05385090958f;
    r = r * z + 0.1333276974f;
    r = r * z + -0.3333332894f;
    small = r * z * a + a;
    p = mxci_exp_parts_f32(a > 10.0f ? 20.0f : 2.0f * a, 127.0f, &n);
    scale = mxci_bits_float(n << 23);
    large = 1.0f - 2.0f / (p * scale + scale + 1.0f);
    return copysignf(z < 0.390625f ? small : large, x);
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
    float b = a > 15.0f ? 15.0f : a, high = mxci_bits_float(mxci_float_bits(b) & 0xfffff000u); /* NaN passes */
    float rest = 0.5f * (high - b) * (high + b), t = 1.0f / (1.0f + 0.35f * b), square = t * t, even, odd;
    even = -0.02974100586f;
    even = even * square + -0.2614819645f;
    even = even * square + -0.02736256651f;
    even = even * square + 0.1194226226f;
    even = even * square + 0.1396186305f;
    odd = 0.1468227133f;
    odd = odd * square + 0.1655809541f;
    odd = odd * square + 0.1072260574f;
    odd = odd * square + 0.1399145411f;
    rest = 1.0f + rest * (1.0f + rest * (0.5f + rest * (0.16666667f + rest * 0.041666667f)));
    return mxci_exp_bounded_f32(-0.5f * high * high) * (rest * (odd * t + even) * t);
}

/* erf x: x (2 / sqrt(pi) + E(x^2)) for x^2 below 0.64, 1 - 2 Q(sqrt(2) |x|) above. */
MXCI_SCALAR float mxci_erf_f32(float x) {
    float a = fabsf(x), z = x * x, e;
    e = -0.0006543816829f;
    e = e * z + 0.005086514367f;
    e = e * z + -0.02682158974f;
    e = e * z + 0.1128313096f;
    e = e * z + -0.3761260287f;
    e = e * z + 0.1283791671f; /* 2 / sqrt(pi) - 1, so that x itself is exact */
    return z < 0.64f ? x + x * e : copysignf(1.0f - 2.0f * mxci_normal_tail_f32(1.41421356f * a), x);
}

/* The normal distribution's share below x. */
MXCI_SCALAR float mxci_normal_cdf_f32(float x) {
    float tail = mxci_normal_tail_f32(fabsf(x));
    return x > 0.0f ? 1.0f - tail : tail;
}

MXCI_SCALAR double mxci_normal_cdf_f64(double x) {
    return 0.5 * erfc(-0.70710678118654752440 * x);
}

/* gelu x = x normal_cdf(x), and its derivative, with the density e^(-x^2/2) / sqrt(2 pi). */
MXCI_SCALAR float mxci_gelu_f32(float x) {
    return x * mxci_normal_cdf_f32(x);
}
MXCI_SCALAR double mxci_gelu_f64(double x) {
    return x * mxci_normal_cdf_f64(x);
}

MXCI_SCALAR float mxci_gelu_derivative_f32(float x) {
    return mxci_normal_cdf_f32(x) + x * mxci_exp_f32(-0.5f * x * x) * 0.39894228f;
}

MXCI_SCALAR double mxci_gelu_derivative_f64(double x) {
    return mxci_normal_cdf_f64(x) + x * exp(-0.5 * x * x) * 0.39894228040143267794;
}

/* mish x = x tanh(softrelu(x)), and its derivative. */
MXCI_SCALAR float mxci_mish_f32(float x) {
    return x * mxci_tanh_f32(mxci_softrelu_f32(x));
}
MXCI_SCALAR double mxci_mish_f64(double x) {
    return x * tanh(mxci_softrelu_f64(x));
}

MXCI_SCALAR float mxci_mish_derivative_f32(float x) {
    float t = mxci_tanh_f32(mxci_softrelu_f32(x));
    return t + x * (1.0f - t * t) * mxci_sigmoid_f32(x);
}

MXCI_SCALAR double mxci_mish_derivative_f64(double x) {
    double t = tanh(mxci_softrelu_f64(x));
    return t + x * (1.0 - t * t) * mxci_sigmoid_f64(x);
}

MXCI_SCALAR double mxci_exp_f64(double x) {
    return exp(x);
}
MXCI_SCALAR double mxci_log_f64(double x) {
    return log(x);
}
MXCI_SCALAR double mxci_log1p_f64(double x) {
    return log1p(x);
}
MXCI_SCALAR double mxci_tanh_f64(double x) {
    return tanh(x);
}
MXCI_SCALAR double mxci_erf_f64(double x) {
    return erf(x);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two 16-bit float formats as single numbers: conversion from and to float, rounding to nearest even. Where the
 * compiler may use F16C the processor converts float16. mxc/kernel.h converts rows, which is faster.
 */
#ifndef MXC_HALF_H
#define MXC_HALF_H

#include <stdint.h>
#include <string.h>

typedef struct mxc_f16 {
    uint16_t bits;
} mxc_f16; /* an element of MXC_F16 */

typedef struct mxc_bf16 {
    uint16_t bits;
} mxc_bf16; /* of MXC_BF16 */

static inline float mxc_bf16_to_float(mxc_bf16 h) {
    uint32_t u = (uint32_t)h.bits << 16;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline mxc_bf16 mxc_float_to_bf16(float f) {
    uint32_t u, rounded;
    mxc_bf16 h;
    memcpy(&u, &f, sizeof u);
    rounded = u + 0x7fffu + ((u >> 16) & 1u);
    rounded = (int32_t)(u & 0x7fffffffu) > 0x7f800000 ? u | 0x00400000u : rounded; /* NaN stays NaN */
    h.bits = (uint16_t)(rounded >> 16);
    return h;
}

#if defined(__F16C__) && defined(__GNUC__) && !defined(__CUDACC__)
typedef float mxc_f16_floats __attribute__((vector_size(16)));
typedef short mxc_f16_words __attribute__((vector_size(16)));

static inline float mxc_f16_to_float(mxc_f16 h) {
    mxc_f16_words words = {(short)h.bits, 0, 0, 0, 0, 0, 0, 0};
    return __builtin_ia32_vcvtph2ps(words)[0];
}

static inline mxc_f16 mxc_float_to_f16(float f) {
    mxc_f16_floats floats = {f, 0, 0, 0};
    mxc_f16 h;
    h.bits = (uint16_t)__builtin_ia32_vcvtps2ph(floats, 0)[0];
    return h;
}
#else
static inline float mxc_f16_to_float(mxc_f16 h) {
    uint32_t sign = (uint32_t)(h.bits & 0x8000u) << 16, exponent = (h.bits >> 10) & 0x1fu;
    uint32_t fraction = h.bits & 0x3ffu, u;
    float f;
    if (exponent == 0) { /* zero and subnormals: fraction * 2^-24 */
        f = (float)fraction * 5.9604644775390625e-8f;
        return sign ? -f : f;
    }
    u = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112u) << 23) | (fraction << 13);
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline mxc_f16 mxc_float_to_f16(float f) {
    uint32_t u, sign, magnitude, bits;
    mxc_f16 h;
    memcpy(&u, &f, sizeof u);
    sign = (u >> 16) & 0x8000u;
    magnitude = u & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) { /* infinity or NaN */
        bits = 0x7c00u | (magnitude > 0x7f800000u ? 0x200u : 0);
    } else if (magnitude >= 0x477ff000u) { /* rounds above 65504 */
        bits = 0x7c00u;
    } else if (magnitude < 0x38800000u) { /* below 2^-14: adding 0.5 lines the fraction up and rounds it */
        float a, magic = 0.5f;
        memcpy(&a, &magnitude, sizeof a);
        a += magic;
        memcpy(&bits, &a, sizeof bits);
        bits -= 0x3f000000u;
    } else {
        bits = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13; /* exponent - 112, round to nearest even */
    }
    h.bits = (uint16_t)(sign | bits);
    return h;
}
#endif

#endif

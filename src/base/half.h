/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions between float and the two 16-bit formats, rounding to nearest even. Where the compiler may use F16C, as
 * in the kernels, the processor converts f16.
 */
#ifndef MXCI_BASE_HALF_H
#define MXCI_BASE_HALF_H

#include <stdint.h>
#include <string.h>

typedef struct mxci_f16 {
    uint16_t bits;
} mxci_f16;
typedef struct mxci_bf16 {
    uint16_t bits;
} mxci_bf16;

static inline float mxci_bf16_to_float(mxci_bf16 h) {
    uint32_t u = (uint32_t)h.bits << 16;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline mxci_bf16 mxci_float_to_bf16(float f) {
    uint32_t u, rounded;
    memcpy(&u, &f, sizeof u);
    rounded = u + 0x7fffu + ((u >> 16) & 1u);
    rounded = (int32_t)(u & 0x7fffffffu) > 0x7f800000 ? u | 0x00400000u : rounded; /* NaN stays NaN */
    return (mxci_bf16){(uint16_t)(rounded >> 16)};
}

#if defined(__F16C__)
typedef float mxci_f16_floats __attribute__((vector_size(16)));
typedef short mxci_f16_words __attribute__((vector_size(16)));

static inline float mxci_f16_to_float(mxci_f16 h) {
    return __builtin_ia32_vcvtph2ps((mxci_f16_words){(short)h.bits})[0];
}

static inline mxci_f16 mxci_float_to_f16(float f) {
    return (mxci_f16){(uint16_t)__builtin_ia32_vcvtps2ph((mxci_f16_floats){f}, 0)[0]};
}
#else
static inline float mxci_f16_to_float(mxci_f16 h) {
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

static inline mxci_f16 mxci_float_to_f16(float f) {
    uint32_t u, sign, magnitude;
    memcpy(&u, &f, sizeof u);
    sign = (u >> 16) & 0x8000u;
    magnitude = u & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) /* infinity or NaN */
        return (mxci_f16){(uint16_t)(sign | 0x7c00u | (magnitude > 0x7f800000u ? 0x200u : 0))};
    if (magnitude >= 0x477ff000u) /* rounds above 65504 */
        return (mxci_f16){(uint16_t)(sign | 0x7c00u)};
    if (magnitude < 0x38800000u) { /* below 2^-14: adding 0.5 lines the fraction up and rounds it */
        float a, magic = 0.5f;
        uint32_t bits;
        memcpy(&a, &magnitude, sizeof a);
        a += magic;
        memcpy(&bits, &a, sizeof bits);
        return (mxci_f16){(uint16_t)(sign | (bits - 0x3f000000u))};
    }
    magnitude += 0xc8000fffu + ((magnitude >> 13) & 1u); /* exponent - 112, and round to nearest even */
    return (mxci_f16){(uint16_t)(sign | (magnitude >> 13))};
}
#endif

#endif

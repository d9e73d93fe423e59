/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors as wide as the registers of the level that a kernel is compiled for: 16 bytes (SSE2, NEON), 32 (AVX2) or 64
 * (AVX-512), with the names of base/simd.h behind mxci_wide. For kernels that are bound by arithmetic and written for
 * any number of lanes (math/for_vectors.inc).
 */
#ifndef MXCI_BASE_SIMD_WIDE_H
#define MXCI_BASE_SIMD_WIDE_H

#include "base/simd.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#define MXCI_WIDE 64
#define MXCI_WIDE_MASKS 1 /* loads and stores of a vector's first lanes exist */
#elif defined(__AVX__)
#define MXCI_WIDE 32
#else
#define MXCI_WIDE 16
#endif
#ifndef MXCI_WIDE_MASKS
#define MXCI_WIDE_MASKS 0
#endif

enum { MXCI_WIDE_F32 = MXCI_WIDE / 4, MXCI_WIDE_F64 = MXCI_WIDE / 8 }; /* lanes */

typedef float mxci_wide_f32 __attribute__((vector_size(MXCI_WIDE)));
typedef double mxci_wide_f64 __attribute__((vector_size(MXCI_WIDE)));
typedef int32_t mxci_wide_mask_f32 __attribute__((vector_size(MXCI_WIDE))); /* a lane is 0 or -1 */
typedef int64_t mxci_wide_mask_f64 __attribute__((vector_size(MXCI_WIDE)));

MXCI_INLINE mxci_wide_f32 mxci_wide_load_f32(const float *p) {
    mxci_wide_f32 v;
    memcpy(&v, p, sizeof v);
    return v;
}
MXCI_INLINE mxci_wide_f64 mxci_wide_load_f64(const double *p) {
    mxci_wide_f64 v;
    memcpy(&v, p, sizeof v);
    return v;
}

MXCI_INLINE void mxci_wide_store_f32(float *p, mxci_wide_f32 v) {
    memcpy(p, &v, sizeof v);
}
MXCI_INLINE void mxci_wide_store_f64(double *p, mxci_wide_f64 v) {
    memcpy(p, &v, sizeof v);
}

/* x - 0 is x, also where x is -0. */
MXCI_INLINE mxci_wide_f32 mxci_wide_splat_f32(float x) {
    return x - (mxci_wide_f32){0};
}
MXCI_INLINE mxci_wide_f64 mxci_wide_splat_f64(double x) {
    return x - (mxci_wide_f64){0};
}

/* MXCI_WIDE_F64 floats as doubles. */
MXCI_INLINE mxci_wide_f64 mxci_wide_widen_f32(const float *p) {
#if MXCI_WIDE == 64
    return (mxci_wide_f64)_mm512_cvtps_pd(_mm256_loadu_ps(p)); /* gcc converts by quarters, through memory */
#elif MXCI_WIDE == 32
    return mxci_widen_f32(p);
#else
    return (mxci_wide_f64){p[0], p[1]};
#endif
}

/* Lanes of a where mask is -1, of b where it is 0. */
MXCI_INLINE mxci_wide_f32 mxci_wide_select_f32(mxci_wide_mask_f32 mask, mxci_wide_f32 a, mxci_wide_f32 b) {
    return (mxci_wide_f32)((mask & (mxci_wide_mask_f32)a) | (~mask & (mxci_wide_mask_f32)b));
}
MXCI_INLINE mxci_wide_f64 mxci_wide_select_f64(mxci_wide_mask_f64 mask, mxci_wide_f64 a, mxci_wide_f64 b) {
    return (mxci_wide_f64)((mask & (mxci_wide_mask_f64)a) | (~mask & (mxci_wide_mask_f64)b));
}

/* Lanes of b where they are larger, else of a: a stays beside NaN in b. */
MXCI_INLINE mxci_wide_f32 mxci_wide_larger_f32(mxci_wide_f32 a, mxci_wide_f32 b) {
#if MXCI_WIDE == 64
    return (mxci_wide_f32)_mm512_max_ps((__m512)b, (__m512)a); /* the second operand where one is NaN */
#elif MXCI_WIDE == 32
    return __builtin_ia32_maxps256(b, a);
#elif defined(__SSE2__)
    return __builtin_ia32_maxps(b, a);
#else
    return mxci_wide_select_f32(b > a, b, a);
#endif
}
MXCI_INLINE mxci_wide_f64 mxci_wide_larger_f64(mxci_wide_f64 a, mxci_wide_f64 b) {
#if MXCI_WIDE == 64
    return (mxci_wide_f64)_mm512_max_pd((__m512d)b, (__m512d)a);
#elif MXCI_WIDE == 32
    return __builtin_ia32_maxpd256(b, a);
#elif defined(__SSE2__)
    return __builtin_ia32_maxpd(b, a);
#else
    return mxci_wide_select_f64(b > a, b, a);
#endif
}

/* Lanes below n: -1, others 0. */
MXCI_INLINE mxci_wide_mask_f32 mxci_wide_below_f32(int n) {
    static const int32_t lane[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    mxci_wide_mask_f32 v;
    memcpy(&v, lane, sizeof v);
    return v < n;
}
MXCI_INLINE mxci_wide_mask_f64 mxci_wide_below_f64(int n) {
    static const int64_t lane[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    mxci_wide_mask_f64 v;
    memcpy(&v, lane, sizeof v);
    return v < n;
}

/* In each group of so many neighbours, a power of 2, all have the lane number c of the group. */
MXCI_INLINE mxci_wide_f32 mxci_wide_spread_f32(mxci_wide_f32 x, int group, int c) {
#if defined(__clang__)
    mxci_wide_f32 out;
    for (int l = 0; l < MXCI_WIDE_F32; l++)
        out[l] = x[(l & -group) + c];
    return out;
#else
    static const int32_t lane[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    mxci_wide_mask_f32 from;
    memcpy(&from, lane, sizeof from);
    return __builtin_shuffle(x, (from & -group) + c);
#endif
}

/* The first n lanes, 1 to all, and zeros; the others' memory is not touched. Without masks n must be all. */
MXCI_INLINE mxci_wide_f32 mxci_wide_load_first_f32(const float *p, int n) {
#if MXCI_WIDE_MASKS
    return (mxci_wide_f32)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#else
    (void)n;
    return mxci_wide_load_f32(p);
#endif
}
MXCI_INLINE mxci_wide_f64 mxci_wide_load_first_f64(const double *p, int n) {
#if MXCI_WIDE_MASKS
    return (mxci_wide_f64)_mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), p);
#else
    (void)n;
    return mxci_wide_load_f64(p);
#endif
}
MXCI_INLINE void mxci_wide_store_first_f32(float *p, int n, mxci_wide_f32 v) {
#if MXCI_WIDE_MASKS
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)v);
#else
    (void)n;
    mxci_wide_store_f32(p, v);
#endif
}
MXCI_INLINE void mxci_wide_store_first_f64(double *p, int n, mxci_wide_f64 v) {
#if MXCI_WIDE_MASKS
    _mm512_mask_storeu_pd(p, (__mmask8)((1u << n) - 1), (__m512d)v);
#else
    (void)n;
    mxci_wide_store_f64(p, v);
#endif
}

/* Lane i is base[index[i]] for the first n lanes, 0 for the others. */
MXCI_INLINE mxci_wide_f32 mxci_wide_gather_f32(const float *base, const int64_t *index, int n) {
#if MXCI_WIDE_MASKS
    const __mmask16 mask = (__mmask16)((1u << n) - 1);
    const __m512i low = _mm512_maskz_loadu_epi64((__mmask8)mask, index);
    const __m512i high = _mm512_maskz_loadu_epi64((__mmask8)(mask >> 8), index + 8);
    const __m256 zero = _mm256_setzero_ps();
    return (mxci_wide_f32)_mm512_insertf32x8(
        _mm512_castps256_ps512(_mm512_mask_i64gather_ps(zero, (__mmask8)mask, low, base, 4)),
        _mm512_mask_i64gather_ps(zero, (__mmask8)(mask >> 8), high, base, 4), 1);
#else
    float lane[MXCI_WIDE_F32] = {0};
    for (int i = 0; i < n; i++)
        lane[i] = base[index[i]];
    return mxci_wide_load_f32(lane);
#endif
}
MXCI_INLINE mxci_wide_f64 mxci_wide_gather_f64(const double *base, const int64_t *index, int n) {
#if MXCI_WIDE_MASKS
    const __mmask8 mask = (__mmask8)((1u << n) - 1);
    return (mxci_wide_f64)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), mask, _mm512_maskz_loadu_epi64(mask, index),
                                                   base, 8);
#else
    double lane[MXCI_WIDE_F64] = {0};
    for (int i = 0; i < n; i++)
        lane[i] = base[index[i]];
    return mxci_wide_load_f64(lane);
#endif
}

/* Transpose a square of vectors in place. Each vector is interleaved with the one half a square on, until halving gets
 * to 1; for 32 bytes base/simd.h has it in fewer steps. */
#define MXCI_LOW_2 0, 2
#define MXCI_HIGH_2 1, 3
#define MXCI_LOW_4 0, 4, 1, 5
#define MXCI_HIGH_4 2, 6, 3, 7
#define MXCI_LOW_8 0, 8, 1, 9, 2, 10, 3, 11
#define MXCI_HIGH_8 4, 12, 5, 13, 6, 14, 7, 15
#define MXCI_LOW_16 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define MXCI_HIGH_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define MXCI_TRANSPOSE(v, type, lanes)                                                         \
    for (int width = lanes; width > 1; width /= 2) {                                           \
        type t[lanes];                                                                         \
        MXCI_UNROLL                                                                            \
        for (int i = 0; i < lanes / 2; i++) {                                                  \
            t[2 * i] = __builtin_shufflevector(v[i], v[i + lanes / 2], MXCI_LOW_##lanes);      \
            t[2 * i + 1] = __builtin_shufflevector(v[i], v[i + lanes / 2], MXCI_HIGH_##lanes); \
        }                                                                                      \
        MXCI_UNROLL                                                                            \
        for (int i = 0; i < lanes; i++)                                                        \
            v[i] = t[i];                                                                       \
    }

MXCI_INLINE void mxci_wide_transpose_f32(mxci_wide_f32 v[MXCI_WIDE_F32]) {
#if MXCI_WIDE == 64
    MXCI_TRANSPOSE(v, mxci_wide_f32, 16)
#elif MXCI_WIDE == 32
    mxci_transpose_f32(v);
#else
    MXCI_TRANSPOSE(v, mxci_wide_f32, 4)
#endif
}

MXCI_INLINE void mxci_wide_transpose_f64(mxci_wide_f64 v[MXCI_WIDE_F64]) {
#if MXCI_WIDE == 64
    MXCI_TRANSPOSE(v, mxci_wide_f64, 8)
#elif MXCI_WIDE == 32
    mxci_transpose_f64(v);
#else
    MXCI_TRANSPOSE(v, mxci_wide_f64, 2)
#endif
}

#endif

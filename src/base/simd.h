/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors of 32 bytes for kernels: the one place that uses the compiler's vector extension (GCC 12, Clang). Arithmetic
 * on them is written with plain operators; where the processor has no such registers the compiler splits them.
 */
#ifndef MXCI_BASE_SIMD_H
#define MXCI_BASE_SIMD_H

#include <stdint.h>
#include <string.h>

#include <mxc/half.h>

#pragma GCC diagnostic ignored "-Wpsabi" /* all users of the types below are inlined: no call passes a vector */

#define MXCI_INLINE static inline __attribute__((always_inline))

/* Ahead of a loop with a constant count: unroll it whole, so that small arrays indexed by it become registers. */
#define MXCI_UNROLL _Pragma("GCC unroll 16")

typedef float mxci_v_f32 __attribute__((vector_size(32)));
typedef double mxci_v_f64 __attribute__((vector_size(32)));
typedef int32_t mxci_mask_f32 __attribute__((vector_size(32))); /* a lane is 0 or -1 */
typedef int64_t mxci_mask_f64 __attribute__((vector_size(32)));

/* Integers: pairs of 16 bits, and sums in 32 bits, which wrap. */
typedef int16_t mxci_v_i16 __attribute__((vector_size(32)));
typedef uint32_t mxci_v_u32 __attribute__((vector_size(32)));

MXCI_INLINE mxci_v_i16 mxci_load_i16(const int16_t *p) {
    mxci_v_i16 v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Sixteen bytes with a sign, as 16 bits. */
MXCI_INLINE mxci_v_i16 mxci_widen_i8(const int8_t *p) {
#if defined(__AVX2__) && !defined(__clang__) /* gcc converts by halves */
    typedef char bytes __attribute__((vector_size(16)));
    bytes v;
    memcpy(&v, p, sizeof v);
    return (mxci_v_i16)__builtin_ia32_pmovsxbw256(v);
#else
    typedef int8_t bytes __attribute__((vector_size(16)));
    bytes v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, mxci_v_i16);
#endif
}

/* One pair in all lanes. */
MXCI_INLINE mxci_v_i16 mxci_splat_pair(const int16_t *p) {
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return (mxci_v_i16)(mxci_v_u32){x, x, x, x, x, x, x, x};
}

/* For each pair the sum of its two products, which must fit into 32 bits with a sign. */
MXCI_INLINE mxci_v_u32 mxci_multiply_pairs(mxci_v_i16 a, mxci_v_i16 b) {
#if defined(__AVX2__)
    return (mxci_v_u32)__builtin_ia32_pmaddwd256(a, b);
#elif defined(__SSE2__)
    typedef int16_t half __attribute__((vector_size(16)));
    typedef uint32_t sums __attribute__((vector_size(16)));
    half x[2], y[2];
    mxci_v_u32 out;
    memcpy(x, &a, sizeof x);
    memcpy(y, &b, sizeof y);
    const sums z[2] = {(sums)__builtin_ia32_pmaddwd128(x[0], y[0]), (sums)__builtin_ia32_pmaddwd128(x[1], y[1])};
    memcpy(&out, z, sizeof out);
    return out;
#else
    mxci_v_u32 sum;
    for (int i = 0; i < 8; i++)
        sum[i] = (uint32_t)(a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1]);
    return sum;
#endif
}

MXCI_INLINE mxci_v_f32 mxci_load_f32(const float *p) {
    mxci_v_f32 v;
    memcpy(&v, p, sizeof v);
    return v;
}

MXCI_INLINE mxci_v_f64 mxci_load_f64(const double *p) {
    mxci_v_f64 v;
    memcpy(&v, p, sizeof v);
    return v;
}

MXCI_INLINE void mxci_store_f32(float *p, mxci_v_f32 v) {
    memcpy(p, &v, sizeof v);
}
MXCI_INLINE void mxci_store_f64(double *p, mxci_v_f64 v) {
    memcpy(p, &v, sizeof v);
}

MXCI_INLINE mxci_v_f32 mxci_splat_f32(float x) {
    return (mxci_v_f32){x, x, x, x, x, x, x, x};
}
MXCI_INLINE mxci_v_f64 mxci_splat_f64(double x) {
    return (mxci_v_f64){x, x, x, x};
}

/* Four floats, for pixels. */
typedef float mxci_quad __attribute__((vector_size(16)));

MXCI_INLINE mxci_quad mxci_quad_load_f32(const float *p) {
    mxci_quad v;
    memcpy(&v, p, sizeof v);
    return v;
}

MXCI_INLINE mxci_quad mxci_quad_load_u8(const uint8_t *p) {
#if defined(__SSE4_1__) && !defined(__clang__) /* gcc converts one by one */
    typedef char bytes __attribute__((vector_size(16)));
    typedef int32_t words __attribute__((vector_size(16)));
    int32_t four;
    memcpy(&four, p, sizeof four);
    return __builtin_convertvector((words)__builtin_ia32_pmovzxbd128((bytes)(words){four, 0, 0, 0}), mxci_quad);
#else
    uint8_t v __attribute__((vector_size(4)));
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, mxci_quad);
#endif
}

MXCI_INLINE void mxci_quad_store(float *p, mxci_quad v) {
    memcpy(p, &v, sizeof v);
}

typedef uint64_t mxci_v_u64 __attribute__((vector_size(32)));

/* Products of the lower halves of lanes. */
MXCI_INLINE mxci_v_u64 mxci_mul_halves(mxci_v_u64 a, mxci_v_u64 b) {
#if defined(__AVX2__) && !defined(__clang__) /* gcc multiplies whole lanes */
    typedef int32_t words __attribute__((vector_size(32)));
    return (mxci_v_u64)__builtin_ia32_pmuludq256((words)a, (words)b);
#else
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

/* Four floats as doubles. */
MXCI_INLINE mxci_v_f64 mxci_widen_f32(const float *p) {
    typedef float floats __attribute__((vector_size(16)));
    floats v;
    memcpy(&v, p, sizeof v);
#if defined(__AVX__) && !defined(__clang__) /* gcc's conversion of vectors goes by halves, through memory */
    return __builtin_ia32_cvtps2pd256(v);
#else
    return __builtin_convertvector(v, mxci_v_f64);
#endif
}

typedef short mxci_f16_words __attribute__((vector_size(16))); /* eight float16 */

/* Eight elements of f16. */
MXCI_INLINE mxci_v_f32 mxci_load_f16(const mxc_f16 *p) {
#if defined(__F16C__)
    mxci_f16_words words;
    memcpy(&words, p, sizeof words);
    return __builtin_ia32_vcvtph2ps256(words);
#else
    mxci_v_f32 v;
    for (int i = 0; i < 8; i++)
        v[i] = mxc_f16_to_float(p[i]);
    return v;
#endif
}

MXCI_INLINE void mxci_store_f16(mxc_f16 *p, mxci_v_f32 v) {
#if defined(__F16C__)
    mxci_f16_words words = __builtin_ia32_vcvtps2ph256(v, 0);
    memcpy(p, &words, sizeof words);
#else
    for (int i = 0; i < 8; i++)
        p[i] = mxc_float_to_f16(v[i]);
#endif
}

/* Non-temporal store at an address aligned to 32 bytes: the cache line is neither read first nor kept. Such stores are
 * ordered by mxci_fence only. */
MXCI_INLINE void mxci_store_nontemporal_f32(float *p, mxci_v_f32 v) {
#if defined(__clang__)
    __builtin_nontemporal_store(v, (mxci_v_f32 *)(void *)p);
#elif defined(__AVX__)
    __builtin_ia32_movntps256(p, v);
#elif defined(__SSE__)
    __builtin_ia32_movntps(p, __builtin_shufflevector(v, v, 0, 1, 2, 3));
    __builtin_ia32_movntps(p + 4, __builtin_shufflevector(v, v, 4, 5, 6, 7));
#else
    mxci_store_f32(p, v);
#endif
}

MXCI_INLINE void mxci_fence(void) {
#if defined(__SSE__)
    __builtin_ia32_sfence();
#endif
}

/* Lanes of a where mask is -1, of b where it is 0. */
MXCI_INLINE mxci_v_f32 mxci_select_f32(mxci_mask_f32 mask, mxci_v_f32 a, mxci_v_f32 b) {
    return (mxci_v_f32)((mask & (mxci_mask_f32)a) | (~mask & (mxci_mask_f32)b));
}
MXCI_INLINE mxci_v_f64 mxci_select_f64(mxci_mask_f64 mask, mxci_v_f64 a, mxci_v_f64 b) {
    return (mxci_v_f64)((mask & (mxci_mask_f64)a) | (~mask & (mxci_mask_f64)b));
}

/* Lanes below n: -1, others 0. */
MXCI_INLINE mxci_mask_f32 mxci_below_f32(int n) {
    return (mxci_mask_f32){0, 1, 2, 3, 4, 5, 6, 7} < (mxci_mask_f32){n, n, n, n, n, n, n, n};
}
MXCI_INLINE mxci_mask_f64 mxci_below_f64(int n) {
    return (mxci_mask_f64){0, 1, 2, 3} < (mxci_mask_f64){n, n, n, n};
}

/* Transpose a square of vectors in place: lane j of v[i] and lane i of v[j] change places. */
MXCI_INLINE void mxci_transpose_f32(mxci_v_f32 v[8]) {
    mxci_v_f32 t[8];
    MXCI_UNROLL
    for (int i = 0; i < 4; i++) { /* pairs of rows, interleaved within each half */
        t[2 * i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        t[2 * i + 1] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    MXCI_UNROLL
    for (int i = 0; i < 2; i++) { /* fours of rows */
        const mxci_v_f32 *s = t + 4 * i;
        v[4 * i] = __builtin_shufflevector(s[0], s[2], 0, 1, 8, 9, 4, 5, 12, 13);
        v[4 * i + 1] = __builtin_shufflevector(s[0], s[2], 2, 3, 10, 11, 6, 7, 14, 15);
        v[4 * i + 2] = __builtin_shufflevector(s[1], s[3], 0, 1, 8, 9, 4, 5, 12, 13);
        v[4 * i + 3] = __builtin_shufflevector(s[1], s[3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    MXCI_UNROLL
    for (int i = 0; i < 4; i++) { /* halves change places */
        mxci_v_f32 low = v[i], high = v[i + 4];
        v[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11);
        v[i + 4] = __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

typedef uint16_t mxci_v_u16 __attribute__((vector_size(16)));
typedef uint8_t mxci_v_u8 __attribute__((vector_size(16)));

/* Squares of small elements: each vector is interleaved with the one half a square on, until halving gets to 1. */
MXCI_INLINE void mxci_transpose_u16(mxci_v_u16 v[8]) {
    mxci_v_u16 t[8];
    MXCI_UNROLL
    for (int step = 0; step < 3; step++) {
        MXCI_UNROLL
        for (int i = 0; i < 4; i++) {
            t[2 * i] = __builtin_shufflevector(v[i], v[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
            t[2 * i + 1] = __builtin_shufflevector(v[i], v[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
        }
        MXCI_UNROLL
        for (int i = 0; i < 8; i++)
            v[i] = t[i];
    }
}

MXCI_INLINE void mxci_transpose_u8(mxci_v_u8 v[16]) {
    mxci_v_u8 t[16];
    MXCI_UNROLL
    for (int step = 0; step < 4; step++) {
        MXCI_UNROLL
        for (int i = 0; i < 8; i++) {
            t[2 * i] = __builtin_shufflevector(v[i], v[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            t[2 * i + 1] =
                __builtin_shufflevector(v[i], v[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        }
        MXCI_UNROLL
        for (int i = 0; i < 16; i++)
            v[i] = t[i];
    }
}

MXCI_INLINE void mxci_transpose_f64(mxci_v_f64 v[4]) {
    mxci_v_f64 t[4];
    MXCI_UNROLL
    for (int i = 0; i < 2; i++) {
        t[2 * i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 4, 2, 6);
        t[2 * i + 1] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 1, 5, 3, 7);
    }
    MXCI_UNROLL
    for (int i = 0; i < 2; i++) {
        v[i] = __builtin_shufflevector(t[i], t[i + 2], 0, 1, 4, 5);
        v[i + 2] = __builtin_shufflevector(t[i], t[i + 2], 2, 3, 6, 7);
    }
}

#endif

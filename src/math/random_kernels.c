/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers in bulk: Philox words by the block, then uniform and normal floats from them. */
#include "math/random_kernels.h"

#include <math.h>
#include <string.h>

#include <mxc/philox.h>

#include "base/simd.h"

enum { LANES = 4, GROUPS = 4, BLOCKS = LANES * GROUPS, BATCH = 256 }; /* computed side by side; words held at once */

static mxci_v_u64 splat(uint64_t x) {
    return (mxci_v_u64){x, x, x, x};
}

/* Word i of LANES blocks each, in the lower halves of lanes; the upper halves have no meaning. */
typedef struct group {
    mxci_v_u64 word[4];
} group;

/* mxc_philox_round. */
MXCI_INLINE void group_round(group *g, mxci_v_u64 key0, mxci_v_u64 key1) {
    mxci_v_u64 a = mxci_mul_halves(splat(MXC_PHILOX_M0), g->word[0]);
    mxci_v_u64 b = mxci_mul_halves(splat(MXC_PHILOX_M1), g->word[2]);
    g->word[0] = (b >> 32) ^ g->word[1] ^ key0;
    g->word[1] = b;
    g->word[2] = (a >> 32) ^ g->word[3] ^ key1;
    g->word[3] = a;
}

/* BLOCKS whole blocks from block number block on. */
static void many_blocks(uint64_t seed, uint64_t stream, uint64_t block, uint32_t *out) {
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    group g[GROUPS];
    MXCI_UNROLL
    for (int i = 0; i < GROUPS; i++) {
        mxci_v_u64 number = splat(block + (uint64_t)(i * LANES)) + (mxci_v_u64){0, 1, 2, 3};
        g[i] = (group){{number, number >> 32, splat(stream), splat(stream >> 32)}};
    }
    for (uint32_t round = 0; round < 10; round++) {
        mxci_v_u64 k0 = splat(key0 + round * 0x9E3779B9u), k1 = splat(key1 + round * 0xBB67AE85u);
        MXCI_UNROLL
        for (int i = 0; i < GROUPS; i++)
            group_round(&g[i], k0, k1);
    }
    for (int i = 0; i < GROUPS; i++) {
        mxci_v_u64 low = (g[i].word[0] & 0xffffffffu) | g[i].word[1] << 32;
        mxci_v_u64 high = (g[i].word[2] & 0xffffffffu) | g[i].word[3] << 32;
        mxci_v_u64 pairs[2] = {
            __builtin_shufflevector(low, high, 0, 4, 1, 5),
            __builtin_shufflevector(low, high, 2, 6, 3, 7),
        };
        memcpy(out + 4 * LANES * i, pairs, sizeof pairs);
    }
}

void mxci_random_words(uint64_t seed, uint64_t stream, uint64_t first, int64_t n, uint32_t *out) {
    int64_t i = 0;
    for (; i < n && (first + (uint64_t)i) % 4 != 0; i++)
        out[i] = mxc_philox_number(seed, stream, first + (uint64_t)i);
    for (; i + 4 * BLOCKS <= n; i += 4 * BLOCKS)
        many_blocks(seed, stream, (first + (uint64_t)i) / 4, out + i);
    for (; i < n; i++)
        out[i] = mxc_philox_number(seed, stream, first + (uint64_t)i);
}

/* ---- uniform and normal, once for float and once for double ----------------------------------------------------- */

/* Numbers of 32 bits for an element of each type. */
enum { words_f32 = 1, words_f64 = 2 };

/* In [0, 1). */
MXCI_INLINE float unit_f32(const uint32_t *words) {
    return mxc_philox_float(words[0]);
}

MXCI_INLINE double unit_f64(const uint32_t *words) {
    return mxc_philox_double(words[0], words[1]);
}

/* In (0, 1], so that its logarithm is finite: all 32 bits, since the tail of the normal comes from here. */
MXCI_INLINE float unit_above_0_f32(const uint32_t *words) {
    return ((float)words[0] + 1.0f) * 2.3283064365386963e-10f;
}

MXCI_INLINE double unit_above_0_f64(const uint32_t *words) {
    return mxc_philox_double(words[0], words[1]) + 1.1102230246251565404e-16;
}

/* libm's functions by type. */
#define libm_f32(function) function##f
#define libm_f64(function) function
#define BODY "math/random_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

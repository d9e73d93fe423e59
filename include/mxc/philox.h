/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Philox4x32-10: four random words from a 128-bit counter and a 64-bit key. J. Salmon et al., "Parallel random numbers:
 * as easy as 1, 2, 3", SC 2011. Plain types and inline functions only, read by C and C++ compilers and by nvcc.
 * mxc/random.h and mxc/kernel.hpp have what operators use.
 *
 * Number i of a stream is word i % 4 of the block whose counter is (i / 4, stream) and whose key is the seed.
 */
#ifndef MXC_PHILOX_H
#define MXC_PHILOX_H

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define MXC_PHILOX_FN static __host__ __device__ __forceinline__
#else
#define MXC_PHILOX_FN static inline
#endif

/* The rounds' multipliers. */
#define MXC_PHILOX_M0 0xD2511F53u
#define MXC_PHILOX_M1 0xCD9E8D57u

typedef struct mxc_philox {
    uint32_t word[4];
} mxc_philox;

/* One of the ten rounds: x is mixed in place with the round's key. */
MXC_PHILOX_FN void mxc_philox_round(mxc_philox *x, uint32_t key0, uint32_t key1) {
    uint64_t a = (uint64_t)MXC_PHILOX_M0 * x->word[0], b = (uint64_t)MXC_PHILOX_M1 * x->word[2];
    uint32_t word1 = x->word[1], word3 = x->word[3];
    x->word[0] = (uint32_t)(b >> 32) ^ word1 ^ key0;
    x->word[1] = (uint32_t)b;
    x->word[2] = (uint32_t)(a >> 32) ^ word3 ^ key1;
    x->word[3] = (uint32_t)a;
}

/* Ten rounds; the key grows by the Weyl constants of the paper. */
MXC_PHILOX_FN mxc_philox mxc_philox_block(mxc_philox counter, uint32_t key0, uint32_t key1) {
    for (int i = 0; i < 10; i++)
        mxc_philox_round(&counter, key0 + (uint32_t)i * 0x9E3779B9u, key1 + (uint32_t)i * 0xBB67AE85u);
    return counter;
}

/* Block number block of a stream: its numbers 4 * block to 4 * block + 3. */
MXC_PHILOX_FN mxc_philox mxc_philox_stream(uint64_t seed, uint64_t stream, uint64_t block) {
    mxc_philox counter;
    counter.word[0] = (uint32_t)block;
    counter.word[1] = (uint32_t)(block >> 32);
    counter.word[2] = (uint32_t)stream;
    counter.word[3] = (uint32_t)(stream >> 32);
    return mxc_philox_block(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
}

/* 32 random bits: number i of a stream. */
MXC_PHILOX_FN uint32_t mxc_philox_number(uint64_t seed, uint64_t stream, uint64_t i) {
    return mxc_philox_stream(seed, stream, i / 4).word[i % 4];
}

/* The upper 24 bits as a float in [0, 1). */
MXC_PHILOX_FN float mxc_philox_float(uint32_t bits) {
    return (float)(bits >> 8) * 5.9604644775390625e-8f;
}

/* 53 of 64 bits as a double in [0, 1). */
MXC_PHILOX_FN double mxc_philox_double(uint32_t high, uint32_t low) {
    return (double)(((uint64_t)high << 32 | low) >> 11) * 1.1102230246251565404e-16;
}

/* ---- any number of draws for one position ------------------------------------------------------------------------ */

/* Each position of a stream has blocks of its own in the generator's counter: the first half is the position, the last
 * word counts from 1 (0 belongs to the plain numbers). So rejection may take as many as it likes, and no position
 * depends on another. */

/* The generator of one element: its blocks of random words, of which `used` are drawn. */
typedef struct mxc_draws {
    uint64_t seed, stream, offset;
    uint32_t used; /* blocks */
} mxc_draws;

/* Two uniform numbers of [0, 1): the element's next block. */
MXC_PHILOX_FN void mxc_draw_two(mxc_draws *d, double *u, double *v) {
    mxc_philox x = mxc_philox_stream(d->seed, d->stream | (uint64_t)++d->used << 32, d->offset);
    *u = mxc_philox_double(x.word[0], x.word[1]);
    *v = mxc_philox_double(x.word[2], x.word[3]);
}

/* The upper 64 bits of a product. */
MXC_PHILOX_FN uint64_t mxc_multiply_high(uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

/* An integer below n, n > 0: the upper half of the product of n and 64 random bits. They are drawn again where the
 * lower half is below 2^64 mod n, so that each integer has equally many of the rest (D. Lemire, "Fast random integer
 * generation in an interval", 2019). */
MXC_PHILOX_FN uint64_t mxc_draw_below(mxc_draws *d, uint64_t n) {
    for (;;) {
        mxc_philox x = mxc_philox_stream(d->seed, d->stream | (uint64_t)++d->used << 32, d->offset);
        uint64_t bits = (uint64_t)x.word[0] << 32 | x.word[1], low = bits * n;
        if (low >= n || low >= (0 - n) % n)
            return mxc_multiply_high(bits, n);
    }
}

/* A whole number of low to high - 1; low < high. */
MXC_PHILOX_FN int64_t mxc_draw_integer(mxc_draws *d, int64_t low, int64_t high) {
    return (int64_t)((uint64_t)low + mxc_draw_below(d, (uint64_t)high - (uint64_t)low));
}

/* By the Box-Muller transform. */
MXC_PHILOX_FN double mxc_draw_normal(mxc_draws *d, double mean, double deviation) {
    double u, v;
    mxc_draw_two(d, &u, &v);
    return mean + deviation * sqrt(-2 * log(1 - u)) * cos(6.28318530717958647692 * v);
}

#endif

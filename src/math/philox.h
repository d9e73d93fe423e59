/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Philox4x32-10: four random words from a 128-bit counter and a 64-bit key. J. Salmon et al., "Parallel random numbers:
 * as easy as 1, 2, 3", SC 2011. Plain types and inline functions only, read by the C compiler and by nvcc.
 *
 * Number i of a stream is word i % 4 of the block whose counter is (i / 4, stream) and whose key is the seed.
 */
#ifndef MXCI_MATH_PHILOX_H
#define MXCI_MATH_PHILOX_H

#include <stdint.h>

#ifdef __CUDACC__
#define MXCI_PHILOX_FN static __host__ __device__ __forceinline__
#else
#define MXCI_PHILOX_FN static inline
#endif

/* The rounds' multipliers. */
#define MXCI_PHILOX_M0 0xD2511F53u
#define MXCI_PHILOX_M1 0xCD9E8D57u

typedef struct mxci_philox {
    uint32_t word[4];
} mxci_philox;

/* One of the ten rounds: x is mixed in place with the round's key. */
MXCI_PHILOX_FN void mxci_philox_round(mxci_philox *x, uint32_t key0, uint32_t key1) {
    uint64_t a = (uint64_t)MXCI_PHILOX_M0 * x->word[0], b = (uint64_t)MXCI_PHILOX_M1 * x->word[2];
    uint32_t word1 = x->word[1], word3 = x->word[3];
    x->word[0] = (uint32_t)(b >> 32) ^ word1 ^ key0;
    x->word[1] = (uint32_t)b;
    x->word[2] = (uint32_t)(a >> 32) ^ word3 ^ key1;
    x->word[3] = (uint32_t)a;
}

/* Ten rounds; the key grows by the Weyl constants of the paper. */
MXCI_PHILOX_FN mxci_philox mxci_philox_block(mxci_philox counter, uint32_t key0, uint32_t key1) {
    for (int i = 0; i < 10; i++)
        mxci_philox_round(&counter, key0 + (uint32_t)i * 0x9E3779B9u, key1 + (uint32_t)i * 0xBB67AE85u);
    return counter;
}

/* Block number block of a stream: its numbers 4 * block to 4 * block + 3. */
MXCI_PHILOX_FN mxci_philox mxci_philox_stream(uint64_t seed, uint64_t stream, uint64_t block) {
    mxci_philox counter;
    counter.word[0] = (uint32_t)block;
    counter.word[1] = (uint32_t)(block >> 32);
    counter.word[2] = (uint32_t)stream;
    counter.word[3] = (uint32_t)(stream >> 32);
    return mxci_philox_block(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
}

/* 32 random bits: number i of a stream. */
MXCI_PHILOX_FN uint32_t mxci_philox_number(uint64_t seed, uint64_t stream, uint64_t i) {
    return mxci_philox_stream(seed, stream, i / 4).word[i % 4];
}

/* The upper 24 bits as a float in [0, 1). */
MXCI_PHILOX_FN float mxci_philox_float(uint32_t bits) {
    return (float)(bits >> 8) * 5.9604644775390625e-8f;
}

/* 53 of 64 bits as a double in [0, 1). */
MXCI_PHILOX_FN double mxci_philox_double(uint32_t high, uint32_t low) {
    return (double)(((uint64_t)high << 32 | low) >> 11) * 1.1102230246251565404e-16;
}

#endif

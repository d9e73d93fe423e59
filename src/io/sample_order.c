/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shuffle as a function: a Feistel network over the smallest even number of bits that holds all positions, applied
 * again while the result is not below n ("cycle walking": Black and Rogaway 2002, "Ciphers with arbitrary finite
 * domains"). So any position of any epoch, also after a restored state, is found without a table of the epoch.
 */
#include "io/sample_order.h"

#include <math.h>

#include <mxc/philox.h>

enum { ROUNDS = 8, NUMBERS = 1 << 20 };
static const uint64_t shuffle_stream = UINT64_C(0x4f52444552) << 24; /* distinct from the samples' streams */

/* Half of the number of bits that hold a position below n. */
static int half_of(int64_t n) {
    int half = 1;
    while (half < 31 && (int64_t)1 << 2 * half < n)
        half++;
    return half;
}

static uint64_t round_function(uint64_t seed, uint64_t epoch, uint64_t low, uint64_t round) {
    return mxc_philox_stream(seed, shuffle_stream ^ epoch, low * ROUNDS + round).word[0];
}

int64_t mxci_shuffled_sample(uint64_t seed, uint64_t epoch, int64_t n, int64_t position) {
    const int half = half_of(n);
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    uint64_t at = (uint64_t)position;
    do
        for (uint64_t round = 0; round < ROUNDS; round++) {
            uint64_t low = at & mask, high = at >> half;
            at = low << half | ((high ^ round_function(seed, epoch, low, round)) & mask);
        }
    while (at >= (uint64_t)n);
    return (int64_t)at;
}

int64_t mxci_shuffled_position(uint64_t seed, uint64_t epoch, int64_t n, int64_t sample) {
    const int half = half_of(n);
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    uint64_t at = (uint64_t)sample;
    do
        for (uint64_t round = ROUNDS; round-- > 0;) {
            uint64_t low = at >> half, high = (at ^ round_function(seed, epoch, low, round)) & mask;
            at = high << half | low;
        }
    while (at >= (uint64_t)n);
    return (int64_t)at;
}

/* The last chunk may be shorter. Positions behind it are counted as if it were full, so that all chunks have the same
 * size. */
int64_t mxci_chunk_shuffled_sample(const mxci_chunk_shuffle *c, uint64_t epoch, int64_t n, int64_t position) {
    const int64_t chunks = (n + c->size - 1) / c->size, missing = chunks * c->size - n;
    const int64_t last = mxci_shuffled_position(c->chunk_seed, epoch, chunks, chunks - 1);
    if (position >= (last + 1) * c->size - missing)
        position += missing;
    int64_t chunk = mxci_shuffled_sample(c->chunk_seed, epoch, chunks, position / c->size);
    int64_t size = chunk == chunks - 1 ? c->size - missing : c->size;
    uint64_t seed = c->seed + UINT64_C(0x9E3779B97F4A7C15) * ((uint64_t)chunk + 1); /* a seed for each chunk */
    return chunk * c->size + mxci_shuffled_sample(seed, epoch, size, position % c->size);
}

static uint32_t draw_bits(mxci_sample_rng *rng) {
    return mxc_philox_number(rng->seed, rng->sample, rng->epoch * NUMBERS + rng->n_drawn++ % NUMBERS);
}

double mxci_sample_rng_unit(mxci_sample_rng *rng) {
    uint32_t high = draw_bits(rng);
    return mxc_philox_double(high, draw_bits(rng));
}

double mxci_sample_rng_between(mxci_sample_rng *rng, double low, double high) {
    return low + (high - low) * mxci_sample_rng_unit(rng);
}

int64_t mxci_sample_rng_int(mxci_sample_rng *rng, int64_t low, int64_t high) {
    return low + (int64_t)(mxci_sample_rng_unit(rng) * (double)(high - low + 1));
}

/* By the method of Box and Muller. */
double mxci_sample_rng_normal(mxci_sample_rng *rng) {
    double radius = sqrt(-2 * log(1 - mxci_sample_rng_unit(rng)));
    return radius * cos(2 * M_PI * mxci_sample_rng_unit(rng));
}

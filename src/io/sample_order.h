/* SPDX-License-Identifier: Apache-2.0 */
/* The order of samples: parts, shuffles that are computed position by position without a table, and the random
 * generator of one sample. */
#ifndef MXCI_IO_SAMPLE_ORDER_H
#define MXCI_IO_SAMPLE_ORDER_H

#include <stdint.h>

/* The sample at a position of a shuffled epoch: a permutation of 0 to n-1. 0 <= position < n. */
int64_t mxci_shuffled_sample(uint64_t seed, uint64_t epoch, int64_t n, int64_t position);

/* The inverse: the position at which mxci_shuffled_sample has a sample. */
int64_t mxci_shuffled_position(uint64_t seed, uint64_t epoch, int64_t n, int64_t sample);

/* A shuffle that keeps neighbours together, for files that are read sequentially: chunks of size samples in shuffled
 * order, and the samples of each chunk shuffled. */
typedef struct mxci_chunk_shuffle {
    uint64_t seed, chunk_seed;
    int64_t size; /* at least 1 */
} mxci_chunk_shuffle;
int64_t mxci_chunk_shuffled_sample(const mxci_chunk_shuffle *chunks, uint64_t epoch, int64_t n, int64_t position);

/* First sample of a part; it ends where the next part begins. */
static inline int64_t mxci_sample_part_begin(int64_t n, int64_t part, int64_t parts) {
    return n / parts * part + n % parts * part / parts;
}

/* A counter-based random generator of one sample in one epoch: its numbers depend on nothing else, so they are the same
 * for any number of threads. Start from { seed, sample, epoch, 0 }. */
typedef struct mxci_sample_rng {
    uint64_t seed, sample, epoch;
    uint32_t n_drawn;
} mxci_sample_rng;

double mxci_sample_rng_unit(mxci_sample_rng *rng); /* in [0, 1) */
double mxci_sample_rng_between(mxci_sample_rng *rng, double low, double high);
int64_t mxci_sample_rng_int(mxci_sample_rng *rng, int64_t low, int64_t high); /* both inclusive */
double mxci_sample_rng_normal(mxci_sample_rng *rng);

#endif

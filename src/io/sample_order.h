/* Which samples: parts, the order of an epoch place by place and without memory, and random numbers of one sample. */
#ifndef MXCI_IO_SAMPLE_ORDER_H
#define MXCI_IO_SAMPLE_ORDER_H

#include <stdint.h>

/* The sample at a place of an epoch in which n samples each come once, shuffled. 0 <= place < n. */
int64_t mxci_shuffled_sample(uint64_t seed, uint64_t epoch, int64_t n, int64_t place);

/* The place where mxci_shuffled_sample has a sample. */
int64_t mxci_shuffled_position(uint64_t seed, uint64_t epoch, int64_t n, int64_t sample);

/* An order that leaves together what lies together: chunks of size samples in a shuffled order, each shuffled. */
typedef struct mxci_chunk_shuffle {
    uint64_t seed, chunk_seed;
    int64_t size; /* at least 1 */
} mxci_chunk_shuffle;
int64_t mxci_chunk_shuffled_sample(const mxci_chunk_shuffle *chunks, uint64_t epoch, int64_t n, int64_t place);

/* Where part number part of n samples begins; it ends where the next begins. */
static inline int64_t mxci_sample_part_begin(int64_t n, int64_t part, int64_t parts) {
    return n / parts * part + n % parts * part / parts;
}

/* Numbers of one sample in one epoch; the same whoever asks, and when. Start from { seed, sample, epoch, 0 }. */
typedef struct mxci_sample_rng {
    uint64_t seed, sample, epoch;
    uint32_t n_drawn;
} mxci_sample_rng;

double mxci_sample_rng_unit(mxci_sample_rng *rng); /* in [0, 1) */
double mxci_sample_rng_between(mxci_sample_rng *rng, double low, double high);
int64_t mxci_sample_rng_int(mxci_sample_rng *rng, int64_t low, int64_t high); /* both included */
double mxci_sample_rng_normal(mxci_sample_rng *rng);

#endif

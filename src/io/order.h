/* Which samples: parts, the order of an epoch place by place and without memory, and random numbers of one sample. */
#ifndef MXCI_IO_ORDER_H
#define MXCI_IO_ORDER_H

#include <stdint.h>

/* The sample at a place of an epoch in which n samples each come once, shuffled. 0 <= place < n. */
int64_t mxci_order_at(uint64_t seed, uint64_t epoch, int64_t n, int64_t place);

/* The place where mxci_order_at has a sample. */
int64_t mxci_order_place(uint64_t seed, uint64_t epoch, int64_t n, int64_t sample);

/* An order that leaves together what lies together: chunks of size samples in a shuffled order, each shuffled. */
typedef struct mxci_chunks {
    uint64_t seed, chunk_seed;
    int64_t size; /* at least 1 */
} mxci_chunks;
int64_t mxci_order_in_chunks(const mxci_chunks *chunks, uint64_t epoch, int64_t n, int64_t place);

/* Where part number part of n samples begins; it ends where the next begins. */
static inline int64_t mxci_part_begin(int64_t n, int64_t part, int64_t parts) {
    return n / parts * part + n % parts * part / parts;
}

/* Numbers of one sample in one epoch; the same whoever asks, and when. Start from { seed, sample, epoch, 0 }. */
typedef struct mxci_dice {
    uint64_t seed, sample, epoch;
    uint32_t thrown;
} mxci_dice;

double mxci_dice_unit(mxci_dice *dice); /* in [0, 1) */
double mxci_dice_between(mxci_dice *dice, double low, double high);
int64_t mxci_dice_int(mxci_dice *dice, int64_t low, int64_t high); /* both included */
double mxci_dice_normal(mxci_dice *dice);

#endif

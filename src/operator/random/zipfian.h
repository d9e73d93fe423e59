/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and arithmetic of _sample_unique_zipfian, for C and GPU modules. */
#ifndef MXCI_OPERATOR_RANDOM_ZIPFIAN_H
#define MXCI_OPERATOR_RANDOM_ZIPFIAN_H

#include <mxc/param.h>

#include "math/distributions.h"

typedef struct mxci_zipfian_params {
    int64_t range_max;
    mxc_tuple shape;
} mxci_zipfian_params;

/* Slots of the hash table of n classes: a power of two, at most half of them in use. */
static inline int64_t mxci_zipfian_slots(int64_t n) {
    int64_t slots = 2;
    while (slots < 2 * n)
        slots *= 2;
    return slots;
}

enum { MXCI_ZIPFIAN_DRAWS = 1000 };

/* A class of 0..range_max-1 with probability log((c + 2) / (c + 1)) / log(range_max + 1). */
MXC_PHILOX_FN int64_t mxci_draw_zipfian(mxc_draws *draws, int64_t range_max) {
    double u, unused;
    int64_t c;
    mxc_draw_two(draws, &u, &unused);
    c = (int64_t)exp(u * log((double)range_max + 1)) - 1;
    return c < 0 ? 0 : c < range_max ? c : range_max - 1;
}

/* Draws until n different classes are found, and returns how many draws it took. The table (slots, open addressing)
 * holds a class + 1, or 0 where nothing is. If the last classes are so rare that MXCI_ZIPFIAN_DRAWS draws per class do
 * not find them, those that are missing follow in order. */
MXC_PHILOX_FN int64_t mxci_zipfian_row(mxc_draws *draws, int64_t range_max, int64_t n, int64_t slots, int64_t *table,
                                       int64_t *classes) {
    int64_t tries = 0, found = 0, next = 0;
    for (int64_t i = 0; i < slots; i++)
        table[i] = 0;
    while (found < n) {
        const int is_drawn = tries < MXCI_ZIPFIAN_DRAWS * n;
        const int64_t c = is_drawn ? mxci_draw_zipfian(draws, range_max) : next++;
        int64_t at = (int64_t)((uint64_t)c * 0x9E3779B97F4A7C15u & (uint64_t)(slots - 1));
        tries += is_drawn;
        while (table[at] != 0 && table[at] != c + 1)
            at = (at + 1) & (slots - 1);
        if (table[at] == 0) {
            table[at] = c + 1;
            classes[found++] = c;
        }
    }
    return tries;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A random order, for C and GPU modules. */
#ifndef MXCI_OPERATOR_RANDOM_SHUFFLE_H
#define MXCI_OPERATOR_RANDOM_SHUFFLE_H

#include <mxc/random.h>
#include <mxc/types.h>

#include "math/distributions.h"

/* What is shuffled: the elements along axis 0; one of an array without axes. */
static inline int64_t mxci_shuffle_rows(const mxc_shape *shape) {
    return shape->ndim > 0 ? shape->dim[0] : 1;
}

/* order = 0..n-1 shuffled (R. Fisher and F. Yates; the form of R. Durstenfeld, 1964): position i is swapped with one of
 * 0..i, drawn at position i of the random range. */
MXC_PHILOX_FN void mxci_shuffle_order(mxc_random random, int64_t n, int64_t *order) {
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        mxc_draws draws = {random.seed, random.stream, random.offset + (uint64_t)i, 0};
        const int64_t at = mxc_draw_integer(&draws, 0, i + 1), kept = order[i];
        order[i] = order[at];
        order[at] = kept;
    }
}

#endif

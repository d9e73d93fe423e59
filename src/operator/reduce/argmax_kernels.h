/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the greatest or least element is. A place holds the best element so far, in the compute type, and its index, a
 * number of that type too, since one width makes quick loops; in float it is rounded as the result is in any case. A
 * NaN beats numbers, nothing beats a NaN; of equals the first stays.
 */
#ifndef MXCI_OPERATOR_REDUCE_ARGMAX_KERNELS_H
#define MXCI_OPERATOR_REDUCE_ARGMAX_KERNELS_H

#include "math/tile_kernels.h"

typedef struct mxci_arg_kernel {
    /* Place i is offered x[i], all of one index; where that is first, it takes it. */
    void (*offer)(int64_t n, const void *x, int64_t index, int first, void *best, void *where);
    /* One place is offered n neighbours of indices index, index + 1... */
    void (*offer_row)(int64_t n, const void *x, int64_t index, int first, void *best, void *where);
    /* Place i is offered what place i of others, which were searched later, holds. */
    void (*merge)(int64_t n, const void *other_best, const void *other_where, void *best, void *where);
} mxci_arg_kernel;

/* By compute type. */
extern const mxci_arg_kernel mxci_argmax_kernels[MXCI_COMPUTE_LIMIT], mxci_argmin_kernels[MXCI_COMPUTE_LIMIT];

#endif

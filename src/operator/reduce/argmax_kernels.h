/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argmax and argmin. A candidate is the best element so far, in the compute type, and its index, a number of that type
 * too, since loops over one width vectorize; in float the index is rounded, as the float32 result is in any case. A NaN
 * beats numbers, nothing beats a NaN; of equal elements the first stays.
 */
#ifndef MXCI_OPERATOR_REDUCE_ARGMAX_KERNELS_H
#define MXCI_OPERATOR_REDUCE_ARGMAX_KERNELS_H

#include "math/tile_kernels.h"

typedef struct mxci_arg_kernel {
    /* Candidate i is compared with x[i], all of one index; first: there is no candidate yet. */
    void (*update)(int64_t n, const void *x, int64_t index, int first, void *best, void *best_index);
    /* One candidate is compared with n neighbours of indices index, index + 1... */
    void (*update_row)(int64_t n, const void *x, int64_t index, int first, void *best, void *best_index);
    /* Candidate i is compared with candidate i of another chunk, which is behind it. */
    void (*merge)(int64_t n, const void *other_best, const void *other_index, void *best, void *best_index);
} mxci_arg_kernel;

/* By compute type. */
extern const mxci_arg_kernel mxci_argmax_kernels[MXCI_COMPUTE_LIMIT], mxci_argmin_kernels[MXCI_COMPUTE_LIMIT];

#endif

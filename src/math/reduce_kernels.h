/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduction loops over dense rows in a compute type. Accumulators are double, int64_t for integers. The order of
 * additions depends on the length of rows only.
 */
#ifndef MXCI_MATH_REDUCE_KERNELS_H
#define MXCI_MATH_REDUCE_KERNELS_H

#include "math/tile_kernels.h"

enum {
#define REDUCE(id, ...) MXCI_REDUCE_##id,
#include "math/reduce_kernels.def"
#undef REDUCE
    MXCI_REDUCE_COUNT
};

/* By compute type; acc points to double or int64_t. */
typedef struct mxci_reduce_kernel {
    void (*start)(int64_t n, void *acc); /* acc[0..n) = the value of nothing */
    /* Of count rows of n, which begin stride elements apart: accumulator k takes row k, or element k of all of them. */
    void (*along)(int64_t n, int64_t count, int64_t stride, const void *x, void *acc);
    void (*across)(int64_t n, int64_t count, int64_t stride, const void *x, void *acc);
    void (*combine)(int64_t n, const void *b, void *acc); /* accumulator i takes accumulator b[i] */
} mxci_reduce_kernel;
extern const mxci_reduce_kernel mxci_reduce_kernels[MXCI_REDUCE_COUNT][MXCI_COMPUTE_LIMIT];

/* Gradients: in_grad of (g, x, y), where g and y are broadcast over x. */
extern const mxci_map_fn mxci_reduce_grad_select[MXCI_COMPUTE_LIMIT];  /* g where x = y: max, min */
extern const mxci_map_fn mxci_reduce_grad_prod[MXCI_COMPUTE_LIMIT];    /* g y / x */
extern const mxci_map_fn mxci_reduce_grad_nanprod[MXCI_COMPUTE_LIMIT]; /* the same, 0 where x is NaN */
extern const mxci_map_fn mxci_reduce_grad_norm[MXCI_COMPUTE_LIMIT];    /* g x / y, 0 where y is 0 */
extern const mxci_map_fn mxci_reduce_grad_abs[MXCI_COMPUTE_LIMIT];     /* g times the sign of x */
extern const mxci_map_fn mxci_reduce_grad_nansum[MXCI_COMPUTE_LIMIT];  /* g, 0 where x is NaN */
extern const mxci_map_fn mxci_reduce_grad_square[MXCI_COMPUTE_LIMIT];  /* 2 g x */
extern const mxci_map_fn mxci_reduce_grad_scale[MXCI_COMPUTE_LIMIT];   /* of (g, s): g s */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scaling to an L2 norm of 1. Arrays are seen as (outer, k, inner): the k elements that stand inner apart share one
 * norm. Work is counted in strips: up to MXCI_L2_COLUMNS neighbours of inner, all of k.
 */
#ifndef MXCI_OPERATOR_NN_L2_NORMALIZATION_KERNELS_H
#define MXCI_OPERATOR_NN_L2_NORMALIZATION_KERNELS_H

#include <stdint.h>

#include <mxc/types.h>

#define MXCI_L2_COLUMNS 64

typedef struct mxci_l2_shape {
    int64_t k, inner;
    double eps;
    int add; /* the result is added to what is there */
} mxci_l2_shape;

static inline int64_t mxci_l2_strips(int64_t outer, int64_t inner) {
    return outer * ((inner + MXCI_L2_COLUMNS - 1) / MXCI_L2_COLUMNS);
}

/* Elements of a strip, at most. */
static inline int64_t mxci_l2_strip_size(const mxci_l2_shape *s) {
    return s->k * (s->inner < MXCI_L2_COLUMNS ? s->inner : MXCI_L2_COLUMNS);
}

/* Strips begin..end-1: y = x / sqrt(sum of x^2 + eps); y may be x. */
typedef void (*mxci_l2_forward_fn)(const mxci_l2_shape *s, const void *x, void *y, int64_t begin, int64_t end);
/* With r = 1 / sqrt(sum of x^2 + eps): dx = r g - x r^3 (sum of g x); dx may be g. */
typedef void (*mxci_l2_backward_fn)(const mxci_l2_shape *s, const void *x, const void *g, void *dx, int64_t begin,
                                    int64_t end);

extern const mxci_l2_forward_fn mxci_l2_forward[MXC_DTYPE_LIMIT];
extern const mxci_l2_backward_fn mxci_l2_backward[MXC_DTYPE_LIMIT];

#endif

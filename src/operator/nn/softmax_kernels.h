/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Softmax and its gradients, tables by dtype (the floating ones). Arrays are (outer, K, inner); softmax runs along K.
 * begin..end-1 are outer indices.
 */
#ifndef MXCI_OPERATOR_NN_SOFTMAX_KERNELS_H
#define MXCI_OPERATOR_NN_SOFTMAX_KERNELS_H

#include <stdint.h>

#include <mxc/types.h>

typedef struct mxci_softmax_shape {
    int64_t k, inner;
    double scale; /* what x is multiplied by: 1 / temperature; may be negative */
    /* (outer, inner): how many elements of each row count; of the others y and dx become 0. NULL: all. Not read by the
     * loss. */
    const int64_t *length;
} mxci_softmax_shape;

/* y = or += softmax(scale x), or its logarithm. y may be x unless add. */
typedef void (*mxci_softmax_forward_fn)(const mxci_softmax_shape *s, int add, const void *x, void *y, int64_t begin,
                                        int64_t end);
extern const mxci_softmax_forward_fn mxci_softmax_forward[MXC_DTYPE_LIMIT], mxci_log_softmax_forward[MXC_DTYPE_LIMIT];

/* dx = or += scale y (dy - sum over K of dy y), of the logarithm scale (dy - e^y sum over K of dy). dx may be dy or y.
 */
typedef void (*mxci_softmax_backward_fn)(const mxci_softmax_shape *s, int add, const void *dy, const void *y, void *dx,
                                         int64_t begin, int64_t end);
extern const mxci_softmax_backward_fn mxci_softmax_backward[MXC_DTYPE_LIMIT],
    mxci_log_softmax_backward[MXC_DTYPE_LIMIT];

typedef struct mxci_softmax_loss {
    mxci_softmax_shape shape;
    int dense;      /* labels are probabilities of y's shape, else class numbers (outer, inner) */
    int use_ignore; /* a class number of ignore gives no gradient */
    double ignore, scale;
    double smooth; /* what a class number's unit vector gives to the other classes, in equal parts */
    int add;
} mxci_softmax_loss;

/* dx = or += scale (y - label), a class number being the unit vector of its class (of none outside 0..K-1); times dy
 * unless dy is NULL. dx may be y. */
typedef void (*mxci_softmax_loss_fn)(const mxci_softmax_loss *l, const void *y, const void *label, const void *dy,
                                     void *dx, int64_t begin, int64_t end);
extern const mxci_softmax_loss_fn mxci_softmax_loss_gradient[MXC_DTYPE_LIMIT];

/* How many of n class numbers are not ignore. */
typedef int64_t (*mxci_softmax_count_fn)(const void *label, int64_t n, double ignore);
extern const mxci_softmax_count_fn mxci_softmax_count[MXC_DTYPE_LIMIT];

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation across channels of one sample (channels, inner). Tables by dtype of the data (the floating ones). */
#ifndef MXCI_OPERATOR_NN_LRN_KERNELS_H
#define MXCI_OPERATOR_NN_LRN_KERNELS_H

#include <stdint.h>

#include <mxc/types.h>

typedef struct mxci_lrn_shape {
    int64_t channels, inner, half_window; /* half_window: channels to each side */
    double scale, beta, knorm;            /* scale: alpha / (2 half_window + 1) */
} mxci_lrn_shape;

enum { MXCI_LRN_TILE = 512 };

/* Positions begin..end-1 of inner, at most MXCI_LRN_TILE, in all channels: norm = knorm + scale (sum of x^2 over near
 * channels), in the compute type, and y = or += x norm^-beta. norm and y may be NULL. */
typedef void (*mxci_lrn_forward_fn)(const mxci_lrn_shape *s, int add, const void *x, void *norm, void *y, int64_t begin,
                                    int64_t end);
extern const mxci_lrn_forward_fn mxci_lrn_forward[MXC_DTYPE_LIMIT];

/* n elements: ratio = dy x norm^(-beta - 1), norm and ratio in the compute type. */
typedef void (*mxci_lrn_ratio_fn)(int64_t n, double beta, const void *dy, const void *x, const void *norm, void *ratio);
extern const mxci_lrn_ratio_fn mxci_lrn_ratio[MXC_DTYPE_LIMIT];

/* Positions as in forward: dx = or += dy norm^-beta - 2 scale beta x (sum of ratio over near channels); dx may be dy.
 */
typedef void (*mxci_lrn_backward_fn)(const mxci_lrn_shape *s, int add, const void *dy, const void *x, const void *norm,
                                     const void *ratio, void *dx, int64_t begin, int64_t end);
extern const mxci_lrn_backward_fn mxci_lrn_backward[MXC_DTYPE_LIMIT];

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalization of one channel: n rows of d contiguous elements, `step` elements apart. With (N,C,spatial) a channel
 * has n = N rows of d = spatial elements, step = C d. Tables by dtype of the data (the floating ones).
 */
#ifndef MXCI_OPERATOR_NN_BATCH_NORM_KERNELS_H
#define MXCI_OPERATOR_NN_BATCH_NORM_KERNELS_H

#include <stdint.h>

#include <mxc/types.h>

typedef struct mxci_channel {
    int64_t n, d, step;
} mxci_channel;

/* Mean, then variance about it (divided by n d). */
typedef void (*mxci_bn_moments_fn)(const mxci_channel *c, const void *x, double *mean, double *variance);
extern const mxci_bn_moments_fn mxci_bn_moments[MXC_DTYPE_LIMIT];

/* y = or += scale (x - mean) + shift; y may be x. */
typedef void (*mxci_bn_affine_fn)(const mxci_channel *c, int add, double scale, double mean, double shift,
                                  const void *x, void *y);
extern const mxci_bn_affine_fn mxci_bn_affine[MXC_DTYPE_LIMIT];

/* Of channels that are neighbours, (N,spatial,C), the coefficients of each, repeated so that a cycle of them is long
 * enough for a loop: n entries, a multiple of the channels, of the data's compute type. */
typedef struct mxci_channel_cycle {
    int64_t n;
    void *factor, *mean, *shift;
} mxci_channel_cycle;

/* y = or += factor (x - mean) + shift for elements begin..begin+n-1 of the array, the first of which x and y point to;
 * y may be x. */
typedef void (*mxci_bn_affine_last_fn)(const mxci_channel_cycle *cycle, int add, int64_t begin, int64_t n,
                                       const void *x, void *y);
extern const mxci_bn_affine_last_fn mxci_bn_affine_last[MXC_DTYPE_LIMIT];

/* x = max(x, 0) for n elements of a floating dtype; NaN stays. */
void mxci_bn_relu(mxc_dtype dtype, int64_t n, void *x);

/* Sums of dy and of dy (x - mean). */
typedef void (*mxci_bn_sums_fn)(const mxci_channel *c, double mean, const void *dy, const void *x, double *sum,
                                double *product);
extern const mxci_bn_sums_fn mxci_bn_sums[MXC_DTYPE_LIMIT];

/* dx = or += a dy + b (x - mean) + c; dx may be dy. */
typedef void (*mxci_bn_combine_fn)(const mxci_channel *channel, int add, const double abc[3], double mean,
                                   const void *dy, const void *x, void *dx);
extern const mxci_bn_combine_fn mxci_bn_combine[MXC_DTYPE_LIMIT];

#endif

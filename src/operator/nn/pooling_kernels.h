/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pooling of one plane (one sample, one channel) of up to three axes, or along the channels of a sample, for f32 and
 * f64. A window is cut to the input; an average divides by the window cut to input and padding, or to the input alone;
 * an empty window gives 0. LP is the root number p of the sum of x^p, p 1 to 3, of which odd ones keep their sign.
 */
#ifndef MXCI_OPERATOR_NN_POOLING_KERNELS_H
#define MXCI_OPERATOR_NN_POOLING_KERNELS_H

#include <stdint.h>

#include "math/loop.h"

enum { MXCI_POOL_MAX, MXCI_POOL_AVG, MXCI_POOL_SUM, MXCI_POOL_LP };

typedef struct mxci_pool_shape {
    int kind;
    int p;                                               /* of LP */
    int excludes_pad;                                    /* an average does not count the padding */
    int64_t in[3], out[3], kernel[3], stride[3], pad[3]; /* missing axes: 1, and pad 0 */
} mxci_pool_shape;

/* Elements of the axis in the window of output o: begin..end-1, none where begin >= end. */
MXCI_SCALAR void mxci_pool_window(const mxci_pool_shape *s, int axis, int64_t o, int64_t *begin, int64_t *end) {
    int64_t start = o * s->stride[axis] - s->pad[axis], stop = start + s->kernel[axis];
    *begin = start > 0 ? start : 0;
    *end = stop < s->in[axis] ? stop : s->in[axis];
}

/* Length of the window as an average counts it. */
MXCI_SCALAR int64_t mxci_pool_length(const mxci_pool_shape *s, int axis, int64_t o) {
    int64_t start = o * s->stride[axis] - s->pad[axis], stop = start + s->kernel[axis];
    int64_t limit = s->in[axis] + (s->excludes_pad ? 0 : s->pad[axis]);
    start = s->excludes_pad && start < 0 ? 0 : start;
    return (stop < limit ? stop : limit) - start;
}

/* A row of outputs, channels begin..end-1 of all, of a sample whose channels are last. */
typedef struct mxci_pool_last {
    int64_t channels, row, begin, end;
    int add;
} mxci_pool_last;

/* What the gradient of an LP's output y is multiplied with for element x: (x / y)^(p - 1); of y = 0 it is 0. */
#define MXCI_POOL_LP_DERIVATIVE(p, x, y) ((p) == 1 ? 1 : (y) == 0 ? 0 : (p) == 2 ? (x) / (y) : (x) / (y) * ((x) / (y)))

/* y = or += pool(x). */
void mxci_pool_forward_f32(const mxci_pool_shape *s, int add, const float *x, float *y);
void mxci_pool_forward_f64(const mxci_pool_shape *s, int add, const double *x, double *y);
/* dx = or +=; x and y are read for the maximum, whose gradient goes to the first of equal elements, and for LP. */
void mxci_pool_backward_f32(const mxci_pool_shape *s, int add, const float *dy, const float *x, const float *y,
                            float *dx);
void mxci_pool_backward_f64(const mxci_pool_shape *s, int add, const double *dy, const double *x, const double *y,
                            double *dx);

/* y = or += pool(x) for a piece of a sample (spatial,C). */
void mxci_pool_last_f32(const mxci_pool_shape *s, const mxci_pool_last *piece, const float *x, float *y);
void mxci_pool_last_f64(const mxci_pool_shape *s, const mxci_pool_last *piece, const double *x, double *y);

#endif

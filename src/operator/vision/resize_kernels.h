/* SPDX-License-Identifier: Apache-2.0 */
/* Resizing of planes: bilinear interpolation, and means of blocks. f32 and f64. */
#ifndef MXCI_OPERATOR_VISION_RESIZE_KERNELS_H
#define MXCI_OPERATOR_VISION_RESIZE_KERNELS_H

#include <stdint.h>

#include "math/loop.h"

/* The elements along one axis that an element of the result is computed from. */
typedef struct mxci_resize_tap {
    int64_t first, last; /* elements of the plane: two neighbours, or the ends of a block */
    double share;        /* the weight of last, where they are neighbours */
} mxci_resize_tap;

/* The tap of element i of out along an axis of in elements (at least 1), by interpolation: aligned puts the centres of
 * the first and last elements of both axes on each other, otherwise their outer edges. A single element of out is the
 * first. */
MXCI_SCALAR mxci_resize_tap mxci_resize_neighbour(int64_t in, int64_t out, int aligned, int64_t i) {
    double step = aligned ? (double)(in - 1) / (double)(out > 1 ? out - 1 : 1) : (double)in / (double)out, at;
    mxci_resize_tap tap;
    step = out > 1 ? step : 0;
    at = aligned ? (double)i * step : ((double)i + 0.5) * step - 0.5;
    tap.first = at > 0 ? (int64_t)at : 0;
    tap.first = tap.first < in ? tap.first : in - 1;
    tap.last = tap.first + 1 < in ? tap.first + 1 : tap.first;
    tap.share = at > 0 ? at - (double)tap.first : 0;
    return tap;
}

/* The tap of a block, elements floor(i in / out) to ceil((i + 1) in / out) - 1; computed in parts, since i * in may
 * overflow. */
MXCI_SCALAR mxci_resize_tap mxci_resize_block(int64_t in, int64_t out, int64_t i) {
    mxci_resize_tap tap;
    tap.first = i * (in / out) + i * (in % out) / out;
    tap.last = (i + 1) * (in / out) + ((i + 1) * (in % out) + out - 1) / out - 1;
    tap.share = 0;
    return tap;
}

/* All taps of an axis. */
void mxci_resize_neighbours(int64_t in, int64_t out, int aligned, mxci_resize_tap *taps);
void mxci_resize_blocks(int64_t in, int64_t out, mxci_resize_tap *taps);

typedef struct mxci_resize_shape {
    int64_t in[2], out[2]; /* height and width of a plane and of its result */
    const mxci_resize_tap *rows, *columns;
    int add; /* results are added to what is there */
} mxci_resize_shape;

/* One plane: y from x, or dx from g. */
#define MXCI_RESIZE_KERNELS(T, suffix)                                             \
    void mxci_resize_##suffix(const mxci_resize_shape *s, const T *x, T *y);       \
    void mxci_resize_grad_##suffix(const mxci_resize_shape *s, const T *g, T *dx); \
    void mxci_block_mean_##suffix(const mxci_resize_shape *s, const T *x, T *y);   \
    void mxci_block_mean_grad_##suffix(const mxci_resize_shape *s, const T *g, T *dx);
MXCI_RESIZE_KERNELS(float, f32)
MXCI_RESIZE_KERNELS(double, f64)
#undef MXCI_RESIZE_KERNELS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reading images at points between their elements. A point is a pair x, y from -1 to 1 (first to last element of an
 * axis); outside of an image is 0. A grid holds the points of one sample: all x, then all y. f32 and f64. */
#ifndef MXCI_OPERATOR_VISION_GRID_KERNELS_H
#define MXCI_OPERATOR_VISION_GRID_KERNELS_H

#include <math.h>
#include <stdint.h>

#include "math/loop.h"

typedef struct mxci_grid_shape {
    int64_t planes, in[2]; /* of a sample of data: channels, height and width, at least 1 */
    int64_t out[2];        /* height and width of the grid */
    int add;               /* results are added to what is there */
} mxci_grid_shape;

/* Steps between n elements; and the coordinate of element i of them. A single element is at -1. */
MXCI_SCALAR double mxci_grid_steps(int64_t n) {
    return (double)(n > 1 ? n - 1 : 1);
}
MXCI_SCALAR double mxci_grid_even(int64_t i, int64_t n) {
    return 2 * (double)i / mxci_grid_steps(n) - 1;
}

/* *before = the element before coordinate g of an axis of n elements, from -1 to n - 1; *behind = the distance of the
 * point from it, 0 to 1. Returns 0 if the point is a step or more outside. */
MXCI_SCALAR int mxci_grid_reach(double g, int64_t n, int64_t *before, double *behind) {
    double at = (g + 1) * (double)(n - 1) / 2;
    if (!(at > -1 && at < (double)n))
        return 0;
    *before = (int64_t)floor(at);
    *behind = at - floor(at);
    return 1;
}

/* Corner k (0 to 3) of those around a point that mxci_grid_reach found: returns its element, and its weights in the
 * value at the point and in the derivatives along x and y; -1: it is outside. */
MXCI_SCALAR int64_t mxci_grid_corner(const int64_t *in, int k, int64_t x0, int64_t y0, double fx, double fy,
                                     double *value, double *derivative_x, double *derivative_y) {
    const int right = k & 1, below = k >> 1;
    const int64_t column = x0 + right, row = y0 + below;
    if (column < 0 || column >= in[1] || row < 0 || row >= in[0])
        return -1;
    *value = (right ? fx : 1 - fx) * (below ? fy : 1 - fy);
    *derivative_x = (right ? 1 : -1) * (below ? fy : 1 - fy) * (double)(in[1] - 1) / 2;
    *derivative_y = (below ? 1 : -1) * (right ? fx : 1 - fx) * (double)(in[0] - 1) / 2;
    return row * in[1] + column;
}

/* All of one sample; points are counted from 0 to out[0] * out[1] - 1. */
typedef struct mxci_grid_kernels {
    /* grid, points begin..end-1: (x, y, 1) times theta (2,3), x and y spread evenly over -1..1. */
    void (*affine)(const mxci_grid_shape *s, const void *theta, void *grid, int64_t begin, int64_t end);
    /* theta's gradient from that of all points. */
    void (*affine_grad)(const mxci_grid_shape *s, const void *grid_grad, void *theta_grad);
    /* grid, points begin..end-1: where element (y, x) is moved to by flow (2, out), which counts elements. */
    void (*warp)(const mxci_grid_shape *s, const void *flow, void *grid, int64_t begin, int64_t end);
    void (*warp_grad)(const mxci_grid_shape *s, const void *grid_grad, void *flow_grad, int64_t begin, int64_t end);
    /* y (planes, points) = x (planes, in) read at points begin..end-1. */
    void (*sample)(const mxci_grid_shape *s, const void *x, const void *grid, void *y, int64_t begin, int64_t end);
    /* The gradient of planes begin..end-1 of x. */
    void (*data_grad)(const mxci_grid_shape *s, const void *grid, const void *g, void *dx, int64_t begin, int64_t end);
    /* The gradient of points begin..end-1. */
    void (*grid_grad)(const mxci_grid_shape *s, const void *x, const void *grid, const void *g, void *dgrid,
                      int64_t begin, int64_t end);
} mxci_grid_kernels;

extern const mxci_grid_kernels mxci_grid_f32, mxci_grid_f64;

#endif

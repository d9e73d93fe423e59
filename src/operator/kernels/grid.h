/*
 * Reading images at places between their elements. A place is a pair x, y from -1 to 1 (first to last element of an
 * axis); what lies outside of an image is 0. A grid holds the places of one sample: all x, then all y. f32 and f64.
 */
#ifndef MXCI_OPERATOR_KERNELS_GRID_H
#define MXCI_OPERATOR_KERNELS_GRID_H

#include <stdint.h>

typedef struct mxci_grid_shape {
    int64_t planes, in[2]; /* of a sample of data: channels, height and width, at least 1 */
    int64_t out[2];        /* height and width of the grid */
    int add;               /* results are added to what is there */
} mxci_grid_shape;

/* All of one sample; places are counted from 0 to out[0] * out[1] - 1. */
typedef struct mxci_grid_kernels {
    /* grid, places begin..end-1: (x, y, 1) times theta (2,3), x and y spread evenly over -1..1. */
    void (*affine)(const mxci_grid_shape *s, const void *theta, void *grid, int64_t begin, int64_t end);
    /* theta's gradient from that of all places. */
    void (*affine_grad)(const mxci_grid_shape *s, const void *grid_grad, void *theta_grad);
    /* grid, places begin..end-1: where element (y, x) is moved to by flow (2, out), which counts elements. */
    void (*warp)(const mxci_grid_shape *s, const void *flow, void *grid, int64_t begin, int64_t end);
    void (*warp_grad)(const mxci_grid_shape *s, const void *grid_grad, void *flow_grad, int64_t begin, int64_t end);
    /* y (planes, places) = x (planes, in) read at places begin..end-1. */
    void (*sample)(const mxci_grid_shape *s, const void *x, const void *grid, void *y, int64_t begin, int64_t end);
    /* The gradient of planes begin..end-1 of x. */
    void (*data_grad)(const mxci_grid_shape *s, const void *grid, const void *g, void *dx, int64_t begin, int64_t end);
    /* The gradient of places begin..end-1. */
    void (*grid_grad)(const mxci_grid_shape *s, const void *x, const void *grid, const void *g, void *dgrid,
                      int64_t begin, int64_t end);
} mxci_grid_kernels;

extern const mxci_grid_kernels mxci_grid_f32, mxci_grid_f64;

#endif

/* Planes made larger or smaller: elements between elements, and means of blocks of elements. f32 and f64. */
#ifndef MXCI_OPERATOR_KERNELS_RESIZE_H
#define MXCI_OPERATOR_KERNELS_RESIZE_H

#include <stdint.h>

/* What an element along one axis of the result is made of. */
typedef struct mxci_resize_tap {
    int64_t first, last; /* elements of the plane: two neighbours, or the ends of a block */
    double share;        /* of last, where they are neighbours */
} mxci_resize_tap;

/* Taps of out elements along an axis of in elements (at least 1): neighbours, where the ends of both are one if
 * aligned and their edges otherwise, and a single one is the first; or blocks that cover all. */
void mxci_resize_neighbours(int64_t in, int64_t out, int aligned, mxci_resize_tap *taps);
void mxci_resize_blocks(int64_t in, int64_t out, mxci_resize_tap *taps);

typedef struct mxci_resize_shape {
    int64_t in[2], out[2]; /* height and width of a plane and of its result */
    const mxci_resize_tap *rows, *columns;
    int add; /* results are added to what is there */
} mxci_resize_shape;

/* One plane: y from x, or dx from g. */
#define MXCI_RESIZE_KERNELS(T, suffix)                                                                                 \
    void mxci_resize_##suffix(const mxci_resize_shape *s, const T *x, T *y);                                           \
    void mxci_resize_grad_##suffix(const mxci_resize_shape *s, const T *g, T *dx);                                     \
    void mxci_block_mean_##suffix(const mxci_resize_shape *s, const T *x, T *y);                                       \
    void mxci_block_mean_grad_##suffix(const mxci_resize_shape *s, const T *g, T *dx);
MXCI_RESIZE_KERNELS(float, f32)
MXCI_RESIZE_KERNELS(double, f64)
#undef MXCI_RESIZE_KERNELS

#endif

/* Means over parts of regions of images, read between their elements; f32 and f64. */
#ifndef MXCI_OPERATOR_KERNELS_ROI_ALIGN_H
#define MXCI_OPERATOR_KERNELS_ROI_ALIGN_H

#include <stdint.h>

typedef struct mxci_align_shape {
    int64_t samples, channels, in[2]; /* of data; height and width of its planes */
    int64_t planes, out[2];           /* of a region in the result */
    double scale;                     /* from a region's coordinates to elements */
    int64_t ratio;                    /* places along each axis of a part; not above 0: one for each element */
    int by_part;                      /* each part of a region has planes of data of its own */
    int aligned;                      /* coordinate 0 is the edge of element 0, not its middle */
    int add;                          /* results are added to what is there */
} mxci_align_shape;

/* A region is (sample, x1, y1, x2, y2). forward: y of regions begin..end-1. backward: from all regions, the planes of
 * dx that planes begin..end-1 of each region in g are made of. */
#define MXCI_ALIGN_KERNELS(T, suffix)                                                                                  \
    void mxci_align_##suffix(const mxci_align_shape *s, const T *x, const T *rois, T *y, int64_t begin, int64_t end);  \
    void mxci_align_grad_##suffix(const mxci_align_shape *s, const T *rois, int64_t n_rois, const T *g, T *dx,         \
                                  int64_t begin, int64_t end);
MXCI_ALIGN_KERNELS(float, f32)
MXCI_ALIGN_KERNELS(double, f64)
#undef MXCI_ALIGN_KERNELS

#endif

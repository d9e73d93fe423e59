/* The maximum over parts of regions of images, f32 and f64. */
#ifndef MXCI_OPERATOR_KERNELS_ROI_POOLING_H
#define MXCI_OPERATOR_KERNELS_ROI_POOLING_H

#include <stdint.h>

typedef struct mxci_roi_shape {
    int64_t samples, channels, in[2], out[2]; /* of data; height and width of its planes and of out's */
    double scale;                             /* from a region's coordinates to elements */
    int add;                                  /* results are added to what is there */
} mxci_roi_shape;

/* A region is (sample, x1, y1, x2, y2), both ends within it. forward: planes begin..end-1 of y, a plane for each region
 * and channel. backward: planes begin..end-1 of dx, for each sample and channel, from all regions. */
#define MXCI_ROI_KERNELS(T, suffix)                                                                                    \
    void mxci_roi_forward_##suffix(const mxci_roi_shape *s, const T *x, const T *rois, T *y, int64_t begin,            \
                                   int64_t end);                                                                       \
    void mxci_roi_backward_##suffix(const mxci_roi_shape *s, const T *x, const T *rois, int64_t n_rois, const T *g,    \
                                    T *dx, int64_t begin, int64_t end);
MXCI_ROI_KERNELS(float, f32)
MXCI_ROI_KERNELS(double, f64)
#undef MXCI_ROI_KERNELS

#endif

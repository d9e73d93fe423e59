/* SPDX-License-Identifier: Apache-2.0 */
/* The maximum over bins of regions of images, f32 and f64. */
#ifndef MXCI_OPERATOR_VISION_ROI_POOLING_KERNELS_H
#define MXCI_OPERATOR_VISION_ROI_POOLING_KERNELS_H

#include <math.h>
#include <stdint.h>

#include "math/loop.h"

typedef struct mxci_roi_shape {
    int64_t samples, channels, in[2], out[2]; /* of data; height and width of its planes and of out's */
    double scale;                             /* from a region's coordinates to elements */
    int add;                                  /* results are added to what is there */
} mxci_roi_shape;

/* A coordinate in elements, rounded, and clipped so that products with a size do not overflow. NaN is 0. */
MXCI_SCALAR int64_t mxci_roi_element(double coordinate, double scale) {
    double at = round(coordinate * scale);
    return at > 1e9 ? 1000000000 : at > -1e9 ? (int64_t)at : at < 0 ? -1000000000 : 0;
}

/* Elements begin..end-1, of an axis of n elements, in bin i of `parts` bins of first..last. Neighbouring bins share an
 * element where their edges are fractions. */
MXCI_SCALAR void mxci_roi_bin(int64_t first, int64_t last, int64_t i, int64_t parts, int64_t n, int64_t *begin,
                              int64_t *end) {
    int64_t length = last >= first ? last - first + 1 : 1;
    *begin = first + i * length / parts;
    *end = first + ((i + 1) * length + parts - 1) / parts;
    *begin = *begin < 0 ? 0 : *begin;
    *end = *end < n ? *end : n;
}

/* A region is (sample, x1, y1, x2, y2), both ends within it. forward: planes begin..end-1 of y, a plane for each region
 * and channel. backward: planes begin..end-1 of dx, for each sample and channel, from all regions. */
#define MXCI_ROI_KERNELS(T, suffix)                                                                                 \
    void mxci_roi_forward_##suffix(const mxci_roi_shape *s, const T *x, const T *rois, T *y, int64_t begin,         \
                                   int64_t end);                                                                    \
    void mxci_roi_backward_##suffix(const mxci_roi_shape *s, const T *x, const T *rois, int64_t n_rois, const T *g, \
                                    T *dx, int64_t begin, int64_t end);
MXCI_ROI_KERNELS(float, f32)
MXCI_ROI_KERNELS(double, f64)
#undef MXCI_ROI_KERNELS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Means over bins of regions of images, by bilinear interpolation; f32 and f64. */
#ifndef MXCI_OPERATOR_VISION_ROI_ALIGN_KERNELS_H
#define MXCI_OPERATOR_VISION_ROI_ALIGN_KERNELS_H

#include <math.h>
#include <stdint.h>

#include "math/loop.h"

typedef struct mxci_align_shape {
    int64_t samples, channels, in[2]; /* of data; height and width of its planes */
    int64_t planes, out[2];           /* of a region in the result */
    double scale;                     /* from a region's coordinates to elements */
    int64_t ratio;                    /* points along each axis of a bin; 0 or below: one for each element */
    int by_part;                      /* position-sensitive: each bin of a region has channels of its own */
    int aligned;                      /* coordinate 0 is the edge of element 0, not its middle */
    int add;                          /* results are added to what is there */
} mxci_align_shape;

/* The points of one bin of a region: first..last-1 along each axis (y, x) are those that may be inside the plane. */
typedef struct mxci_align_bin {
    double start[2], step[2], count; /* count: of all points */
    int64_t first[2], last[2];
} mxci_align_bin;

/* Which of n points, step apart, may be between -1 and size. This bounds the loops for regions far larger than the
 * image. */
MXCI_SCALAR void mxci_align_points(double start, double step, int64_t n, int64_t size, int64_t *first, int64_t *last) {
    *first = 0;
    *last = n;
    if (!(step > 0))
        return;
    double low = (-1 - start) / step - 2, high = ((double)size - start) / step + 2;
    *first = low > 0 ? low < (double)n ? (int64_t)low : n : 0;
    *last = high < (double)n ? high > 0 ? (int64_t)high : 0 : n;
}

/* Bin number index, row by row, of a region. Coordinates are clipped to what a number of points can represent. */
MXCI_SCALAR mxci_align_bin mxci_align_bin_of(const mxci_align_shape *s, const double *roi, int64_t index) {
    const int64_t at[2] = {index / s->out[1], index % s->out[1]};
    mxci_align_bin p;
    p.count = 1;
    for (int k = 0; k < 2; k++) {
        double low = fmin(fmax(roi[2 - k] * s->scale, -1e9), 1e9), high = fmin(fmax(roi[4 - k] * s->scale, -1e9), 1e9);
        double size = s->aligned ? high - low : fmax(high - low, 1), part = size / (double)s->out[k];
        int64_t n = s->ratio > 0 ? s->ratio : (int64_t)ceil(part);
        p.step[k] = n > 0 ? part / (double)n : 0;
        p.start[k] = low - (s->aligned ? 0.5 : 0) + (double)at[k] * part + p.step[k] / 2;
        p.count *= (double)n;
        mxci_align_points(p.start[k], p.step[k], n, s->in[k], &p.first[k], &p.last[k]);
    }
    p.count = p.count > 1 ? p.count : 1;
    return p;
}

/* The neighbours of a point along an axis of n elements, and the weight of the second; 0: it is outside. */
MXCI_SCALAR int mxci_align_pair(double at, int64_t n, int64_t *pair, double *share) {
    if (!(at >= -1 && at <= (double)n))
        return 0;
    at = at > 0 ? at : 0;
    pair[0] = at < (double)(n - 1) ? (int64_t)at : n - 1;
    pair[1] = pair[0] + 1 < n ? pair[0] + 1 : pair[0];
    *share = pair[1] > pair[0] ? at - (double)pair[0] : 0;
    return 1;
}

/* A region is (sample, x1, y1, x2, y2). forward: y of regions begin..end-1. backward: from all regions, the planes of
 * dx that planes begin..end-1 of each region in g depend on. */
#define MXCI_ALIGN_KERNELS(T, suffix)                                                                                 \
    void mxci_align_##suffix(const mxci_align_shape *s, const T *x, const T *rois, T *y, int64_t begin, int64_t end); \
    void mxci_align_grad_##suffix(const mxci_align_shape *s, const T *rois, int64_t n_rois, const T *g, T *dx,        \
                                  int64_t begin, int64_t end);
MXCI_ALIGN_KERNELS(float, f32)
MXCI_ALIGN_KERNELS(double, f64)
#undef MXCI_ALIGN_KERNELS

#endif

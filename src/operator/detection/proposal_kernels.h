/* SPDX-License-Identifier: Apache-2.0 */
/* Region proposals from scores and offsets of the anchors at each position; f32 and f64. */
#ifndef MXCI_OPERATOR_DETECTION_PROPOSAL_KERNELS_H
#define MXCI_OPERATOR_DETECTION_PROPOSAL_KERNELS_H

#include <math.h>
#include <stdint.h>

struct mxci_sort_item;

enum { MXCI_PROPOSAL_ANCHORS = 256 };

typedef struct mxci_proposal_shape {
    int64_t anchors, in[2];               /* boxes at each position; height and width of the planes */
    float size[MXCI_PROPOSAL_ANCHORS][2]; /* width and height of each, in pixels */
    double stride, min_size, threshold; /* pixels between positions; smallest size of a box; overlap that suppresses */
    int64_t first, limit;               /* candidates, and rows of the output */
    int by_corner;                      /* offsets are of corners, not of centre and size */
} mxci_proposal_shape;

/* The boxes for a stride: each ratio (height over width) with each scale. In f32 whatever the arrays are, so that
 * sizes are rounded alike. */
static inline void mxci_proposal_sizes(mxci_proposal_shape *s, int n_ratios, const double *ratios, int n_scales,
                                       const double *scales) {
    const float stride = (float)s->stride;
    s->anchors = (int64_t)n_ratios * n_scales;
    for (int64_t i = 0; i < s->anchors; i++) {
        const float ratio = (float)ratios[i / n_scales], scale = (float)scales[i % n_scales];
        s->size[i][0] = floorf(sqrtf(floorf(stride * stride / ratio)) + 0.5f) * scale;
        s->size[i][1] = floorf(s->size[i][0] / scale * ratio + 0.5f) * scale;
    }
}

/* scores (A,h,w), steps (4*A,h,w), info (height, width, scale of the image); out (limit,5) of rows (0, left, top,
 * right, bottom) and score (limit), repeated where there are fewer. rows: scratch of A*h*w * 5; items,
 * spare, order: of A*h*w. */
#define MXCI_PROPOSAL_KERNELS(T, suffix)                                                                              \
    void mxci_propose_##suffix(const mxci_proposal_shape *s, const T *scores, const T *steps, const T *info, T *rows, \
                               struct mxci_sort_item *items, struct mxci_sort_item *spare, int64_t *order, T *out,    \
                               T *score);
MXCI_PROPOSAL_KERNELS(float, f32)
MXCI_PROPOSAL_KERNELS(double, f64)
#undef MXCI_PROPOSAL_KERNELS

#endif

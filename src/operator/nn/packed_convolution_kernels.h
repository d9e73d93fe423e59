/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolution of float images with channels last, by weights packed beforehand, in one thread: what inference on a CPU
 * runs. Vectors lie along channels and filters, so that images are never rearranged.
 *
 * Images are (N, D, H, W, C), D and H 1 where there are fewer spatial axes; pixels of the output are counted through
 * all samples. Groups with few filters are merged, and the weights between them are zeros. A panel has
 * mxci_packed_panel() filters, two vectors of the level; those that the last panel of a group lacks are zeros. A weight
 * (F, kd, kh, kw, C / groups) is packed
 *   directly     [groups][panels of a group][kd kh kw][channels of a group][panel],
 *                or where a vector holds groups of few channels and as many filters, and nothing else,
 *                [vectors][kd kh kw][channels of an unmerged group][vector]
 *   by channels  [kd kh kw][C], for one filter a channel
 *   by Winograd's algorithm as operator/nn/packed_winograd_kernels.h says.
 */
#ifndef MXCI_OPERATOR_NN_PACKED_CONVOLUTION_KERNELS_H
#define MXCI_OPERATOR_NN_PACKED_CONVOLUTION_KERNELS_H

#include "operator/nn/convolution_kernels.h"

enum {
    MXCI_PACKED_STRIP = 6,       /* pixels that are computed together */
    MXCI_PACKED_KERNEL_ROWS = 64 /* of a kernel of one filter a channel, kd x kh, at most */
};

/* What becomes of a sum x on its way to the output: with bias and addend, x < 0 ? slope x : x, and at most limit. Slope
 * 1 and limit infinity: nothing; slope 0: relu. */
typedef struct mxci_packed_epilogue {
    const float *bias;   /* (F), or NULL */
    const float *addend; /* as the output, which it may be; or NULL */
    float slope, limit;
    int add; /* out += that */
} mxci_packed_epilogue;

typedef struct mxci_packed_conv {
    mxci_conv_shape shape;         /* of a group, merged */
    int64_t batch, groups, merged; /* groups after merging, and how many each of them was before */
    int64_t taps;                  /* kernel positions */
    int64_t in_pixel, out_pixel;   /* floats of a pixel: all channels, all filters */
    int64_t panels;                /* of a group */
    int64_t spread;                /* channels of an unmerged group, if a vector holds whole groups; or 0 */
} mxci_packed_conv;

int64_t mxci_packed_panel(void);

/* Merges groups of the shape, of one group, as far as that costs nothing. */
void mxci_packed_measure(const mxci_conv_shape *shape, int64_t batch, int64_t groups, mxci_packed_conv *out);

/* Elements of a weight that is packed directly. */
int64_t mxci_packed_size(const mxci_packed_conv *c);

/* packed = or += panels begin..end-1 of all groups of the weight. */
void mxci_packed_pack(const mxci_packed_conv *c, const float *weight, int add, float *packed, int64_t begin,
                      int64_t end);

/* Where each pixel of begin..end-1 reads each tap: points[strip][tap][pixel of the strip], zeros (C floats of 0)
 * outside of the image. */
void mxci_packed_points(const mxci_packed_conv *c, const float *in, const float *zeros, int64_t begin, int64_t end,
                        const float **points);
/* Pixels begin..end-1, whose points these are, of panel panel of all groups'. */
void mxci_packed_direct(const mxci_packed_conv *c, const float *const *points, const float *packed,
                        const mxci_packed_epilogue *e, float *out, int64_t begin, int64_t end, int64_t panel);

/* Rows begin..end-1 of the output's N D H, for one filter a channel. weight: packed by channels. */
void mxci_packed_by_channel(const mxci_packed_conv *c, const float *in, const float *weight,
                            const mxci_packed_epilogue *e, float *out, int64_t begin, int64_t end);

#endif

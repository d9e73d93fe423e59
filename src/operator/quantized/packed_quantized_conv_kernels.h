/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolution of 8-bit images with channels last, by weights packed beforehand, in one thread, of one group: the
 * counterpart on integers of operator/nn/packed_convolution_kernels.h. Sums have 32 bits, which wrap; what they become
 * is computed where they are, in the first cache.
 *
 * Images are (N, D, H, W, C). A tap is a kernel position, or a row of positions where there are few channels, whose
 * bytes lie side by side then. Its bytes are rounded up to whole quads, four bytes that one instruction multiplies and
 * adds up where the level has it (VNNI); weights of the rest are 0, so that a pixel is read up to three bytes beyond
 * its end. A panel has mxci_quantized_panel() filters. A weight (F, kd, kh, kw, C) is packed
 *
 *   [panels]( [taps][quads][panel][4] int8, [panel] int32 )     the integers: sums of the filters' weights
 */
#ifndef MXCI_OPERATOR_QUANTIZED_PACKED_QUANTIZED_CONV_KERNELS_H
#define MXCI_OPERATOR_QUANTIZED_PACKED_QUANTIZED_CONV_KERNELS_H

#include "operator/nn/convolution_kernels.h"

typedef struct mxci_quantized_conv {
    mxci_conv_shape shape; /* where taps are rows: kernel[2] is 1, and in[2] has the padding, so that pad[2] is 0 */
    int64_t batch, taps;
    int64_t depth;    /* bytes of a tap, before they are rounded up */
    int64_t row_pad;  /* pixels before and behind each row of the images; only where taps are rows */
    int64_t in_pixel; /* bytes of a pixel */
    int64_t panels;
    int64_t panel_bytes; /* of the packed weight */
} mxci_quantized_conv;

/* Filters of a panel, and pixels that are computed together. */
int64_t mxci_quantized_panel(void);
int64_t mxci_quantized_strip(void);

/* The convolution of images of this shape. */
void mxci_quantized_measure(const mxci_conv_shape *shape, int64_t batch, mxci_quantized_conv *out);

/* packed = panels begin..end-1 of the weight. */
void mxci_quantized_pack(const mxci_quantized_conv *c, const int8_t *weight, int8_t *packed, int64_t begin,
                         int64_t end);

/* Where each pixel of begin..end-1 reads each tap: points[strip][tap][pixel of the strip], zeros (a tap of 0, rounded
 * up) outside of the image. */
void mxci_quantized_points(const mxci_quantized_conv *c, const uint8_t *in, const uint8_t *zeros, int64_t begin,
                           int64_t end, const uint8_t **points);

/* What becomes of a sum, the first that is there:
 *   sums     as it is
 *   numbers  x = sum unit + addend in float32, x < 0 ? slope x : x, at most limit; and codes = x code_scale
 *   codes    sum code_scale
 * Codes are rounded, halves away from 0, and within least..most: int8 or uint8. */
typedef struct mxci_quantized_epilogue {
    const int32_t *bias; /* (F), or NULL */
    int32_t *sums;       /* (pixels, F), as the following; NULL: not wanted */
    int is_number;
    double unit;
    const float *addend; /* which numbers may be; or NULL */
    float slope, limit;
    float *numbers;
    double code_scale, least, most;
    uint8_t *codes;       /* of either dtype */
    int adds, adds_codes; /* sums and numbers, and codes, are added to what is there */
} mxci_quantized_epilogue;

/* Pixels begin..end-1, whose points these are, of a panel. */
void mxci_quantized_convolve(const mxci_quantized_conv *c, int is_signed, const uint8_t *const *points,
                             const int8_t *packed, const mxci_quantized_epilogue *e, int64_t begin, int64_t end,
                             int64_t panel);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolution of one sample and one group, in one thread, for f32 and f64: im2col and a matrix product without the
 * matrix of columns. The panels that the product packs are read straight from the image, so patches never stand in
 * memory as a whole.
 *
 * Letters: C channels and F filters of the group, K = C x kernel size elements of a patch, P output pixels. Three
 * spatial axes; missing ones have size 1. A prime marks a gradient.
 *
 *   out (F,P)     = weight (F,K) patches (K,P)
 *   weight' (F,K) = out' (F,P) patches^T
 *   patches'(K,P) = weight^T out', added into the image (col2im)
 *
 * A padded image has the padding made explicit and, where the innermost stride s is over 1, each row cut into s phases
 * of every s-th element, so that the pixels of an output row are neighbours in it. Element k of the patch of pixel p is
 * then padded[kernel_offset[k] + pixel_offset[p]]: two tables replace all index arithmetic.
 */
#ifndef MXCI_OPERATOR_NN_CONVOLUTION_KERNELS_H
#define MXCI_OPERATOR_NN_CONVOLUTION_KERNELS_H

#include <stddef.h>
#include <stdint.h>

typedef struct mxci_conv_shape {
    int64_t channels, filters; /* of one group */
    int64_t in[3], out[3], kernel[3], stride[3], dilate[3], pad[3];
} mxci_conv_shape;

/* Where the pixels of one vector lie in a padded image: lanes below split at first, first + 1, ...; the others at last,
 * last + 1, ... (last is where lane 0 would be). split 0: read pixel by pixel; count: lanes that exist. */
typedef struct mxci_conv_lanes {
    int64_t first, last;
    int32_t split, count;
} mxci_conv_lanes;

typedef struct mxci_conv_geometry {
    mxci_conv_shape shape;
    int64_t patch_size, pixels; /* K and P */
    int64_t size[3];            /* of one padded channel: planes, rows, elements in a row (all phases) */
    int64_t phase;              /* elements from one phase of a row to the next */
    int64_t elements;           /* of a padded image, C channels */
    int is_image;               /* nothing is padded or cut: the image itself serves as the padded image */
    int64_t samples, step;      /* padded images side by side in memory, and elements from one to the next */
    int64_t *kernel_offset;     /* K, in the order of the weights */
    int64_t *pixel_offset;      /* samples x P */
    int64_t *order;             /* the K elements of a patch in the order of the data's gradient */
    mxci_conv_lanes *lanes;     /* one per vector of pixels */
} mxci_conv_geometry;

enum { MXCI_CONV_CACHED = 65536 }; /* elements of padded images that stay in the second cache: 256 KiB of floats */

/* Fill all but the tables, for one sample. channels and out must not be 0. Sizes that overflow are INT64_MAX. */
void mxci_conv_geometry_measure(const mxci_conv_shape *shape, mxci_conv_geometry *out);
/* Choose how many of the samples stand side by side: as many as fill one block of a product (MXCI_GEMM_DEPTH pixels)
 * and stay in the cache. Small images have too few pixels each for an efficient product. step: elements from an image
 * to the next. */
void mxci_conv_geometry_group(mxci_conv_geometry *geo, int64_t samples, int64_t step);
/* Bytes of the tables of a measured geometry (64-byte aligned; SIZE_MAX if they overflow), and filling them. lanes:
 * elements in a vector. */
size_t mxci_conv_geometry_table_bytes(const mxci_conv_geometry *geo, int lanes);
void mxci_conv_geometry_plan(mxci_conv_geometry *geo, int lanes, void *tables);

/* Elements may be float or double. Images have C channels, dense. Pixels are counted in panels of two vectors. */
typedef struct mxci_conv_kernels {
    int lanes;
    /* padded = image; the padding is 0 already. */
    void (*pad_image)(const mxci_conv_geometry *geo, const void *image, void *padded);
    /* image = or += padded without its padding; elements of the image that no patch reaches get 0 (or stay). */
    void (*crop)(const mxci_conv_geometry *geo, int add, const void *padded, void *image);
    /* Pixels of panels begin..end-1. out starts from start[filter] (start_col 0, start_row 0 or 1) or from itself
     * (start == out, start_row P, start_col 1). */
    void (*forward)(const mxci_conv_geometry *geo, const void *padded, const void *weight, const void *start,
                    int64_t start_row, int64_t start_col, void *out, int64_t begin, int64_t end);
    /* out += bias[filter] over the same pixels. */
    void (*add_bias)(const mxci_conv_geometry *geo, const void *bias, void *out, int64_t begin, int64_t end);
    /* Sums for weight' over some samples, at most geo->samples, whose out_grad lie grad_step elements apart. They
     * are transposed (K, F rounded up to whole vectors): sums = or += for elements begin..end-1 of a patch. */
    void (*weight)(const mxci_conv_geometry *geo, int64_t samples, const void *padded, const void *out_grad,
                   int64_t grad_step, int add, void *sums, int64_t begin, int64_t end);
    /* weight' = or += sums, for elements begin..end-1 of a patch. */
    void (*put_weight)(const mxci_conv_geometry *geo, const void *sums, int add, void *weight_grad, int64_t begin,
                       int64_t end);
    /* Packs weights for data: strips of at most six elements of a patch, in geo->order. packed: K x F elements. Strips
     * begin..end-1 of (K + 5) / 6. */
    void (*pack)(const mxci_conv_geometry *geo, const void *weight, void *packed, int64_t begin, int64_t end);
    /* padded += the gradient of all pixels' patches. scratch: F x two vectors. */
    void (*data)(const mxci_conv_geometry *geo, const void *packed, const void *out_grad, void *scratch, void *padded);
    /* Weights for the data's gradient as a convolution of out_grad: (C,F,kernel), the kernel back to front; channels
     * begin..end-1. */
    void (*flip)(const mxci_conv_geometry *geo, const void *weight, void *flipped, int64_t begin, int64_t end);
    /* The sum of rows of n elements, step apart. */
    double (*sum)(const void *from, int64_t rows, int64_t step, int64_t n);
    /* to = value or to += value. */
    void (*put)(void *to, double value, int add);
} mxci_conv_kernels;

extern const mxci_conv_kernels mxci_conv_f32, mxci_conv_f64;

#endif

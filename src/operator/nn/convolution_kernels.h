/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolution of one sample and one group, in one thread, for f32 and f64, as products whose packed panels are read
 * straight from the image: no matrix of all patches is ever written.
 *
 * Letters: C channels and F filters of the group, K = C x kernel places ("taps"), P output pixels. Three spatial axes;
 * missing ones have size 1.
 *
 *   out (F,P)     = weight (F,K) patches (K,P)
 *   weight' (F,K) = out' (F,P) patches^T
 *   patches'(K,P) = weight^T out', added into the image
 *
 * A field is the image with padding made explicit and, where the innermost stride s is over 1, each row cut into s rows
 * of every s-th element. In a field patches(k, p) = field[tap[k] + pixel[p]], and pixels of one output row are
 * neighbours.
 */
#ifndef MXCI_OPERATOR_NN_CONVOLUTION_KERNELS_H
#define MXCI_OPERATOR_NN_CONVOLUTION_KERNELS_H

#include <stddef.h>
#include <stdint.h>

typedef struct mxci_conv_shape {
    int64_t channels, filters; /* of one group */
    int64_t in[3], out[3], kernel[3], stride[3], dilate[3], pad[3];
} mxci_conv_shape;

/* Where the pixels of one vector lie in a field: lanes below split at first, first + 1, ...; the others at last,
 * last + 1, ... (last is where lane 0 would be). split 0: read pixel by pixel; count: lanes that exist. */
typedef struct mxci_lanes {
    int64_t first, last;
    int32_t split, count;
} mxci_lanes;

typedef struct mxci_field {
    mxci_conv_shape shape;
    int64_t taps, pixels;  /* K and P */
    int64_t size[3];       /* planes, rows, elements in a row (all phases) of one channel */
    int64_t phase;         /* elements from one phase of a row to the next */
    int64_t elements;      /* of C channels */
    int plain;             /* the field is the image */
    int64_t samples, step; /* fields side by side in memory, and elements from one to the next */
    int64_t *tap, *pixel;  /* offsets, K and samples x P of them; taps in the order of the weights */
    int64_t *order;        /* the K taps as the data's gradient takes them */
    mxci_lanes *lanes;     /* one per vector of pixels */
} mxci_field;

enum { MXCI_FIELD_CACHED = 65536 }; /* elements of fields that stay in the second cache: 256 KiB of floats */

/* Fill all but the tables, for one sample. channels and out must not be 0. Sizes that overflow are INT64_MAX. */
void mxci_field_measure(const mxci_conv_shape *shape, mxci_field *out);
/* Have as many samples side by side, of those there are, as make sums of some length. step: elements from an image to
 * the next. */
void mxci_field_group(mxci_field *field, int64_t samples, int64_t step);
/* Bytes of the tables (64-byte aligned; SIZE_MAX if they overflow) of a measured field, and making them; lanes:
 * elements in a vector. */
size_t mxci_field_table_bytes(const mxci_field *field, int lanes);
void mxci_field_plan(mxci_field *field, int lanes, void *tables);

/* Elements may be float or double. Images have C channels, dense. Pixels are counted in panels of two vectors. */
typedef struct mxci_conv_kernels {
    int lanes;
    /* Image to field, whose padding is 0 already. */
    void (*fill)(const mxci_field *f, const void *image, void *field);
    /* Field to image: image = or += field without its padding; image elements that no tap sees get 0 (or stay). */
    void (*unfill)(const mxci_field *f, int add, const void *field, void *image);
    /* Pixels of panels begin..end-1. out starts from start[filter] (start_col 0, start_row 0 or 1) or from itself
     * (start == out, start_row P, start_col 1). */
    void (*forward)(const mxci_field *f, const void *field, const void *weight, const void *start, int64_t start_row,
                    int64_t start_col, void *out, int64_t begin, int64_t end);
    /* out += bias[filter] over the same pixels. */
    void (*add_bias)(const mxci_field *f, const void *bias, void *out, int64_t begin, int64_t end);
    /* Sums for weight' over some samples, at most the field's, whose out_grad lie grad_step elements apart. They are
     * transposed (K, F rounded up to whole vectors): sums = or += for taps begin..end-1. */
    void (*weight)(const mxci_field *f, int64_t samples, const void *field, const void *out_grad, int64_t grad_step,
                   int add, void *sums, int64_t begin, int64_t end);
    /* weight' = or += sums of taps begin..end-1. */
    void (*put_weight)(const mxci_field *f, const void *sums, int add, void *weight_grad, int64_t begin, int64_t end);
    /* Weights for data: strips of at most six taps, in the field's order. packed: K x F elements.
     * Strips begin..end-1 of (K + 5) / 6. */
    void (*pack)(const mxci_field *f, const void *weight, void *packed, int64_t begin, int64_t end);
    /* field += image gradient of all pixels. scratch: F x two vectors. */
    void (*data)(const mxci_field *f, const void *packed, const void *out_grad, void *scratch, void *field);
    /* Weights for the data's gradient as a convolution of out_grad: (C,F,places), places back to front; channels
     * begin..end-1. */
    void (*flip)(const mxci_field *f, const void *weight, void *flipped, int64_t begin, int64_t end);
    /* The sum of rows of n elements, step apart. */
    double (*sum)(const void *from, int64_t rows, int64_t step, int64_t n);
    /* to = value or to += value. */
    void (*put)(void *to, double value, int add);
} mxci_conv_kernels;

extern const mxci_conv_kernels mxci_conv_f32, mxci_conv_f64;

#endif

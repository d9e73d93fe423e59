/* SPDX-License-Identifier: Apache-2.0 */
/* Products of rows of 8-bit integers, summed in 32 bits, which wrap. Rows are first widened to 16 bits and padded with
 * zeros to whole vectors: two 16-bit products and their sum are one instruction (pmaddwd), and no product overflows
 * it. */
#ifndef MXCI_OPERATOR_QUANTIZED_INT8_KERNELS_H
#define MXCI_OPERATOR_QUANTIZED_INT8_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "operator/nn/convolution_kernels.h"

/* 16-bit elements of a widened row of k. */
#define MXCI_INT8_ROW(k) (((k) + 15) / 16 * 16)

/* to (rows, step) = from (rows, k), int8 or uint8, and zeros behind. */
void mxci_int8_widen(int is_unsigned, const void *from, int64_t rows, int64_t k, int64_t step, int16_t *to);

/* The largest absolute value of n numbers, 0 for none; NaN is left out. */
float mxci_int8_most(int64_t n, const float *x);
/* to (step) = from (k) * factor * scale, rounded to nearest, halves to even, within -128..127, and zeros behind. Two
 * factors, since their product may round differently. 0 for NaN. */
void mxci_int8_round(int64_t k, const float *from, float factor, float scale, int64_t step, int16_t *to);

typedef struct mxci_int8_product {
    int64_t m, n, k;      /* k: a widened row's elements */
    const int16_t *a, *b; /* (m,k), (n,k) */
    const int32_t *start; /* n of them, what the sums of column j start from; NULL: 0 */
    int32_t *out;
    int64_t step; /* elements of out from a row to the next */
    int add;      /* add to out */
} mxci_int8_product;
/* out[i,j] = or += start[j] + sum over k of a[i,k] b[j,k]. */
void mxci_int8_multiply(const mxci_int8_product *p);

/* The same with b of bytes, (n,k) with p->k rounded up: for few rows of a, where widening b takes longer. */
void mxci_int8_multiply_bytes(const mxci_int8_product *p, const int8_t *b, int64_t k);

/* ---- convolution ------------------------------------------------------------------------------------------------- */

/* Pixels that are gathered at a time, and those there is room for, since they are written by the vector. */
enum { MXCI_INT8_TILE = 64, MXCI_INT8_TILE_ROOM = 80 };
/* Bytes behind a padded image that may be read. */
enum { MXCI_INT8_SLACK = 64 };

/* 16-bit elements of a patch of k elements: pairs. */
#define MXCI_INT8_PAIRS(k) (((k) + 1) / 2 * 2)

/* padded (operator/nn/convolution_kernels.h) = image, both of bytes; 0 in the padding. */
void mxci_int8_pad_image(const mxci_conv_geometry *geo, const void *image, void *padded);
/* to (pairs of elements, MXCI_INT8_TILE_ROOM, 2) = the patches of output pixels begin..end-1, at most a tile. What is
 * behind the last element and the last pixel is undefined. */
void mxci_int8_gather(const mxci_conv_geometry *geo, int is_unsigned, const void *padded, int64_t begin, int64_t end,
                      int16_t *to);

/* A tile of pixels of one sample and group. */
typedef struct mxci_int8_convolution {
    int64_t pixels, filters, pairs;
    const int16_t *patches; /* of mxci_int8_gather */
    const int16_t *weight;  /* (filters, 2 pairs), 0 behind the last element */
    const int32_t *start;   /* what each filter's sums start from; NULL: 0 */
    int32_t *out;           /* the first pixel of the first filter */
    int64_t step;           /* elements of out from a filter to the next */
    int add;                /* add to out */
} mxci_int8_convolution;
/* out[f, pixel] = or += start[f] + the sum over kernel positions of weight and patch, for a tile of pixels. */
void mxci_int8_convolve(const mxci_int8_convolution *c);

#endif

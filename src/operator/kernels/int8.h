/*
 * Products of rows of 8-bit numbers, summed in 32 bits, which wrap. Rows are first widened to 16 bits and filled up
 * with zeros to whole vectors: two such products and their sum are one instruction.
 */
#ifndef MXCI_OPERATOR_KERNELS_INT8_H
#define MXCI_OPERATOR_KERNELS_INT8_H

#include <stddef.h>
#include <stdint.h>

#include "operator/kernels/conv.h"

/* 16-bit elements of a widened row of k. */
#define MXCI_INT8_ROW(k) (((k) + 15) / 16 * 16)

/* to (rows, MXCI_INT8_ROW(k)) = from (rows, k), int8 or uint8. */
void mxci_int8_widen(int is_unsigned, const void *from, int64_t rows, int64_t k, int16_t *to);

typedef struct mxci_int8_product {
    int64_t m, n, k; /* k: a widened row's elements */
    const int16_t *a, *b; /* (m,k), (n,k) */
    const int32_t *start; /* n of them, what the sums of column j start from; NULL: 0 */
    int32_t *out;
    int64_t row_step, column_step; /* element (i,j) stands at out[i * row_step + j * column_step] */
    int add; /* add to out */
} mxci_int8_product;
/* out[i,j] = or += start[j] + sum over k of a[i,k] b[j,k]. */
void mxci_int8_multiply(const mxci_int8_product *p);

/* The image of one sample and group, and what is convolved of it. */
typedef struct mxci_int8_patches {
    mxci_conv_shape shape;
    int is_unsigned;
    const void *image;
} mxci_int8_patches;
/* to (end - begin, MXCI_INT8_ROW(taps)) = the patches of output pixels begin..end-1, 0 in the padding. */
void mxci_int8_gather(const mxci_int8_patches *p, int64_t begin, int64_t end, int16_t *to);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* 8-bit integers for numbers of a range, and back, on rows of doubles. */
#ifndef MXCI_OPERATOR_QUANTIZED_QUANTIZE_KERNELS_H
#define MXCI_OPERATOR_QUANTIZED_QUANTIZE_KERNELS_H

#include <math.h>
#include <stdint.h>

#include "math/loop.h"

/* (x - shift) * scale, rounded to nearest, halves away from 0, saturated to low..high, which int32 represents; 0 for
 * NaN. */
MXCI_SCALAR int32_t mxci_quantize_number(double x, double shift, double scale, double low, double high) {
    double scaled = (x - shift) * scale, away = trunc(scaled + (scaled < 0 ? -0.5 : 0.5));
    double number = away == away ? away : 0;
    return (int32_t)(number < low ? low : number > high ? high : number);
}

/* Sums and products of integers in units of their own, converted to another unit. */
MXCI_SCALAR double mxci_weighted_sum(double a, double p, double b, double q) {
    return a * p + b * q;
}
MXCI_SCALAR double mxci_scaled_product(double a, double b, double p) {
    return a * b * p;
}

/* y = mxci_quantize_number of each. */
void mxci_quantize_row(int64_t n, const double *x, double shift, double scale, double low, double high, int32_t *y);
/* y = x * scale + shift */
void mxci_dequantize_row(int64_t n, const double *x, double shift, double scale, double *y);
/* x rounded to nearest, halves to even. */
void mxci_round_row(int64_t n, float *x);
/* y = mxci_weighted_sum, or mxci_scaled_product, of each element. */
void mxci_weighted_sum_row(int64_t n, const double *a, double p, const double *b, double q, double *y);
void mxci_scaled_product_row(int64_t n, const double *a, const double *b, double p, double *y);
/* Extend [*least, *most] to the elements that are not NaN. */
void mxci_min_max_row(int64_t n, const double *x, double *least, double *most);

#endif

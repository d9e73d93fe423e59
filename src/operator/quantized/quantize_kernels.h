/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers of 8 bits for numbers of a range, and back, on rows of doubles. */
#ifndef MXCI_OPERATOR_QUANTIZED_QUANTIZE_KERNELS_H
#define MXCI_OPERATOR_QUANTIZED_QUANTIZE_KERNELS_H

#include <math.h>
#include <stdint.h>

#include "math/loop.h"

/* The whole part of (x - shift) * scale away from 0 by one half, within low..high, which int32 holds; 0 for what is no
 * number. */
MXCI_SCALAR int32_t mxci_quantize_number(double x, double shift, double scale, double low, double high) {
    double scaled = (x - shift) * scale, away = trunc(scaled + (scaled < 0 ? -0.5 : 0.5));
    double number = away == away ? away : 0;
    return (int32_t)(number < low ? low : number > high ? high : number);
}

/* Sums and products of numbers in units of their own, in another. */
MXCI_SCALAR double mxci_weigh(double a, double p, double b, double q) {
    return a * p + b * q;
}
MXCI_SCALAR double mxci_product(double a, double b, double p) {
    return a * b * p;
}

/* y = mxci_quantize_number of each. */
void mxci_quantize_row(int64_t n, const double *x, double shift, double scale, double low, double high, int32_t *y);
/* y = x * scale + shift */
void mxci_dequantize_row(int64_t n, const double *x, double shift, double scale, double *y);
/* x rounded to the nearest whole numbers, halves to even. */
void mxci_round_row(int64_t n, float *x);
/* y = mxci_weigh, or mxci_product, of each. */
void mxci_weigh_row(int64_t n, const double *a, double p, const double *b, double q, double *y);
void mxci_product_row(int64_t n, const double *a, const double *b, double p, double *y);
/* Have least and most reach to the elements that are numbers. */
void mxci_extend(int64_t n, const double *x, double *least, double *most);

#endif

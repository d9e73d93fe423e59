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
    number = number > low ? number : low; /* as the processor's maximum and minimum */
    number = number < high ? number : high;
    return (int32_t)number;
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
/* The same of other types, to codes: int8 or uint8 as low..high are. */
void mxci_quantize_floats(int64_t n, const float *x, double shift, double scale, double low, double high, uint8_t *y);
void mxci_quantize_sums(int64_t n, const int32_t *x, double shift, double scale, double low, double high, uint8_t *y);
/* y = x * scale + shift, rounded to float32, of sums or codes. */
void mxci_dequantize_sums(int64_t n, const int32_t *x, double shift, double scale, float *y);
void mxci_dequantize_codes(int64_t n, int is_signed, const uint8_t *x, double shift, double scale, float *y);
/* y = x * scale + shift */
void mxci_dequantize_row(int64_t n, const double *x, double shift, double scale, double *y);
/* x rounded to nearest, halves to even. */
void mxci_round_row(int64_t n, float *x);
/* y = mxci_weighted_sum, or mxci_scaled_product, of each element. */
void mxci_weighted_sum_row(int64_t n, const double *a, double p, const double *b, double q, double *y);
void mxci_scaled_product_row(int64_t n, const double *a, const double *b, double p, double *y);
/* y = mxci_quantize_number of mxci_weighted_sum of codes, with shift 0 and scale 1. */
typedef struct mxci_codes {
    const uint8_t *code;
    int is_signed;
    double unit; /* what a code is multiplied by */
} mxci_codes;
void mxci_add_codes(int64_t n, const mxci_codes *a, const mxci_codes *b, double low, double high, int32_t *y);
/* How sums of products become codes of 8 bits: a sum times scale, and times slope where it is negative, but at most
 * high, plus sum_scale times a code that is added, within least..most. */
typedef struct mxci_requantization {
    float scale, slope, high, sum_scale, least, most;
} mxci_requantization;
/* y = the codes, rounded to nearest, halves to even; int8 or uint8 as least..most are. sum: the codes that are added;
 * NULL: none. 0 for NaN. */
void mxci_requantize_row(const mxci_requantization *q, int64_t n, const int32_t *x, const float *sum, uint8_t *y);
/* Extend [*least, *most] to the elements that are not NaN. */
void mxci_min_max_row(int64_t n, const double *x, double *least, double *most);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/quantized/quantize_kernels.h"

void mxci_quantize_row(int64_t n, const double *x, double shift, double scale, double low, double high, int32_t *y) {
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++)
        y[i] = mxci_quantize_number(x[i], shift, scale, low, high);
}

enum { BLOCK = 64 }; /* elements that are converted in steps, since loops with several sizes of elements are slower */

static void store_codes(int64_t n, const int32_t *restrict code, uint8_t *restrict y) {
    for (int64_t i = 0; i < n; i++)
        y[i] = (uint8_t)code[i];
}

void mxci_quantize_floats(int64_t n, const float *x, double shift, double scale, double low, double high, uint8_t *y) {
    int32_t code[BLOCK];
    for (int64_t i = 0, m; i < n; i += m) {
        m = n - i < BLOCK ? n - i : BLOCK;
        MXCI_VECTOR_LOOP
        for (int64_t j = 0; j < m; j++)
            code[j] = mxci_quantize_number((double)x[i + j], shift, scale, low, high);
        store_codes(m, code, y + i);
    }
}

void mxci_quantize_sums(int64_t n, const int32_t *x, double shift, double scale, double low, double high, uint8_t *y) {
    int32_t code[BLOCK];
    for (int64_t i = 0, m; i < n; i += m) {
        m = n - i < BLOCK ? n - i : BLOCK;
        MXCI_VECTOR_LOOP
        for (int64_t j = 0; j < m; j++)
            code[j] = mxci_quantize_number(x[i + j], shift, scale, low, high);
        store_codes(m, code, y + i);
    }
}

void mxci_dequantize_sums(int64_t n, const int32_t *x, double shift, double scale, float *y) {
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)(x[i] * scale + shift);
}

static void widen_codes(int64_t n, int is_signed, const uint8_t *restrict x, int32_t *restrict code) {
    if (is_signed)
        for (int64_t j = 0; j < n; j++)
            code[j] = (int8_t)x[j];
    else
        for (int64_t j = 0; j < n; j++)
            code[j] = x[j];
}

void mxci_dequantize_codes(int64_t n, int is_signed, const uint8_t *x, double shift, double scale, float *y) {
    int32_t code[BLOCK];
    for (int64_t i = 0, m; i < n; i += m) {
        m = n - i < BLOCK ? n - i : BLOCK;
        widen_codes(m, is_signed, x + i, code);
        mxci_dequantize_sums(m, code, shift, scale, y + i);
    }
}

void mxci_add_codes(int64_t n, const mxci_codes *a, const mxci_codes *b, double low, double high, int32_t *y) {
    const double p = a->unit, q = b->unit;
    int32_t left[BLOCK], right[BLOCK];
    for (int64_t i = 0, m; i < n; i += m) {
        m = n - i < BLOCK ? n - i : BLOCK;
        widen_codes(m, a->is_signed, a->code + i, left);
        widen_codes(m, b->is_signed, b->code + i, right);
        MXCI_VECTOR_LOOP
        for (int64_t j = 0; j < m; j++)
            y[i + j] = mxci_quantize_number(mxci_weighted_sum(left[j], p, right[j], q), 0, 1, low, high);
    }
}

void mxci_dequantize_row(int64_t n, const double *x, double shift, double scale, double *y) {
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * scale + shift;
}

void mxci_min_max_row(int64_t n, const double *x, double *least, double *most) {
    double low = *least, high = *most;
    for (int64_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    *least = low;
    *most = high;
}

void mxci_round_row(int64_t n, float *x) {
    for (int64_t i = 0; i < n; i++)
        x[i] = rintf(x[i]);
}

void mxci_weighted_sum_row(int64_t n, const double *a, double p, const double *b, double q, double *y) {
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++)
        y[i] = mxci_weighted_sum(a[i], p, b[i], q);
}

void mxci_scaled_product_row(int64_t n, const double *a, const double *b, double p, double *y) {
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++)
        y[i] = mxci_scaled_product(a[i], b[i], p);
}

void mxci_requantize_row(const mxci_requantization *q, int64_t n, const int32_t *x, const float *sum, uint8_t *y) {
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++) {
        float code = (float)x[i] * q->scale;
        code = code < 0 ? code * q->slope : code;
        code = code > q->high ? q->high : code;
        code += sum ? sum[i] * q->sum_scale : 0;
        code = code < q->least ? q->least : code > q->most ? q->most : code;
        y[i] = (uint8_t)(int32_t)rintf(code == code ? code : 0);
    }
}

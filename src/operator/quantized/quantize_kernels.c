/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/quantized/quantize_kernels.h"

void mxci_quantize_row(int64_t n, const double *x, double shift, double scale, double low, double high, int32_t *y) {
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++)
        y[i] = mxci_quantize_number(x[i], shift, scale, low, high);
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

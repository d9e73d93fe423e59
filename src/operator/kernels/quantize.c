#include "operator/kernels/quantize.h"

#include <math.h>

#include "operator/kernels/loop.h"

void mxci_quantize_row(int64_t n, const double *x, double shift, double scale, double low, double high, double *y) {
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++) {
        double scaled = (x[i] - shift) * scale, whole = trunc(scaled + (scaled < 0 ? -0.5 : 0.5));
        y[i] = whole < low ? low : whole > high ? high : whole;
    }
}

void mxci_dequantize_row(int64_t n, const double *x, double shift, double scale, double *y) {
    MXCI_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * scale + shift;
}

#include "operator/kernels/resize.h"

#include <string.h>

void mxci_resize_neighbours(int64_t in, int64_t out, int aligned, mxci_resize_tap *taps) {
    double step = aligned ? (double)(in - 1) / (double)(out > 1 ? out - 1 : 1) : (double)in / (double)out;
    step = out > 1 ? step : 0;
    for (int64_t i = 0; i < out; i++) {
        double at = aligned ? (double)i * step : ((double)i + 0.5) * step - 0.5;
        int64_t first = at > 0 ? (int64_t)at : 0;
        first = first < in ? first : in - 1;
        taps[i] = (mxci_resize_tap){first, first + 1 < in ? first + 1 : first, at > 0 ? at - (double)first : 0};
    }
}

void mxci_resize_blocks(int64_t in, int64_t out, mxci_resize_tap *taps) {
    for (int64_t i = 0; i < out; i++) /* in parts, as i * in may be too large */
        taps[i] = (mxci_resize_tap){i * (in / out) + i * (in % out) / out,
                                    (i + 1) * (in / out) + ((i + 1) * (in % out) + out - 1) / out - 1, 0};
}

#define T float
#define NAME(x) x##_f32
#include "operator/kernels/resize.inc"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f64
#include "operator/kernels/resize.inc"

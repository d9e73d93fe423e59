#include "operator/kernels/roi_pooling.h"

#include <math.h>
#include <string.h>

/* A coordinate in elements, rounded, and cut to what a product with a size can hold. NaN is 0. */
static int64_t element(double coordinate, double scale) {
    double at = round(coordinate * scale);
    return at > 1e9 ? 1000000000 : at > -1e9 ? (int64_t)at : at < 0 ? -1000000000 : 0;
}

/* Elements of an axis of n elements in part i of parts of first..last: begin..end-1, neighbours share an element where
 * the parts are no whole numbers. */
static void bin(int64_t first, int64_t last, int64_t i, int64_t parts, int64_t n, int64_t *begin, int64_t *end) {
    int64_t length = last >= first ? last - first + 1 : 1;
    *begin = first + i * length / parts;
    *end = first + ((i + 1) * length + parts - 1) / parts;
    *begin = *begin < 0 ? 0 : *begin;
    *end = *end < n ? *end : n;
}

#define T float
#define NAME(x) x##_f32
#include "operator/kernels/roi_pooling.inc"
#undef T
#undef NAME

#define T double
#define NAME(x) x##_f64
#include "operator/kernels/roi_pooling.inc"

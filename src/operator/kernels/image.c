#include "operator/kernels/image.h"

#include "base/simd.h"
#include "operator/kernels/image_taps.h"

/* ---- taps -------------------------------------------------------------------------------------------------------- */

static size_t aligned(size_t bytes) {
    return (bytes + 63) & ~(size_t)63;
}

size_t mxci_resample_bytes(int interpolation, int64_t in, int64_t out) {
    return aligned((size_t)out * sizeof(int64_t)) +
           aligned((size_t)(out * mxci_resample_width(interpolation, in, out)) * sizeof(float));
}

void mxci_resample_plan(int interpolation, int64_t in, int64_t out, void *table, mxci_resample *r) {
    *r = (mxci_resample){.in = in, .out = out, .width = mxci_resample_width(interpolation, in, out), .first = table,
                         .share = (float *)((char *)table + aligned((size_t)out * sizeof(int64_t)))};
    for (int64_t i = 0; i < out; i++)
        mxci_resample_taps(r, interpolation, i);
}

/* ---- along rows -------------------------------------------------------------------------------------------------- */

#define T uint8_t
#define NAME(stem) stem##_u8
#include "operator/kernels/image_rows.inc"

#define T float
#define NAME(stem) stem##_f32
#include "operator/kernels/image_rows.inc"

/* ---- along columns ----------------------------------------------------------------------------------------------- */

enum { BLOCK = 256 };

/* sums = elements x..x+n-1 of row y of the result. */
static void add_rows(const mxci_resample *r, int64_t row, const float *from, int64_t y, int64_t x, int64_t n,
                     float *sums) {
    for (int64_t i = 0; i < n; i++)
        sums[i] = 0;
    for (int64_t k = 0; k < r->width; k++) {
        const float share = r->share[y * r->width + k], *source = from + mxci_inside(r->first[y] + k, r->in) * row + x;
        for (int64_t i = 0; i < n; i++)
            sums[i] += share * source[i];
    }
}

static float to_float(float x) {
    return x;
}

#define COLUMNS(T, name, convert)                                                                                      \
    void name(const mxci_resample *r, int64_t row, const float *from, T *to, int64_t begin, int64_t end) {             \
        float sums[BLOCK];                                                                                             \
        for (int64_t y = begin; y < end; y++)                                                                          \
            for (int64_t x = 0; x < row; x += BLOCK) {                                                                 \
                int64_t n = row - x < BLOCK ? row - x : BLOCK;                                                         \
                add_rows(r, row, from, y, x, n, sums);                                                                 \
                for (int64_t i = 0; i < n; i++)                                                                        \
                    to[y * row + x + i] = convert(sums[i]);                                                            \
            }                                                                                                          \
    }
COLUMNS(uint8_t, mxci_resample_columns_u8, mxci_pixel_byte)
COLUMNS(float, mxci_resample_columns_f32, to_float)

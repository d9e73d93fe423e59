/* SPDX-License-Identifier: Apache-2.0 */
/* Separable resampling of images: the tables of taps, then rows and columns. */
#include "image/resample_kernels.h"

#include "base/simd.h"
#include "base/size.h"
#include "image/resample_weights.h"

/* ---- taps -------------------------------------------------------------------------------------------------------- */

/* Hands out the tables, or measures them where s has no base. */
static mxci_resample resample_kernels_take_tables(int interpolation, int64_t in, int64_t out, mxci_scratch *s) {
    mxci_resample r = {.in = in, .out = out, .width = mxci_resample_width(interpolation, in, out)};
    r.first = mxci_scratch_array(s, out, sizeof *r.first);
    r.weight = mxci_scratch_array(s, mxci_dim_mul(out, r.width), sizeof *r.weight);
    return r;
}

size_t mxci_resample_bytes(int interpolation, int64_t in, int64_t out) {
    mxci_scratch measure = {0};
    resample_kernels_take_tables(interpolation, in, out, &measure);
    return measure.bytes;
}

void mxci_resample_plan(int interpolation, int64_t in, int64_t out, void *table, mxci_resample *r) {
    *r = resample_kernels_take_tables(interpolation, in, out, &(mxci_scratch){.base = table});
    for (int64_t i = 0; i < out; i++)
        mxci_resample_taps(r, interpolation, i);
}

/* ---- along rows -------------------------------------------------------------------------------------------------- */

#define T uint8_t
#define NAME(stem) stem##_u8
#include "image/resample_rows_kernels.inc"

#define T float
#define NAME(stem) stem##_f32
#include "image/resample_rows_kernels.inc"

/* ---- along columns ----------------------------------------------------------------------------------------------- */

enum { BLOCK = 256 };

/* sums = elements x..x+n-1 of row y of the result. */
static void add_rows(const mxci_resample *r, int64_t row, const float *from, int64_t y, int64_t x, int64_t n,
                     float *sums) {
    for (int64_t i = 0; i < n; i++)
        sums[i] = 0;
    for (int64_t k = 0; k < r->width; k++) {
        const float weight = r->weight[y * r->width + k],
                    *source = from + mxci_clamp_index(r->first[y] + k, r->in) * row + x;
        for (int64_t i = 0; i < n; i++)
            sums[i] += weight * source[i];
    }
}

static float to_float(float x) {
    return x;
}

#define COLUMNS(T, name, convert)                                                                          \
    void name(const mxci_resample *r, int64_t row, const float *from, T *to, int64_t begin, int64_t end) { \
        float sums[BLOCK];                                                                                 \
        for (int64_t y = begin; y < end; y++)                                                              \
            for (int64_t x = 0; x < row; x += BLOCK) {                                                     \
                int64_t n = row - x < BLOCK ? row - x : BLOCK;                                             \
                add_rows(r, row, from, y, x, n, sums);                                                     \
                for (int64_t i = 0; i < n; i++)                                                            \
                    to[y * row + x + i] = convert(sums[i]);                                                \
            }                                                                                              \
    }
COLUMNS(uint8_t, mxci_resample_columns_u8, mxci_pixel_byte)
COLUMNS(float, mxci_resample_columns_f32, to_float)

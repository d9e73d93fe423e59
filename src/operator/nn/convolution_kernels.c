/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/nn/convolution_kernels.h"

#include "base/simd.h"
#include "base/size.h"
#include "math/gemm_kernels.h"
#include "math/loop.h"

/* ---- geometry -------------------------------------------------------------------------------------------------- */

static int64_t volume(const int64_t axes[3]) {
    return mxci_dim_mul(mxci_dim_mul(axes[0], axes[1]), axes[2]);
}

void mxci_field_measure(const mxci_conv_shape *s, mxci_field *f) {
    int64_t need[3];
    f->shape = *s;
    for (int i = 0; i < 3; i++)
        need[i] = mxci_dim_add(mxci_dim_mul(s->out[i] - 1, s->stride[i]),
                               mxci_dim_add(mxci_dim_mul(s->kernel[i] - 1, s->dilate[i]), 1));
    f->phase = mxci_dim_add(need[2], s->stride[2] - 1) / s->stride[2];
    f->size[0] = need[0];
    f->size[1] = need[1];
    f->size[2] = need[2] == INT64_MAX ? INT64_MAX : mxci_dim_mul(f->phase, s->stride[2]);
    f->taps = mxci_dim_mul(s->channels, volume(s->kernel));
    f->pixels = volume(s->out);
    f->elements = mxci_dim_mul(s->channels, volume(f->size));
    f->samples = 1;
    f->step = 0;
    f->plain = s->stride[2] == 1;
    for (int i = 0; i < 3; i++)
        f->plain = f->plain && s->pad[i] == 0 && need[i] == s->in[i];
}

void mxci_field_group(mxci_field *f, int64_t samples, int64_t step) {
    int64_t long_enough = MXCI_GEMM_DEPTH / f->pixels, cached = MXCI_FIELD_CACHED / f->elements;
    int64_t most = long_enough < cached ? long_enough : cached;
    f->samples = most < 1 ? 1 : most < samples ? most : samples;
    f->step = f->plain ? step : f->elements;
}

/* Point the field's tables into scratch. */
static void convolution_kernels_take_tables(mxci_field *f, int lanes, mxci_scratch *s) {
    const int64_t vectors = f->pixels / lanes + (f->pixels % lanes > 0);
    f->tap = mxci_scratch_array(s, f->taps, sizeof *f->tap);
    f->order = mxci_scratch_array(s, f->taps, sizeof *f->order);
    f->pixel = mxci_scratch_array(s, mxci_dim_mul(f->samples, f->pixels), sizeof *f->pixel);
    f->lanes = mxci_scratch_array(s, vectors, sizeof *f->lanes);
}

size_t mxci_field_table_bytes(const mxci_field *f, int lanes) {
    mxci_field copy = *f;
    mxci_scratch measure = {0};
    convolution_kernels_take_tables(&copy, lanes, &measure);
    return measure.bytes;
}

static void plan_taps(mxci_field *f) {
    const mxci_conv_shape *s = &f->shape;
    int64_t k = 0;
    for (int64_t c = 0; c < s->channels; c++)
        for (int64_t z = 0; z < s->kernel[0]; z++)
            for (int64_t y = 0; y < s->kernel[1]; y++)
                for (int64_t x = 0; x < s->kernel[2]; x++) {
                    int64_t row = (c * f->size[0] + z * s->dilate[0]) * f->size[1] + y * s->dilate[1];
                    int64_t at = x * s->dilate[2];
                    f->tap[k++] = row * f->size[2] + at % s->stride[2] * f->phase + at / s->stride[2];
                }
}

/* Neighbours lie in different channels, then rows, so that adding one row of a tile never waits for the row before. */
static void plan_order(mxci_field *f) {
    const int64_t width = f->shape.kernel[2], places = volume(f->shape.kernel);
    for (int64_t x = 0, i = 0; x < width; x++)
        for (int64_t place = x; place < places; place += width)
            for (int64_t c = 0; c < f->shape.channels; c++)
                f->order[i++] = c * places + place;
}

static void plan_pixels(mxci_field *f) {
    const mxci_conv_shape *s = &f->shape;
    int64_t p = 0;
    for (int64_t z = 0; z < s->out[0]; z++)
        for (int64_t y = 0; y < s->out[1]; y++)
            for (int64_t x = 0; x < s->out[2]; x++)
                f->pixel[p++] = (z * s->stride[0] * f->size[1] + y * s->stride[1]) * f->size[2] + x;
    for (; p < f->samples * f->pixels; p++)
        f->pixel[p] = f->pixel[p - f->pixels] + f->step;
}

/* A vector that crosses more than one row's end, or the end of all, is read pixel by pixel. */
static void plan_lanes(mxci_field *f, int lanes) {
    mxci_lanes *out = f->lanes;
    for (int64_t p = 0; p < f->pixels; p += lanes, out++) {
        const int64_t *at = f->pixel + p;
        int count = (int)(f->pixels - p < lanes ? f->pixels - p : lanes), split = 1;
        *out = (mxci_lanes){.first = at[0], .count = count};
        if (count < lanes)
            continue;
        while (split < lanes && at[split] == at[0] + split)
            split++;
        out->last = at[lanes - 1] - (lanes - 1);
        for (int i = split; i < lanes; i++)
            if (at[i] != out->last + i)
                split = 0;
        out->split = split;
    }
}

void mxci_field_plan(mxci_field *f, int lanes, void *tables) {
    convolution_kernels_take_tables(f, lanes, &(mxci_scratch){.base = tables});
    plan_taps(f);
    plan_order(f);
    plan_pixels(f);
    plan_lanes(f, lanes);
}

/* ---- strips ---------------------------------------------------------------------------------------------------- */

/* Taps are taken in strips of at most six that differ by at most one. */
static int64_t strip_count(const mxci_field *f) {
    return (f->taps + 5) / 6;
}

static int64_t strip_first(const mxci_field *f, int64_t strip) {
    return strip * f->taps / strip_count(f);
}

/* ---- by element type ------------------------------------------------------------------------------------------- */

#define BODY "operator/nn/convolution_kernels.inc"
#include "math/for_vectors.inc"

/* SPDX-License-Identifier: Apache-2.0 */
/* The geometry of a convolution (tables of offsets into the padded image), and its kernels for float and double, which
 * convolution_kernels.inc has. */
#include "operator/nn/convolution_kernels.h"

#include "base/simd_wide.h"
#include "base/size.h"
#include "math/gemm_kernels.h"
#include "math/loop.h"

/* ---- geometry -------------------------------------------------------------------------------------------------- */

static int64_t volume(const int64_t axes[3]) {
    return mxci_dim_mul(mxci_dim_mul(axes[0], axes[1]), axes[2]);
}

/* Along each axis the padded image has just the elements that patches reach: more than the image where there is
 * padding, fewer where a stride leaves some out. */
void mxci_conv_geometry_measure(const mxci_conv_shape *s, mxci_conv_geometry *geo) {
    int64_t need[3];
    geo->shape = *s;
    for (int i = 0; i < 3; i++)
        need[i] = mxci_dim_add(mxci_dim_mul(s->out[i] - 1, s->stride[i]),
                               mxci_dim_add(mxci_dim_mul(s->kernel[i] - 1, s->dilate[i]), 1));
    geo->phase = mxci_dim_add(need[2], s->stride[2] - 1) / s->stride[2];
    geo->size[0] = need[0];
    geo->size[1] = need[1];
    geo->size[2] = need[2] == INT64_MAX ? INT64_MAX : mxci_dim_mul(geo->phase, s->stride[2]);
    geo->patch_size = mxci_dim_mul(s->channels, volume(s->kernel));
    geo->pixels = volume(s->out);
    geo->elements = mxci_dim_mul(s->channels, volume(geo->size));
    geo->samples = 1;
    geo->step = 0;
    geo->is_image = s->stride[2] == 1;
    for (int i = 0; i < 3; i++)
        geo->is_image = geo->is_image && s->pad[i] == 0 && need[i] == s->in[i];
}

void mxci_conv_geometry_group(mxci_conv_geometry *geo, int64_t samples, int64_t step) {
    int64_t long_enough = MXCI_GEMM_DEPTH / geo->pixels, cached = MXCI_CONV_CACHED / geo->elements;
    int64_t most = long_enough < cached ? long_enough : cached;
    geo->samples = most < 1 ? 1 : most < samples ? most : samples;
    geo->step = geo->is_image ? step : geo->elements;
}

/* Hands out the tables, or measures them where s has no base. */
static void convolution_kernels_take_tables(mxci_conv_geometry *geo, int lanes, mxci_scratch *s) {
    const int64_t vectors = geo->pixels / lanes + (geo->pixels % lanes > 0);
    geo->kernel_offset = mxci_scratch_array(s, geo->patch_size, sizeof *geo->kernel_offset);
    geo->order = mxci_scratch_array(s, geo->patch_size, sizeof *geo->order);
    geo->pixel_offset = mxci_scratch_array(s, mxci_dim_mul(geo->samples, geo->pixels), sizeof *geo->pixel_offset);
    geo->lanes = mxci_scratch_array(s, vectors, sizeof *geo->lanes);
}

size_t mxci_conv_geometry_table_bytes(const mxci_conv_geometry *geo, int lanes) {
    mxci_conv_geometry copy = *geo;
    mxci_scratch measure = {0};
    convolution_kernels_take_tables(&copy, lanes, &measure);
    return measure.bytes;
}

/* Offset x of a row goes to phase x % stride, at x / stride. */
static void plan_kernel_offsets(mxci_conv_geometry *geo) {
    const mxci_conv_shape *s = &geo->shape;
    int64_t k = 0;
    for (int64_t c = 0; c < s->channels; c++)
        for (int64_t z = 0; z < s->kernel[0]; z++)
            for (int64_t y = 0; y < s->kernel[1]; y++)
                for (int64_t x = 0; x < s->kernel[2]; x++) {
                    int64_t row = (c * geo->size[0] + z * s->dilate[0]) * geo->size[1] + y * s->dilate[1];
                    int64_t at = x * s->dilate[2];
                    geo->kernel_offset[k++] = row * geo->size[2] + at % s->stride[2] * geo->phase + at / s->stride[2];
                }
}

/* Successive elements lie in different channels, then rows, so that adding one row of a tile to the padded image never
 * waits for the store of the row before. */
static void plan_order(mxci_conv_geometry *geo) {
    const int64_t width = geo->shape.kernel[2], kernel_size = volume(geo->shape.kernel);
    for (int64_t x = 0, i = 0; x < width; x++)
        for (int64_t position = x; position < kernel_size; position += width)
            for (int64_t c = 0; c < geo->shape.channels; c++)
                geo->order[i++] = c * kernel_size + position;
}

/* The innermost stride is 1 here, thanks to the phases. */
static void plan_pixel_offsets(mxci_conv_geometry *geo) {
    const mxci_conv_shape *s = &geo->shape;
    int64_t p = 0;
    for (int64_t z = 0; z < s->out[0]; z++)
        for (int64_t y = 0; y < s->out[1]; y++)
            for (int64_t x = 0; x < s->out[2]; x++)
                geo->pixel_offset[p++] = (z * s->stride[0] * geo->size[1] + y * s->stride[1]) * geo->size[2] + x;
    for (; p < geo->samples * geo->pixels; p++)
        geo->pixel_offset[p] = geo->pixel_offset[p - geo->pixels] + geo->step;
}

/* Most vectors of pixels lie in one output row or cross into the next, and are read by one or two vector loads. One
 * that crosses more rows, or the end of all, is read pixel by pixel (split 0). */
static void plan_lanes(mxci_conv_geometry *geo, int lanes) {
    mxci_conv_lanes *out = geo->lanes;
    for (int64_t p = 0; p < geo->pixels; p += lanes, out++) {
        const int64_t *at = geo->pixel_offset + p;
        int count = (int)(geo->pixels - p < lanes ? geo->pixels - p : lanes), split = 1;
        *out = (mxci_conv_lanes){.first = at[0], .count = count};
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

void mxci_conv_geometry_plan(mxci_conv_geometry *geo, int lanes, void *tables) {
    convolution_kernels_take_tables(geo, lanes, &(mxci_scratch){.base = tables});
    plan_kernel_offsets(geo);
    plan_order(geo);
    plan_pixel_offsets(geo);
    plan_lanes(geo, lanes);
}

/* ---- strips ---------------------------------------------------------------------------------------------------- */

/* Elements of a patch are taken in strips of at most six, the rows of the register tile, that differ by at most one. */
static int64_t strip_count(const mxci_conv_geometry *geo) {
    return (geo->patch_size + 5) / 6;
}

static int64_t strip_first(const mxci_conv_geometry *geo, int64_t strip) {
    return strip * geo->patch_size / strip_count(geo);
}

/* ---- phases ---------------------------------------------------------------------------------------------------- */

/* Whether an offset of the kernel is in this phase of the axis. With stride 2, all phases are but with a kernel of 1.
 */
static int is_read(const mxci_conv_geometry *geo, int axis, int64_t phase) {
    for (int64_t k = 0; k < geo->shape.kernel[axis]; k++)
        if (k * geo->shape.dilate[axis] % geo->shape.stride[axis] == phase)
            return 1;
    return 0;
}

/* ---- by element type ------------------------------------------------------------------------------------------- */

#define BODY "operator/nn/convolution_kernels.inc"
#include "math/for_vectors.inc"

/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the steps. They alternate between two blocks of pixels; a crop is a view until its pixels are changed. */
#include "io/augment.h"

#include <string.h>

#include "base/size.h"
#include "base/sys.h"
#include "image/resample_weights.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static mxc_status augment_reserve(void **data, size_t *have, size_t bytes) {
    if (*have >= bytes)
        return MXC_OK;
    mxci_pages_free(*data, *have);
    *have = 0;
    *data = mxci_pages_alloc(bytes);
    if (!*data)
        return MXC_FAIL(MXC_ENOMEM, "augmentation: no memory for %zu bytes", bytes);
    *have = bytes;
    return MXC_OK;
}

#define RESERVE(block, bytes_) augment_reserve(&(block).data, &(block).bytes, bytes_)

void mxci_augment_workspace_free(mxci_augment_workspace *space) {
    for (int i = 0; i < 2; i++)
        mxci_pages_free(space->image[i].data, space->image[i].bytes);
    mxci_pages_free(space->floats.data, space->floats.bytes);
    mxci_pages_free(space->table.data, space->table.bytes);
    memset(space, 0, sizeof *space);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

typedef struct augment_state {
    mxci_augment_workspace *space;
    int free; /* index of the block of pixels that the view is not in */
    mxci_pixel_view view;
} augment_state;

/* Switch the view to the other block, with room for an image whose pixels the caller writes; *before is the old view.
 */
static mxc_status begin_image(augment_state *state, int64_t h, int64_t width, mxci_pixel_view *before, uint8_t **to) {
    size_t bytes = mxci_size_of(mxci_dim_mul(mxci_dim_mul(h, width), state->view.channels), 1);
    MXC_TRY(RESERVE(state->space->image[state->free], bytes));
    *before = state->view;
    *to = state->space->image[state->free].data;
    state->view = (mxci_pixel_view){*to, width * state->view.channels, h, width, state->view.channels};
    state->free = 1 - state->free;
    return MXC_OK;
}

/* Copy the view to a block of its own, with pad pixels of the value fill on each side. */
static mxc_status make_dense(augment_state *state, int64_t pad, int fill) {
    mxci_pixel_view before;
    uint8_t *to;
    MXC_TRY(begin_image(state, state->view.h + 2 * pad, state->view.w + 2 * pad, &before, &to));
    mxci_pixels_copy(&before, pad, (uint8_t)fill, to);
    return MXC_OK;
}

/* Separable resampling: along the rows into floats, then along the columns. */
static mxc_status resize(augment_state *state, int interpolation, int64_t to_h, int64_t to_w) {
    const int64_t h = state->view.h, width = state->view.w, channels = state->view.channels;
    const int kind = mxci_resample_kind(interpolation, h, width, to_h, to_w);
    size_t rows_bytes = mxci_resample_bytes(kind, width, to_w);
    mxci_resample rows, columns;
    mxci_pixel_view before;
    uint8_t *to;
    if (h == to_h && width == to_w)
        return MXC_OK;
    if (state->view.stride != width * channels)
        MXC_TRY(make_dense(state, 0, 0));
    MXC_TRY(RESERVE(state->space->table, mxci_size_add(rows_bytes, mxci_resample_bytes(kind, h, to_h))));
    MXC_TRY(RESERVE(state->space->floats, mxci_size_of(mxci_dim_mul(mxci_dim_mul(h, to_w), channels), sizeof(float))));
    MXC_TRY(begin_image(state, to_h, to_w, &before, &to));
    mxci_resample_plan(kind, width, to_w, state->space->table.data, &rows);
    mxci_resample_plan(kind, h, to_h, (char *)state->space->table.data + rows_bytes, &columns);
    mxci_resample_rows_u8(&rows, channels, before.at, state->space->floats.data, 0, h);
    mxci_resample_columns_u8(&columns, to_w * channels, state->space->floats.data, to, 0, to_h);
    return MXC_OK;
}

static mxc_status warp(augment_state *state, const double matrix[6], int nearest, int fill, int64_t to_h,
                       int64_t to_w) {
    mxci_pixel_view before;
    uint8_t *to;
    MXC_TRY(begin_image(state, to_h, to_w, &before, &to));
    mxci_pixels_warp(&before, matrix, nearest, (uint8_t)fill, to, to_h, to_w);
    return MXC_OK;
}

/* Brightness b, contrast c and saturation s as one affine map of a pixel x: s mixes x with its own grey, c with the
 * mean grey of the image, and b scales; noise is added. m is 3 x 4, its last column the constant. */
static void make_matrix(const mxci_augment_steps *p, double mean_grey, float m[12]) {
    static const double grey[3] = {0.299, 0.587, 0.114};
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++)
            m[4 * c + k] =
                (float)(p->brightness * p->contrast * (p->saturation * (k == c) + (1 - p->saturation) * grey[k]));
        m[4 * c + 3] = (float)(p->brightness * mean_grey * (1 - p->contrast) + p->noise[c]);
    }
}

/* In place, on a copy of the view, since a crop shares its pixels with the image. */
static mxc_status change_colours(augment_state *state, const mxci_augment_steps *steps) {
    const int64_t n = state->view.h * state->view.w, channels = state->view.channels;
    uint8_t *pixels;
    MXC_TRY(make_dense(state, 0, 0));
    pixels = state->space->image[1 - state->free].data;
    if (steps->changes_hls)
        mxci_pixels_shift_hls(pixels, n, channels, steps->hls_shift);
    if (steps->changes_rgb) {
        float matrix[12];
        make_matrix(steps, mxci_pixels_mean_grey(&state->view), matrix);
        mxci_pixels_colour_matrix(pixels, n, channels, matrix);
    }
    return MXC_OK;
}

/* value = ((byte - mean) contrast + illumination) scale / std, as one multiplication and addition per element: factor
 * = contrast scale / std, add = illumination scale / std - mean factor. A std of 0 counts as 1. */
static void write_pixels(const mxci_augment *a, const mxci_augment_steps *steps, const mxci_pixel_view *view,
                         void *out) {
    const mxci_image_params *p = a->params;
    const double mean[4] = {p->mean_r, p->mean_g, p->mean_b, p->mean_a};
    const double deviation[4] = {p->std_r, p->std_g, p->std_b, p->std_a};
    mxci_pixels_format format = {.mirror = steps->mirror, .by_pixel = p->layout == MXCI_LAYOUT_NHWC, .mean = a->mean};
    for (int c = 0; c < 4; c++) {
        double by = p->scale / (deviation[c] > 0 ? deviation[c] : 1), factor = steps->value_contrast * by;
        format.factor[c] = (float)factor;
        format.add[c] = (float)(steps->value_illumination * by - (a->mean ? 0 : mean[c] * factor));
    }
    if (a->dtype == MXC_U8)
        mxci_pixels_write_u8(view, &format, out);
    else if (a->dtype == MXC_I8)
        mxci_pixels_write_i8(view, &format, out);
    else if (a->dtype == MXC_F16)
        mxci_pixels_write_f16(view, &format, out);
    else
        mxci_pixels_write_f32(view, &format, out);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int64_t scale_up(int64_t x, int64_t part, int64_t whole) {
    return (x * part + whole - 1) / whole;
}

/* Where the crop is taken from the unchanged image and then shrunk, decode a JPEG at a reduced size instead (its DCT
 * can be evaluated at 1/2, 1/4 or 1/8), and scale the crop accordingly. */
static void reduce_crop(mxci_augment_steps *p, mxci_image *image) {
    const int64_t h = image->height, w = image->width;
    if (p->warps || p->pad || p->resized_h != h || p->resized_w != w || p->grown_h != h || p->grown_w != w)
        return;
    mxci_image_reduce(image, scale_up(h, p->placed_h, p->crop_h), scale_up(w, p->placed_w, p->crop_w));
    p->crop_h = scale_up(p->crop_h, image->height, h);
    p->crop_w = scale_up(p->crop_w, image->width, w);
    p->crop_y = p->crop_y * image->height / h;
    p->crop_x = p->crop_x * image->width / w;
    p->resized_h = p->grown_h = image->height;
    p->resized_w = p->grown_w = image->width;
}

static mxc_status decode(const mxci_augment *a, mxci_augment_steps *steps, mxci_image *image, augment_state *state) {
    mxci_pixel_view before;
    uint8_t *to;
    if (steps->resized_h < image->height)
        mxci_image_reduce(image, steps->resized_h, steps->resized_w);
    else
        reduce_crop(steps, image);
    state->view.channels = a->channels;
    MXC_TRY(begin_image(state, image->height, image->width, &before, &to));
    return mxci_image_decode(image, a->channels == 1 ? MXCI_GREY : a->channels == 3 ? MXCI_RGB : MXCI_RGBA, to);
}

mxc_status mxci_augment_apply(const mxci_augment *a, mxci_augment_steps *steps, mxci_image *image,
                              mxci_augment_workspace *space, void *out) {
    const int fill = (int)a->params->fill_value;
    augment_state state = {.space = space};
    MXC_TRY(decode(a, steps, image, &state));
    MXC_TRY(resize(&state, steps->interpolation, steps->resized_h, steps->resized_w));
    if (steps->warps)
        MXC_TRY(
            warp(&state, steps->warp, steps->interpolation == MXCI_NEAREST, fill, steps->warped_h, steps->warped_w));
    if (steps->pad)
        MXC_TRY(make_dense(&state, steps->pad, fill));
    MXC_TRY(resize(&state, steps->interpolation, steps->grown_h, steps->grown_w));
    state.view.at += steps->crop_y * state.view.stride + steps->crop_x * state.view.channels;
    state.view.h = steps->crop_h;
    state.view.w = steps->crop_w;
    MXC_TRY(resize(&state, steps->interpolation, steps->placed_h, steps->placed_w));
    if (steps->changes_hls || steps->changes_rgb)
        MXC_TRY(change_colours(&state, steps));
    if (steps->placed_h < a->height || steps->placed_w < a->width) { /* at the top left, after mirroring */
        const double left = (double)(steps->mirror ? a->width - steps->placed_w : 0);
        MXC_TRY(warp(&state, (const double[]){1, 0, -left, 0, 1, 0}, 1, fill, a->height, a->width));
    }
    write_pixels(a, steps, &state.view, out);
    return MXC_OK;
}

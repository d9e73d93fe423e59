/* SPDX-License-Identifier: Apache-2.0 */
/* Pixel operations of the augmentation: warp, copy with padding, colours, and writing into a batch. Loops over rows
 * and groups are written so that compilers vectorise them. */
#include "io/pixels_kernels.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"

MXCI_INLINE float cut(float x, float max) {
    x = x > 0 ? x : 0;
    return x < max ? x : max;
}

MXCI_INLINE uint8_t to_byte(float x) {
    return (uint8_t)(int32_t)rintf(cut(x, 255));
}

static int8_t to_signed(float x) {
    return (int8_t)(x > -128 ? x < 127 ? rintf(x) : 127 : -128);
}

/* ---- positions --------------------------------------------------------------------------------------------------- */

static const uint8_t *pixel_at(const mxci_pixel_view *v, int64_t y, int64_t x, const uint8_t *outside) {
    return y >= 0 && y < v->h && x >= 0 && x < v->w ? v->at + y * v->stride + x * v->channels : outside;
}

/* Bilinear: between the four pixels around (x, y). */
static void interpolate(const mxci_pixel_view *v, double x, double y, const uint8_t *outside, uint8_t *to) {
    int64_t left = (int64_t)floor(x), top = (int64_t)floor(y);
    float right_share = (float)(x - floor(x)), low_share = (float)(y - floor(y));
    const uint8_t *p[4];
    for (int i = 0; i < 4; i++)
        p[i] = pixel_at(v, top + i / 2, left + i % 2, outside);
    for (int64_t c = 0; c < v->channels; c++) {
        float high = (float)p[0][c] * (1 - right_share) + (float)p[1][c] * right_share;
        float low = (float)p[2][c] * (1 - right_share) + (float)p[3][c] * right_share;
        to[c] = to_byte(high * (1 - low_share) + low * low_share);
    }
}

void mxci_pixels_warp(const mxci_pixel_view *v, const double m[6], int nearest, uint8_t fill, uint8_t *to, int64_t h,
                      int64_t w) {
    const uint8_t outside[4] = {fill, fill, fill, fill};
    for (int64_t i = 0; i < h; i++)
        for (int64_t k = 0; k < w; k++, to += v->channels) {
            double x = m[0] * (double)k + m[1] * (double)i + m[2], y = m[3] * (double)k + m[4] * (double)i + m[5];
            const uint8_t *pixel = outside;
            if (x > -1 && y > -1 && x < (double)v->w && y < (double)v->h) { /* some pixel of the image contributes */
                if (!nearest) {
                    interpolate(v, x, y, outside, to);
                    continue;
                }
                pixel = pixel_at(v, (int64_t)floor(y + 0.5), (int64_t)floor(x + 0.5), outside);
            }
            memcpy(to, pixel, (size_t)v->channels);
        }
}

void mxci_pixels_copy(const mxci_pixel_view *v, int64_t pad, uint8_t fill, uint8_t *to) {
    size_t row = (size_t)(v->w * v->channels), side = (size_t)(pad * v->channels), full = row + 2 * side;
    memset(to, fill, full * (size_t)pad);
    to += full * (size_t)pad;
    for (int64_t y = 0; y < v->h; y++, to += full) {
        memset(to, fill, side);
        memcpy(to + side, v->at + y * v->stride, row);
        memset(to + side + row, fill, side);
    }
    memset(to, fill, full * (size_t)pad);
}

/* ---- colours ----------------------------------------------------------------------------------------------------- */

/* Pixels in groups, with an array per channel, so that loops over a group are vectorised. */
enum { GROUP = 64, RED = 0, GREEN = 1, BLUE = 2 };

static void load_group(const uint8_t *rgb, int64_t n, int64_t step, float group[3][GROUP]) {
    for (int64_t i = 0; i < n; i++, rgb += step)
        for (int c = 0; c < 3; c++)
            group[c][i] = rgb[c];
}

static void store_group(float group[3][GROUP], int64_t n, int64_t step, uint8_t *rgb) {
    uint8_t bytes[3][GROUP];
    for (int c = 0; c < 3; c++)
        for (int64_t i = 0; i < n; i++)
            bytes[c][i] = to_byte(group[c][i]);
    for (int64_t i = 0; i < n; i++, rgb += step)
        for (int c = 0; c < 3; c++)
            rgb[c] = bytes[c][i];
}

/* From red, green, blue to hue (0 to 180), lightness and saturation (0 to 255). */
static void to_hls(float group[3][GROUP], int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        float r = group[RED][i], g = group[GREEN][i], b = group[BLUE][i];
        float max = r > g ? r : g, min = r < g ? r : g;
        max = max > b ? max : b;
        min = min < b ? min : b;
        float range = max - min, sum = max + min, room = sum <= 255 ? sum : 510 - sum;
        float red = max == r, green = max == g ? 1 - red : 0, blue = 1 - red - green; /* 1 for the largest */
        float ahead = red * (g - b) + green * (b - r) + blue * (r - g);
        float hue = 30 * ahead / (range > 0 ? range : 1) + 60 * green + 120 * blue;
        group[0][i] = hue < 0 ? hue + 180 : hue;
        group[1][i] = sum / 2;
        group[2][i] = 255 * range / (room > 0 ? room : 1);
    }
}

/* The value of a channel, given the hue of the colour relative to that channel, in sixths of the circle. */
MXCI_INLINE float channel_of(float hue, float low, float high) {
    hue = hue < 0 ? hue + 6 : hue >= 6 ? hue - 6 : hue;
    float falling = 4 - hue > 0 ? 4 - hue : 0, share = hue < falling ? hue : falling;
    return low + (high - low) * (share < 1 ? share : 1);
}

static void from_hls(float group[3][GROUP], int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        float hue = group[0][i] / 30, lightness = group[1][i] / 255, saturation = group[2][i] / 255;
        float more = lightness * saturation;
        float high = 255 * (lightness <= 0.5f ? lightness + more : lightness + saturation - more);
        float low = 510 * lightness - high;
        group[RED][i] = channel_of(hue + 2, low, high);
        group[GREEN][i] = channel_of(hue, low, high);
        group[BLUE][i] = channel_of(hue - 2, low, high);
    }
}

static void shift_hls(float group[3][GROUP], int64_t n, const float add[3]) {
    static const float max[3] = {180, 255, 255};
    to_hls(group, n);
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < n; i++)
            group[k][i] = cut(group[k][i] + add[k], max[k]);
    from_hls(group, n);
}

static void apply_matrix(float group[3][GROUP], int64_t n, const float m[12]) {
    for (int64_t i = 0; i < n; i++) {
        float r = group[RED][i], g = group[GREEN][i], b = group[BLUE][i];
        group[RED][i] = m[0] * r + m[1] * g + m[2] * b + m[3];
        group[GREEN][i] = m[4] * r + m[5] * g + m[6] * b + m[7];
        group[BLUE][i] = m[8] * r + m[9] * g + m[10] * b + m[11];
    }
}

/* Apply change to groups of pixels, each channel in an array of its own. */
MXCI_INLINE void by_groups(uint8_t *rgb, int64_t n, int64_t step, const float *how,
                           void (*change)(float group[3][GROUP], int64_t n, const float *how)) {
    float group[3][GROUP];
    for (int64_t at = 0; at < n; at += GROUP) {
        int64_t some = n - at < GROUP ? n - at : GROUP;
        load_group(rgb + at * step, some, step, group);
        change(group, some, how);
        store_group(group, some, step, rgb + at * step);
    }
}

void mxci_pixels_shift_hls(uint8_t *rgb, int64_t n, int64_t step, const float add[3]) {
    by_groups(rgb, n, step, add, shift_hls);
}

void mxci_pixels_colour_matrix(uint8_t *rgb, int64_t n, int64_t step, const float m[12]) {
    by_groups(rgb, n, step, m, apply_matrix);
}

double mxci_pixels_mean_grey(const mxci_pixel_view *v) {
    double sums[3] = {0, 0, 0};
    for (int64_t y = 0; y < v->h; y++) {
        const uint8_t *row = v->at + y * v->stride;
        int64_t sum[3] = {0, 0, 0};
        for (int64_t x = 0; x < v->w; x++, row += v->channels)
            for (int c = 0; c < 3; c++)
                sum[c] += row[c];
        for (int c = 0; c < 3; c++)
            sums[c] += (double)sum[c];
    }
    return (0.299 * sums[0] + 0.587 * sums[1] + 0.114 * sums[2]) / (double)(v->h * v->w);
}

/* ---- into a batch ------------------------------------------------------------------------------------------------ */

enum { PIECE = 256 };

/* n pixels of a row as planes; mirror: the last first. */
static void split_row(const uint8_t *from, int64_t channels, int64_t n, int mirror, uint8_t split[4][PIECE]) {
    if (channels == 1)
        memcpy(split[0], from, (size_t)n);
    for (int64_t i = 0; channels == 3 && i < n; i++) {
        split[0][i] = from[3 * i];
        split[1][i] = from[3 * i + 1];
        split[2][i] = from[3 * i + 2];
    }
    for (int64_t i = 0; channels == 4 && i < n; i++)
        for (int c = 0; c < 4; c++)
            split[c][i] = from[4 * i + c];
    for (int64_t c = 0; mirror && c < channels; c++) {
        uint8_t row[PIECE];
        memcpy(row, split[c], (size_t)n);
        for (int64_t i = 0; i < n; i++)
            split[c][i] = row[n - 1 - i];
    }
}

#define T uint8_t
#define NAME(stem) stem##_u8
#define CONVERT(byte, mean, factor, add) ((void)(mean), (void)(factor), (void)(add), (byte))
#include "io/pixels_write_kernels.inc"

#define T int8_t
#define NAME(stem) stem##_i8
#define CONVERT(byte, mean, factor, add) to_signed(((float)(byte) - (mean)) * (factor) + (add))
#include "io/pixels_write_kernels.inc"

#define T mxc_f16
#define NAME(stem) stem##_f16
#define CONVERT(byte, mean, factor, add) mxc_float_to_f16(((float)(byte) - (mean)) * (factor) + (add))
#include "io/pixels_write_kernels.inc"

#define T float
#define NAME(stem) stem##_f32
#define CONVERT(byte, mean, factor, add) (((float)(byte) - (mean)) * (factor) + (add))
#include "io/pixels_write_kernels.inc"

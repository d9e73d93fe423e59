/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on images of bytes on their way into a batch: (h, w, channels), dense, with channels red, green, blue and
 * perhaps alpha, or a single grey one. Sizes are int64_t and above 0. Nothing here is random: the caller has drawn all
 * parameters. */
#ifndef MXCI_IO_PIXELS_KERNELS_H
#define MXCI_IO_PIXELS_KERNELS_H

#include <stdint.h>

#include <mxc/half.h>

/* A rectangle of an image; stride: bytes from row to row. */
typedef struct mxci_pixel_view {
    const uint8_t *at;
    int64_t stride, h, w, channels;
} mxci_pixel_view;

/* Affine warp: pixel (x, y) of the result is the image at (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]), the nearest
 * pixel or a bilinear interpolation of four. Pixels outside of the image have the value fill. */
void mxci_pixels_warp(const mxci_pixel_view *from, const double m[6], int nearest, uint8_t fill, uint8_t *to, int64_t h,
                      int64_t w);
/* Copy to (from->h + 2 pad, from->w + 2 pad, channels), with pad rows and columns of the value fill on each side. */
void mxci_pixels_copy(const mxci_pixel_view *from, int64_t pad, uint8_t fill, uint8_t *to);

/* Add to hue (0 to 180), lightness and saturation (0 to 255) of n pixels of step bytes, in place; values are clipped.
 */
void mxci_pixels_shift_hls(uint8_t *rgb, int64_t n, int64_t step, const float add[3]);
/* Channel c becomes m[4c] red + m[4c+1] green + m[4c+2] blue + m[4c+3], rounded and clipped. */
void mxci_pixels_colour_matrix(uint8_t *rgb, int64_t n, int64_t step, const float m[12]);
/* Mean of 0.299 red + 0.587 green + 0.114 blue. */
double mxci_pixels_mean_grey(const mxci_pixel_view *from);

/* How a view is written into a batch: value = factor[c] (byte - mean) + add[c], rounded and clipped for int8; uint8
 * gets the unchanged bytes. */
typedef struct mxci_pixels_format {
    int mirror;        /* write each row from its end */
    int by_pixel;      /* (h,w,channels) rather than (channels,h,w) */
    const float *mean; /* (channels,h,w); NULL: 0 */
    float factor[4], add[4];
} mxci_pixels_format;

void mxci_pixels_write_u8(const mxci_pixel_view *from, const mxci_pixels_format *form, uint8_t *to);
void mxci_pixels_write_i8(const mxci_pixel_view *from, const mxci_pixels_format *form, int8_t *to);
void mxci_pixels_write_f16(const mxci_pixel_view *from, const mxci_pixels_format *form, mxc_f16 *to);
void mxci_pixels_write_f32(const mxci_pixel_view *from, const mxci_pixels_format *form, float *to);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resampling of images (height, width, channels), dense, one axis at a time. An element of the result is a weighted sum
 * of neighbours, the taps of a filter: `width` elements from `first` on. An image is first resampled along its rows,
 * into floats, then along its columns. Sizes and indices are int64_t.
 */
#ifndef MXCI_IMAGE_RESAMPLE_KERNELS_H
#define MXCI_IMAGE_RESAMPLE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* OpenCV's numbers, and one more: what OpenCV's area interpolation computes unless both sides shrink. */
enum {
    MXCI_NEAREST,
    MXCI_LINEAR,
    MXCI_CUBIC,
    MXCI_AREA,
    MXCI_LANCZOS,
    MXCI_INTERPOLATIONS,
    MXCI_STEP = MXCI_INTERPOLATIONS
};

typedef struct mxci_resample {
    int64_t in, out, width; /* elements before and after, and taps of each result */
    int64_t *first;         /* (out); taps outside of 0..in-1 read the outermost element */
    float *weight;          /* (out, width) */
} mxci_resample;

/* What to allocate for a table (64-byte aligned), and making it there. in and out above 0. */
size_t mxci_resample_bytes(int interpolation, int64_t in, int64_t out);
void mxci_resample_plan(int interpolation, int64_t in, int64_t out, void *table, mxci_resample *r);

/* Rows begin..end-1 of an image resized along its rows: to (h, r->out, channels). */
void mxci_resample_rows_u8(const mxci_resample *r, int64_t channels, const uint8_t *from, float *to, int64_t begin,
                           int64_t end);
void mxci_resample_rows_f32(const mxci_resample *r, int64_t channels, const float *from, float *to, int64_t begin,
                            int64_t end);
/* Rows begin..end-1 of the result: from (r->in, row) to (r->out, row); u8 is rounded and cut to 0..255. */
void mxci_resample_columns_u8(const mxci_resample *r, int64_t row, const float *from, uint8_t *to, int64_t begin,
                              int64_t end);
void mxci_resample_columns_f32(const mxci_resample *r, int64_t row, const float *from, float *to, int64_t begin,
                               int64_t end);

/* OpenCV's numbers for the border around an image: a value; the outermost element; the image mirrored with its
 * outermost element; the image again; mirrored without the outermost element. */
enum {
    MXCI_BORDER_VALUE,
    MXCI_BORDER_EDGE,
    MXCI_BORDER_MIRROR,
    MXCI_BORDER_WRAP,
    MXCI_BORDER_MIRROR_INSIDE,
    MXCI_BORDERS
};

#endif

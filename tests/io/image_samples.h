/* SPDX-License-Identifier: Apache-2.0 */
/* Images for the tests of what decodes and augments them: PNG of any bytes, so that results are known exactly. */
#ifndef MXC_TESTS_IMAGE_SAMPLES_H
#define MXC_TESTS_IMAGE_SAMPLES_H

#include "images.h"
#include "image/codec.h"

/* A byte that looks random but is the same each time. */
static inline uint8_t sample_byte(uint32_t i) {
    i = (i ^ 61u) * 2654435761u;
    return (uint8_t)((i ^ i >> 15) * 2246822519u >> 24);
}

/* (h,w,channels) of such bytes; or of a smooth slope where smooth is 1. */
static inline void sample_pixels(uint32_t seed, int h, int w, int channels, int smooth, uint8_t *out) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < channels; c++, out++)
                *out = smooth ? (uint8_t)(20 + 3 * x + 2 * y + 30 * c + (int)seed % 17)
                              : sample_byte(seed * 100003u + (uint32_t)((y * w + x) * channels + c));
}

/* A PNG of such pixels: 1 channel, 3 or 4. */
static inline void sample_png(test_image *out, const uint8_t *pixels, int h, int w, int channels) {
    static test_image rows;
    rows.n = 0;
    for (int y = 0; y < h; y++) {
        image_put_number(&rows, 0, 1);
        image_put(&rows, pixels + y * w * channels, (size_t)(w * channels));
    }
    png_begin(out, (uint32_t)h, (uint32_t)w, channels == 1 ? 0 : channels == 3 ? 2 : 6, 8, 0);
    png_finish(out, &rows);
}

static inline int has_png(void) {
    if (!mxci_png_decoder)
        print_message("skipped: built without libpng\n");
    return mxci_png_decoder != NULL;
}

static inline int has_jpeg(void) {
    if (!mxci_jpeg_decoder)
        print_message("skipped: built without libturbojpeg\n");
    return mxci_jpeg_decoder != NULL;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws rectangles and short texts into images of 3 channels. Used by train_ssd; not part of the library. Whatever lies
 * outside of the image is left out.
 */
#ifndef MXC_EXAMPLES_DRAW_BOXES_H
#define MXC_EXAMPLES_DRAW_BOXES_H

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <mxc/image.h>
#include <mxc/ndarray.h>

enum { GLYPH_WIDTH = 3, GLYPH_HEIGHT = 5 };

typedef struct color {
    uint8_t red, green, blue;
} color;

/* A different color for each of eight numbers, which repeat. */
static inline color color_of(int64_t number) {
    static const color colors[] = {
        {230, 25, 75},  {60, 180, 75}, {0, 130, 200},  {245, 130, 48},
        {145, 30, 180}, {0, 128, 128}, {170, 110, 40}, {128, 0, 0},
    };
    return colors[number & 7];
}

/* Fills columns left to right - 1 of rows top to bottom - 1. */
static inline void fill_rectangle(mxc_image *image, int64_t left, int64_t top, int64_t right, int64_t bottom, color c) {
    left = left > 0 ? left : 0;
    right = right < image->width ? right : image->width;
    bottom = bottom < image->height ? bottom : image->height;
    for (int64_t y = top > 0 ? top : 0; y < bottom; y++)
        for (int64_t x = left; x < right; x++) {
            uint8_t *pixel = image->pixels + (y * image->width + x) * 3;
            pixel[0] = c.red;
            pixel[1] = c.green;
            pixel[2] = c.blue;
        }
}

/* The outline of a rectangle, with lines of a width inside of it. */
static inline void draw_rectangle(mxc_image *image, int64_t left, int64_t top, int64_t right, int64_t bottom,
                                  int64_t line, color c) {
    fill_rectangle(image, left, top, right, top + line, c);
    fill_rectangle(image, left, bottom - line, right, bottom, c);
    fill_rectangle(image, left, top, left + line, bottom, c);
    fill_rectangle(image, right - line, top, right, bottom, c);
}

/* A character of 3 x 5 pixels: an octal digit for each row, from the top, whose bits are the pixels from the left.
 * Capital letters stand for small ones; a character without a picture is a filled rectangle. */
static inline unsigned glyph_of(int character) {
    static const unsigned digits[] = {075557, 026227, 071747, 071717, 055711, 074717, 074757, 071122, 075757, 075717};
    static const unsigned letters[] = {
        025755, 065656, 034443, 065556, 074647, 074644, 034553, 055755, 072227, 011152, 055655, 044447, 057755,
        065555, 025552, 065644, 025563, 065655, 034216, 072222, 055557, 055552, 055775, 055255, 055222, 071247,
    };
    static const char others[] = " .-%_:/";
    static const unsigned rows_of_others[] = {0, 000002, 000700, 051245, 000007, 002020, 011244};
    const char *other = character ? strchr(others, character) : NULL;
    character = toupper(character);
    if (character >= '0' && character <= '9')
        return digits[character - '0'];
    if (character >= 'A' && character <= 'Z')
        return letters[character - 'A'];
    return other ? rows_of_others[other - others] : 077777;
}

/* Writes a text, each pixel of its characters a square of scale x scale pixels, from the point (left, top) on. */
static inline void draw_text(mxc_image *image, int64_t left, int64_t top, int64_t scale, const char *text, color c) {
    for (; *text; text++, left += (GLYPH_WIDTH + 1) * scale) {
        const unsigned glyph = glyph_of((unsigned char)*text);
        for (int i = 0; i < GLYPH_WIDTH * GLYPH_HEIGHT; i++) {
            const int64_t x = left + i % GLYPH_WIDTH * scale, y = top + i / GLYPH_WIDTH * scale;
            if (glyph >> (GLYPH_WIDTH * GLYPH_HEIGHT - 1 - i) & 1)
                fill_rectangle(image, x, y, x + scale, y + scale, c);
        }
    }
}

/* A rectangle with a text in white on its color: above it, or inside where there is no room above, and further left
 * where there is no room on the right. */
static inline void draw_box(mxc_image *image, int64_t left, int64_t top, int64_t right, int64_t bottom,
                            const char *text, color c) {
    static const color white = {255, 255, 255};
    const int64_t scale = 1 + image->width / 400, height = (GLYPH_HEIGHT + 2) * scale;
    const int64_t width = ((int64_t)strlen(text) * (GLYPH_WIDTH + 1) + 1) * scale;
    const int64_t above = top >= height ? top - height : top > 0 ? top : 0;
    const int64_t last = image->width > width ? image->width - width : 0, begin = left < 0      ? 0
                                                                                  : left < last ? left
                                                                                                : last;
    draw_rectangle(image, left, top, right, bottom, scale, c);
    fill_rectangle(image, begin, above, begin + width, above + height, c);
    draw_text(image, begin + scale, above + scale, scale, text, white);
}

/* Writes a PNG file. Returns MXC_EIO if that fails. */
static inline mxc_status write_png(const mxc_image *image, const char *path) {
    void *bytes;
    size_t n;
    MXC_TRY(mxc_image_encode_png(image, &bytes, &n));
    FILE *file = fopen(path, "wb");
    const int ok = file && fwrite(bytes, 1, n, file) == n;
    mxc_free(bytes);
    if ((file && fclose(file) != 0) || !ok)
        return MXC_FAIL(MXC_EIO, "cannot write %s", path);
    return MXC_OK;
}

#endif

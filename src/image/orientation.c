/* SPDX-License-Identifier: Apache-2.0 */
/* EXIF 2.3, section 4.6.4: what the orientations mean; TIFF 6.0, section 2: header, directory and entries. */
#include "image/orientation.h"

#include <string.h>

enum { EXIF_HEADER = 6, TIFF_HEADER = 8, TIFF_ENTRY = 12, TIFF_SHORT = 3, ORIENTATION_TAG = 0x0112 };

/* The TIFF block of EXIF: offsets are relative to its beginning. */
typedef struct tiff_block {
    const uint8_t *bytes;
    size_t n;
    int big_endian;
} tiff_block;

/* An unsigned number of 2 or 4 bytes; the caller has checked that they are inside. */
static uint32_t tiff_number(const tiff_block *t, size_t at, size_t bytes) {
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | t->bytes[at + (t->big_endian ? i : bytes - 1 - i)];
    return value;
}

/* The orientation in the directory at an offset. */
static int find_orientation(const tiff_block *t, size_t at) {
    if (at > t->n || t->n - at < 2)
        return 0;
    size_t entries = tiff_number(t, at, 2), room = (t->n - at - 2) / TIFF_ENTRY;
    at += 2;
    for (size_t i = 0; i < entries && i < room; i++, at += TIFF_ENTRY) {
        if (tiff_number(t, at, 2) != ORIENTATION_TAG)
            continue;
        /* type, count, then the value itself, since it has at most 4 bytes */
        if (tiff_number(t, at + 2, 2) != TIFF_SHORT || tiff_number(t, at + 4, 4) != 1)
            return 0;
        const uint32_t value = tiff_number(t, at + 8, 2);
        return value >= 1 && value <= 8 ? (int)value : 0;
    }
    return 0;
}

int mxci_exif_orientation(const uint8_t *payload, size_t n) {
    if (n < EXIF_HEADER + TIFF_HEADER || memcmp(payload, "Exif\0\0", EXIF_HEADER) != 0)
        return 0;
    tiff_block t = {.bytes = payload + EXIF_HEADER, .n = n - EXIF_HEADER, .big_endian = payload[EXIF_HEADER] == 'M'};
    if (memcmp(t.bytes, t.big_endian ? "MM\0*" : "II*\0", 4) != 0)
        return 0;
    return find_orientation(&t, tiff_number(&t, 4, 4));
}

/* Orientation   1    2    3    4    5    6    7    8
 * row comes of  y   y    -y   -y    x   -x   -x    x     (a minus: counted from the other end)
 * column of     x   -x   -x    x    y    y   -y   -y                                                               */
void mxci_orientation_apply(int orientation, const uint8_t *from, int64_t stored_height, int64_t stored_width,
                            int channels, uint8_t *to) {
    const int swaps = mxci_orientation_swaps(orientation);
    const int flips_rows = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    const int flips_columns = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    const int64_t row = stored_width * channels;
    const int64_t row_step = flips_rows ? -row : row, column_step = flips_columns ? -channels : channels;
    const int64_t height = swaps ? stored_width : stored_height, width = swaps ? stored_height : stored_width;
    const int64_t y_step = swaps ? column_step : row_step, x_step = swaps ? row_step : column_step;
    const uint8_t *origin = from + (flips_rows ? (stored_height - 1) * row : 0) + (flips_columns ? row - channels : 0);
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++, to += channels)
            for (int c = 0; c < channels; c++)
                to[c] = origin[y * y_step + x * x_step + c];
}

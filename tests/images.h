/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small image files made by hand, for tests of those who read them: PNG of any sort, and JPEG whose blocks of 8 x 8 are
 * each of one colour, so that what comes out is known exactly. Header only; needs zlib.
 */
#ifndef MXC_TESTS_IMAGES_H
#define MXC_TESTS_IMAGES_H

#include "support.h"

#include <zlib.h>

typedef struct test_image {
    size_t n;
    uint8_t bytes[1 << 16];
} test_image;

static inline void image_put(test_image *t, const void *bytes, size_t n) {
    assert_true(n <= sizeof t->bytes - t->n);
    if (n)
        memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
}

/* A number in so many bytes, the highest first. */
static inline void image_put_number(test_image *t, uint64_t value, int bytes) {
    while (bytes-- > 0)
        image_put(t, &(uint8_t){(uint8_t)(value >> 8 * bytes)}, 1);
}

/* ---- PNG --------------------------------------------------------------------------------------------------------- */

static inline void png_chunk(test_image *t, const char *type, const void *data, size_t n) {
    size_t begin = t->n + 4;
    image_put_number(t, n, 4);
    image_put(t, type, 4);
    image_put(t, data, n);
    image_put_number(t, crc32(0, t->bytes + begin, (uInt)(n + 4)), 4);
}

/* The beginning of an empty image; colour as in the format: 0 grey, 2 colours, 3 palette, 4 and 6 with alpha. */
static inline void png_begin(test_image *t, uint32_t height, uint32_t width, int colour, int depth, int interlaced) {
    test_image header = {0};
    t->n = 0;
    image_put(t, "\x89PNG\r\n\x1a\n", 8);
    image_put_number(&header, width, 4);
    image_put_number(&header, height, 4);
    image_put(&header, (uint8_t[]){(uint8_t)depth, (uint8_t)colour, 0, 0, (uint8_t)interlaced}, 5);
    png_chunk(t, "IHDR", header.bytes, header.n);
}

/* A chunk of compressed data behind n bytes that are not. */
static inline void png_deflated(test_image *t, const char *type, const void *plain, size_t n, const void *data,
                                size_t bytes) {
    uLongf room = compressBound((uLong)bytes);
    uint8_t *chunk = malloc(n + room);
    assert_non_null(chunk);
    if (n)
        memcpy(chunk, plain, n);
    assert_int_equal(compress(chunk + n, &room, data, (uLong)bytes), Z_OK);
    png_chunk(t, type, chunk, n + room);
    free(chunk);
}

/* The image's rows, each behind a byte 0 (no filter), and the end. */
static inline void png_finish(test_image *t, const test_image *rows) {
    png_deflated(t, "IDAT", NULL, 0, rows->bytes, rows->n);
    png_chunk(t, "IEND", NULL, 0);
}

/* ---- JPEG -------------------------------------------------------------------------------------------------------- */

enum { JPEG_SEQUENTIAL = 0xc0, JPEG_PROGRESSIVE = 0xc2 };

typedef struct jpeg_bits {
    test_image *to;
    uint32_t bits;
    int n;
} jpeg_bits;

static inline void jpeg_put_bits(jpeg_bits *b, int value, int n) {
    while (n-- > 0) {
        b->bits = b->bits << 1 | (value >> n & 1);
        if (++b->n == 8) {
            image_put_number(b->to, b->bits & 255, 1);
            if ((b->bits & 255) == 255)
                image_put_number(b->to, 0, 1);
            b->n = 0;
        }
    }
}

/* A marker with the length of its segment and the segment's first byte. */
static inline void jpeg_segment(test_image *t, int marker, int length, int first) {
    image_put_number(t, 0xff00 | (unsigned)marker, 2);
    image_put_number(t, (unsigned)length, 2);
    image_put_number(t, (unsigned)first, 1);
}

/* Markers up to the scan. Codes: 4 bits for each size of a block's first number, 1 bit 0 for the end of a block. Steps
 * of 8 make the first number the block's value less 128. adobe: the code of the colours' transform, -1 not said. */
static inline void jpeg_begin(test_image *t, int frame, int height, int width, int channels, int adobe) {
    static const uint8_t sizes[16] = {0, 0, 0, 12}, end[16] = {1};
    t->n = 0;
    image_put_number(t, 0xffd8, 2);
    if (adobe >= 0) {
        jpeg_segment(t, 0xee, 14, 'A');
        image_put(t, "dobe\0\144\0\0\0\0", 10);
        image_put_number(t, (unsigned)adobe, 1);
    }
    jpeg_segment(t, 0xdb, 67, 0);
    for (int i = 0; i < 64; i++)
        image_put_number(t, 8, 1);
    jpeg_segment(t, frame, 8 + 3 * channels, 8);
    image_put_number(t, (unsigned)height, 2);
    image_put_number(t, (unsigned)width, 2);
    image_put_number(t, (unsigned)channels, 1);
    for (int c = 1; c <= channels; c++)
        image_put(t, (uint8_t[]){(uint8_t)c, 0x11, 0}, 3);
    jpeg_segment(t, 0xc4, 31, 0);
    image_put(t, sizes, 16);
    for (int i = 0; i < 12; i++)
        image_put_number(t, (unsigned)i, 1);
    jpeg_segment(t, 0xc4, 20, 0x10);
    image_put(t, end, 16);
    image_put_number(t, 0, 1);
}

/* A scan's header: channels first..last, of each block the numbers begin..end. */
static inline void jpeg_scan(test_image *t, int first, int last, int begin, int end) {
    int channels = last - first + 1;
    jpeg_segment(t, 0xda, 6 + 2 * channels, channels);
    for (int c = first; c <= last; c++)
        image_put(t, (uint8_t[]){(uint8_t)(c + 1), 0}, 2);
    image_put(t, (uint8_t[]){(uint8_t)begin, (uint8_t)end, 0}, 3);
}

static inline void jpeg_end_scan(jpeg_bits *b) {
    jpeg_put_bits(b, 255, (8 - b->n) % 8);
}

/* blocks: of each the value in each channel, as the file has it (luma and chroma, or what adobe says). A progressive
 * image has a scan of the blocks' first numbers, and one for each channel of the others, all 0. */
static inline void jpeg_of(test_image *t, int frame, int height, int width, int channels, int adobe,
                           const uint8_t *blocks) {
    jpeg_bits bits = {.to = t};
    int last[4] = {128, 128, 128, 128}, n = (height + 7) / 8 * ((width + 7) / 8);
    jpeg_begin(t, frame, height, width, channels, adobe);
    jpeg_scan(t, 0, channels - 1, 0, frame == JPEG_PROGRESSIVE ? 0 : 63);
    for (int i = 0; i < n * channels; i++) {
        int step = blocks[i] - last[i % channels], size = 0;
        while (abs(step) >> size)
            size++;
        jpeg_put_bits(&bits, size, 4);
        jpeg_put_bits(&bits, step < 0 ? step - 1 : step, size);
        jpeg_put_bits(&bits, 0, frame != JPEG_PROGRESSIVE);
        last[i % channels] = blocks[i];
    }
    jpeg_end_scan(&bits);
    for (int c = 0; c < channels && frame == JPEG_PROGRESSIVE; c++) {
        jpeg_scan(t, c, c, 1, 63);
        for (int i = 0; i < n; i++)
            jpeg_put_bits(&bits, 0, 1);
        jpeg_end_scan(&bits);
    }
    image_put_number(t, 0xffd9, 2);
}

/* A number in the byte order of a TIFF block. */
static inline void tiff_put_number(test_image *t, int big_endian, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        image_put_number(t, value >> 8 * (big_endian ? bytes - 1 - i : i) & 255, 1);
}

/* The payload of an APP1 segment with EXIF data: a directory of one other tag and the orientation. */
static inline void exif_payload(test_image *t, int big_endian, int orientation) {
    t->n = 0;
    image_put(t, "Exif\0\0", 6);
    image_put(t, big_endian ? "MM" : "II", 2);
    tiff_put_number(t, big_endian, 42, 2);
    tiff_put_number(t, big_endian, 8, 4); /* offset of the directory */
    tiff_put_number(t, big_endian, 2, 2);
    for (int i = 0; i < 2; i++) { /* tag, type SHORT, count, value, two bytes that do not count */
        tiff_put_number(t, big_endian, i ? 0x0112 : 0x0100, 2);
        tiff_put_number(t, big_endian, 3, 2);
        tiff_put_number(t, big_endian, 1, 4);
        tiff_put_number(t, big_endian, (uint32_t)(i ? orientation : 7), 2);
        tiff_put_number(t, big_endian, 0, 2);
    }
    tiff_put_number(t, big_endian, 0, 4); /* no further directory */
}

/* A JPEG with an APP1 segment behind its first marker. */
static inline void jpeg_add_app1(test_image *out, const test_image *jpeg, const void *payload, size_t n) {
    out->n = 0;
    image_put(out, jpeg->bytes, 2);
    image_put_number(out, 0xffe1, 2);
    image_put_number(out, n + 2, 2);
    image_put(out, payload, n);
    image_put(out, jpeg->bytes + 2, jpeg->n - 2);
}

/* The place (y, x) in the upright image of row r and column c of a stored one of h x w pixels. EXIF 2.3 says at which
 * visual sides the 0th row and the 0th column are: top left, top right, bottom right, bottom left, left top, right top,
 * right bottom, left bottom. */
static inline void exif_place(int orientation, int h, int w, int r, int c, int *y, int *x) {
    static const char sides[8][2] = {"tl", "tr", "br", "bl", "lt", "rt", "rb", "lb"};
    const char row = sides[orientation - 1][0], column = sides[orientation - 1][1];
    if (row == 't' || row == 'b') {
        *y = row == 't' ? r : h - 1 - r;
        *x = column == 'l' ? c : w - 1 - c;
    } else {
        *x = row == 'l' ? r : h - 1 - r;
        *y = column == 't' ? c : w - 1 - c;
    }
}

/* A grey JPEG of 16 x 24 pixels, whose 6 blocks have the values 20, 40... 120, with an EXIF orientation; 0: none. */
enum { TURNED_H = 16, TURNED_W = 24 };
static inline int turned_value(int r, int c) {
    return 20 * (r / 8 * 3 + c / 8 + 1);
}
static inline void turned_jpeg(test_image *out, int orientation) {
    static const uint8_t blocks[] = {20, 40, 60, 80, 100, 120};
    static test_image plain, exif;
    jpeg_of(&plain, JPEG_SEQUENTIAL, TURNED_H, TURNED_W, 1, -1, blocks);
    exif_payload(&exif, orientation & 1, orientation);
    if (orientation)
        jpeg_add_app1(out, &plain, exif.bytes, exif.n);
    else
        *out = plain;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* <mxc/image.h>: decoding, resizing and encoding of single images. PNG is encoded here: rows without filters,
 * compressed by zlib. */
#include <string.h>
#include <zlib.h>

#include <mxc/image.h>

#include "base/error.h"
#include "base/sys.h"
#include "image/codec.h"
#include "image/resample_weights.h"

enum { SIDE_LIMIT = 65535, FILE_LIMIT = 1 << 30 /* bytes */ };

/* Allocates an image; *out is empty on failure. */
static mxc_status take_pixels(mxc_image *out, int64_t height, int64_t width, int64_t channels) {
    *out = (mxc_image){height, width, channels, mxci_alloc((size_t)(height * width * channels))};
    if (out->pixels)
        return MXC_OK;
    *out = (mxc_image){0};
    return MXC_FAIL(MXC_ENOMEM, "image: no memory for %lld x %lld pixels", (long long)height, (long long)width);
}

void mxc_image_free(mxc_image *image) {
    if (!image)
        return;
    mxci_free(image->pixels);
    *image = (mxc_image){0};
}

/* Images from programs: sides are limited so that sizes cannot overflow. */
static mxc_status check_image(const char *call, const mxc_image *image) {
    if (image && image->pixels && image->height > 0 && image->height <= SIDE_LIMIT && image->width > 0 &&
        image->width <= SIDE_LIMIT && (image->channels == 1 || image->channels == 3))
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "%s: expected an image of 1 to %d pixels a side and 1 or 3 channels", call, SIDE_LIMIT);
}

/* ---- reading and resizing ---------------------------------------------------------------------------------------- */

static mxc_status decode_file(const char *call, const char *source_name, const void *bytes, size_t n, int channels,
                              int64_t max_pixels, int upright, mxc_image *out) {
    mxci_image image;
    if (channels != 0 && channels != 1 && channels != 3)
        return MXC_FAIL(MXC_EINVAL, "%s: %d channels, expected 0, 1 or 3", call, channels);
    MXC_TRY(mxci_image_probe(source_name, bytes, n, max_pixels > 0 ? max_pixels : MXCI_IMAGE_PIXELS, &image));
    if (upright)
        mxci_image_orient(&image);
    if (channels == 0)
        channels = image.channels <= 2 ? 1 : 3;
    MXC_TRY(take_pixels(out, image.height, image.width, channels));
    mxc_status status = mxci_image_decode(&image, channels == 1 ? MXCI_GREY : MXCI_RGB, out->pixels);
    if (status != MXC_OK)
        mxc_image_free(out);
    return status;
}

mxc_status mxc_image_decode(const char *source_name, const void *bytes, size_t n, int channels, int64_t max_pixels,
                            mxc_image *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(source_name));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, bytes));
    return decode_file(__func__, source_name, bytes, n, channels, max_pixels, 1, out);
}

mxc_status mxc_image_decode_stored(const char *source_name, const void *bytes, size_t n, int channels,
                                   int64_t max_pixels, mxc_image *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(source_name));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, bytes));
    return decode_file(__func__, source_name, bytes, n, channels, max_pixels, 0, out);
}

mxc_status mxc_image_load(const char *path, int channels, int64_t max_pixels, mxc_image *out) {
    char *bytes;
    size_t n;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(path));
    MXC_TRY(mxci_file_read_all(path, FILE_LIMIT, &bytes, &n));
    mxc_status status = decode_file(__func__, path, bytes, n, channels, max_pixels, 1, out);
    mxci_free(bytes);
    return status;
}

/* Rows first, to floats, then columns. One block has both tables and the floats. */
mxc_status mxc_image_resize(const mxc_image *from, int64_t height, int64_t width, int interpolation, mxc_image *out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(from));
    MXC_TRY(check_image("mxc_image_resize", from));
    if (height < 1 || height > SIDE_LIMIT || width < 1 || width > SIDE_LIMIT || interpolation < 0 ||
        interpolation >= MXCI_INTERPOLATIONS)
        return MXC_FAIL(MXC_EINVAL,
                        "mxc_image_resize: to %lld x %lld by interpolation %d, expected sides of 1 to %d "
                        "and 0 to 4",
                        (long long)height, (long long)width, interpolation, SIDE_LIMIT);
    const int kind = mxci_resample_kind(interpolation, from->height, from->width, height, width);
    size_t rows_bytes = mxci_resample_bytes(kind, from->width, width);
    size_t columns_bytes = mxci_resample_bytes(kind, from->height, height), row = (size_t)(width * from->channels);
    size_t bytes = rows_bytes + columns_bytes + (size_t)from->height * row * sizeof(float);
    mxci_resample rows, columns;
    char *space = mxci_pages_alloc(bytes);
    if (!space)
        return MXC_FAIL(MXC_ENOMEM, "mxc_image_resize: no memory for %zu bytes", bytes);
    mxc_status status = take_pixels(out, height, width, from->channels);
    if (status == MXC_OK) {
        float *narrow = (float *)(void *)(space + rows_bytes + columns_bytes);
        mxci_resample_plan(kind, from->width, width, space, &rows);
        mxci_resample_plan(kind, from->height, height, space + rows_bytes, &columns);
        mxci_resample_rows_u8(&rows, from->channels, from->pixels, narrow, 0, from->height);
        mxci_resample_columns_u8(&columns, (int64_t)row, narrow, out->pixels, 0, height);
    }
    mxci_pages_free(space, bytes);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

mxc_status mxc_image_encode_jpeg(const mxc_image *image, int quality, void **out, size_t *n) {
    MXCI_CLEAR(n);
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_OUT(n));
    MXC_TRY(MXCI_NON_NULL(image));
    MXC_TRY(check_image("mxc_image_encode_jpeg", image));
    if (quality < 1 || quality > 100)
        return MXC_FAIL(MXC_EINVAL, "mxc_image_encode_jpeg: quality %d, expected 1 to 100", quality);
    if (!mxci_jpeg_encoder)
        return MXC_FAIL(MXC_EUNSUPPORTED, "mxc_image_encode_jpeg: this libmxc was built without libturbojpeg");
    return mxci_jpeg_encoder(image->pixels, image->height, image->width, image->channels == 1 ? MXCI_GREY : MXCI_RGB,
                             quality, (uint8_t **)out, n);
}

static uint8_t *put_u32(uint8_t *to, uint32_t value) {
    for (int i = 3; i >= 0; i--)
        *to++ = (uint8_t)(value >> 8 * i);
    return to;
}

/* Completes a chunk whose n bytes of data follow 8 free bytes: writes length and type there, and the CRC behind.
 * Returns the end of the chunk. */
static uint8_t *end_chunk(uint8_t *at, const char *type, size_t n) {
    put_u32(at, (uint32_t)n);
    memcpy(at + 4, type, 4);
    return put_u32(at + 8 + n, (uint32_t)crc32(0, at + 4, (uInt)(n + 4)));
}

/* Signature and IHDR: 8 bits, grey or RGB, no interlacing. */
static uint8_t *put_header(uint8_t *to, const mxc_image *image) {
    memcpy(to, "\x89PNG\r\n\x1a\n", 8);
    uint8_t *data = put_u32(put_u32(to + 16, (uint32_t)image->width), (uint32_t)image->height);
    memcpy(data, (const uint8_t[]){8, image->channels == 1 ? 0 : 2, 0, 0, 0}, 5);
    return end_chunk(to + 8, "IHDR", 13);
}

/* Compresses the rows, each behind the byte of filter 0, "none", to `to`. */
static mxc_status deflate_rows(const mxc_image *image, uint8_t *to, uLongf *n) {
    size_t row = (size_t)(image->width * image->channels), bytes = (row + 1) * (size_t)image->height;
    uint8_t *rows = mxci_alloc(bytes);
    if (!rows)
        return MXC_FAIL(MXC_ENOMEM, "mxc_image_encode_png: no memory for %zu bytes", bytes);
    for (int64_t y = 0; y < image->height; y++) {
        rows[(size_t)y * (row + 1)] = 0;
        memcpy(rows + (size_t)y * (row + 1) + 1, image->pixels + (size_t)y * row, row);
    }
    int failed = compress(to, n, rows, (uLong)bytes) != Z_OK;
    mxci_free(rows);
    return failed ? MXC_FAIL(MXC_ENOMEM, "mxc_image_encode_png: no memory to deflate") : MXC_OK;
}

/* One IDAT chunk, compressed directly to its place in the file. */
mxc_status mxc_image_encode_png(const mxc_image *image, void **out, size_t *n) {
    MXCI_CLEAR(n);
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_OUT(n));
    MXC_TRY(MXCI_NON_NULL(image));
    enum { HEAD = 33, CHUNK = 12 };
    MXC_TRY(check_image("mxc_image_encode_png", image));
    uLongf room = compressBound((uLong)((image->width * image->channels + 1) * image->height));
    if (room > INT32_MAX)
        return MXC_FAIL(MXC_EINVAL, "mxc_image_encode_png: %lld x %lld pixels are too many for one chunk",
                        (long long)image->height, (long long)image->width);
    uint8_t *bytes = mxci_alloc(HEAD + CHUNK + room + CHUNK);
    if (!bytes)
        return MXC_FAIL(MXC_ENOMEM, "mxc_image_encode_png: no memory for %zu bytes", (size_t)room);
    uint8_t *at = put_header(bytes, image);
    mxc_status status = deflate_rows(image, at + 8, &room);
    if (status != MXC_OK) {
        mxci_free(bytes);
        return status;
    }
    at = end_chunk(end_chunk(at, "IDAT", room), "IEND", 0);
    *out = bytes;
    *n = (size_t)(at - bytes);
    return MXC_OK;
}

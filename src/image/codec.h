/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed images: reading their headers, and decoding them to (height, width, channels) of bytes. Headers are parsed
 * in codec.c; libturbojpeg decodes JPEG and libpng PNG, each in a file of codecs/. Where CMake does not find the
 * library, a file without a decoder takes its place, and such images are rejected with the library's name.
 *
 * Images are untrusted input. Before anything is allocated, they are rejected (MXC_EFORMAT) if they have more pixels
 * than the caller allows, or than their bytes can hold, or if a JPEG has no end marker, or more scans than
 * MXCI_JPEG_SCANS or than so many bytes need.
 */
#ifndef MXCI_IMAGE_CODEC_H
#define MXCI_IMAGE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include <mxc/status.h>

enum {
    MXCI_IMAGE_PIXELS = 1 << 28, /* the limit of callers that have none of their own */
    MXCI_JPEG_SCANS = 100        /* each goes over the whole image; ten are usual in a progressive one */
};

/* What the channels of a result are. */
typedef enum mxci_pixels { MXCI_GREY, MXCI_RGB, MXCI_BGR, MXCI_RGBA } mxci_pixels;

static inline int mxci_pixels_channels(mxci_pixels pixels) {
    return pixels == MXCI_GREY ? 1 : pixels == MXCI_RGBA ? 4 : 3;
}

typedef struct mxci_codec mxci_codec;

/* An image in memory, which is borrowed, and how it will be decoded. */
typedef struct mxci_image {
    const char *source_name; /* for messages; borrowed */
    const uint8_t *bytes;
    size_t n;
    const mxci_codec *codec;
    int64_t full_height, full_width; /* of the image; upright once mxci_image_orient was called */
    int64_t height, width;           /* of what decoding gives */
    int channels; /* in the image: 1 grey, 2 grey and alpha, 3 colours, 4 colours and alpha or, of a JPEG, CMYK */
    int scans;    /* of a JPEG */
    int exif_orientation; /* of a JPEG: 1 to 8, 0 if it does not say */
    int orientation;      /* that decoding applies: 1 as stored */
    int progressive;      /* 1 if it comes in several passes over the whole: progressive JPEG, interlaced PNG */
} mxci_image;

/* Read the header, to be decoded at full size. MXC_EFORMAT, MXC_EUNSUPPORTED (a sort of JPEG, or no library). */
mxc_status mxci_image_probe(const char *source_name, const void *bytes, size_t n, int64_t max_pixels, mxci_image *out);

/* Have the image decoded upright, as its EXIF orientation says; height and width are then those of the upright image.
 * Decoding needs a second block of memory of the image's size if anything is to be turned. */
void mxci_image_orient(mxci_image *image);

/* Have a JPEG decoded at 1/2, 1/4 or 1/8, the smallest that leaves at least this height and width. Others stay. */
void mxci_image_reduce(mxci_image *image, int64_t height, int64_t width);

/* To out, height * width * channels of pixels. Alpha is left out, or 255 where it is asked for and there is none; 16
 * bits are cut to 8. A JPEG with damaged data gives what can be read of it.
 * MXC_EFORMAT, MXC_ENOMEM; out is then undefined. */
mxc_status mxci_image_decode(const mxci_image *image, mxci_pixels pixels, uint8_t *out);

/* Of codecs/: NULL where there is no library. */
typedef mxc_status (*mxci_decoder)(const mxci_image *image, mxci_pixels pixels, uint8_t *out);
extern const mxci_decoder mxci_jpeg_decoder, mxci_png_decoder;
/* Dense pixels as a JPEG of quality 1 to 100: *n bytes at *out, to be freed with mxci_free. MXC_ENOMEM, MXC_EFORMAT. */
typedef mxc_status (*mxci_encoder)(const uint8_t *pixels, int64_t height, int64_t width, mxci_pixels kind, int quality,
                                   uint8_t **out, size_t *n);
extern const mxci_encoder mxci_jpeg_encoder;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single images: decoding JPEG and PNG, resizing, and encoding. Meant for tools; iterators and operators decode images
 * themselves. All calls are thread-safe.
 */
#ifndef MXC_IMAGE_H
#define MXC_IMAGE_H

#include <mxc/export.h>
#include <mxc/status.h>
#include <stddef.h>
#include <stdint.h>

/** Pixels (height,width,channels), one byte each; 1 channel (grey) or 3 (red, green, blue). */
typedef struct mxc_image {
    int64_t height, width, channels;
    uint8_t *pixels; /* @length text */
} mxc_image;

/** Free the pixels and clear the struct.
 *  @param[in,out] image  all zeros afterwards
 */
MXC_API void mxc_image_free(mxc_image *image);
/**
 * Decode n bytes of a JPEG or PNG. A JPEG is turned upright if its EXIF data has an orientation.
 * @param source_name  name for messages, such as that of the file
 * @param channels     1 or 3; 0: those of the image
 * @param max_pixels   larger images are refused before anything is allocated; 0: 2^28
 * @return MXC_EINVAL, MXC_EFORMAT, MXC_EUNSUPPORTED (a variant of JPEG, or built without the library), MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_image_decode(const char *source_name, const void *bytes, size_t n, int channels,
                                                   int64_t max_pixels, mxc_image *out);
/** Read and decode a file. Status: those of mxc_image_decode; MXC_ENOTFOUND, MXC_EIO. */
MXC_API MXC_MUST_CHECK mxc_status mxc_image_load(const char *path, int channels, int64_t max_pixels, mxc_image *out);
/** As mxc_image_decode, but as the pixels are stored: the EXIF orientation is not applied. */
MXC_API MXC_MUST_CHECK mxc_status mxc_image_decode_stored(const char *source_name, const void *bytes, size_t n,
                                                          int channels, int64_t max_pixels, mxc_image *out);
/** Resize, with interpolation as numbered by OpenCV: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos. MXC_EINVAL,
 *  MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_image_resize(const mxc_image *from, int64_t height, int64_t width,
                                                   int interpolation, mxc_image *out);
/** Encode as JPEG, with a quality from 1 to 100, or as PNG, to *n bytes at *out, which the caller frees with mxc_free.
 *  MXC_EINVAL, MXC_EUNSUPPORTED, MXC_ENOMEM.
 *  @param[out,give,n=n] out  the file's contents
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_image_encode_jpeg(const mxc_image *image, int quality, void **out, size_t *n);
MXC_API MXC_MUST_CHECK mxc_status mxc_image_encode_png(const mxc_image *image, void **out, size_t *n);

#endif

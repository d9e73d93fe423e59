/*
 * Single images: out of the bytes of JPEG or PNG files, into another size, and back. Iterators and operators do this by
 * themselves; tools need it.
 */
#ifndef MXC_IMAGE_H
#define MXC_IMAGE_H

#include <mxc/export.h>
#include <mxc/status.h>
#include <stddef.h>
#include <stdint.h>

/** (height,width,channels) of bytes; 1 channel of grey, or red, green and blue. */
typedef struct mxc_image {
    int64_t height, width, channels;
    uint8_t *pixels;
} mxc_image;

/** Free the pixels and set all to zero. */
MXC_API void mxc_image_free(mxc_image *image);
/**
 * Decode n bytes of a JPEG or PNG.
 * @param who          for messages: the file's name
 * @param channels     1 or 3; 0: as the image has
 * @param most_pixels  refuse larger images before anything is allocated; 0: a limit of the library's own, 2^28
 * @return MXC_EINVAL, MXC_EFORMAT, MXC_EUNSUPPORTED (a sort of JPEG, or built without the format's library), MXC_ENOMEM
 */
MXC_API MXC_MUST_CHECK mxc_status mxc_image_decode(const char *who, const void *bytes, size_t n, int channels,
                                                   int64_t most_pixels, mxc_image *out);
/** Another size, by OpenCV's numbers: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos. MXC_EINVAL, MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_image_resize(const mxc_image *from, int64_t height, int64_t width,
                                                   int interpolation, mxc_image *out);
/** A JPEG of quality 1 to 100, or a PNG: *n bytes at *out, to be freed with mxc_free. MXC_EINVAL, MXC_EUNSUPPORTED,
 *  MXC_ENOMEM. */
MXC_API MXC_MUST_CHECK mxc_status mxc_image_encode_jpeg(const mxc_image *image, int quality, void **out, size_t *n);
MXC_API MXC_MUST_CHECK mxc_status mxc_image_encode_png(const mxc_image *image, void **out, size_t *n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG by libturbojpeg. Its warnings in decoding (damaged data, which it decodes as far as it can) are not errors. */
#include <string.h>
#include <turbojpeg.h>

#include "base/sys.h"
#include "image/codec.h"

/* The library has one code for all fatal errors; lack of memory shows in its text only. */
static mxc_status jpeg_status(const char *text) {
    return strstr(text, "nsufficient memory") || strstr(text, "emory allocation") ? MXC_ENOMEM : MXC_EFORMAT;
}

static mxc_status jpeg_fail(const mxci_image *image, tjhandle handle) {
    return MXC_FAIL(jpeg_status(tjGetErrorStr2(handle)), "%s: JPEG: %s", image->source_name, tjGetErrorStr2(handle));
}

/* Checks that the library reads the same size from the header as codec.c, since it writes that many pixels to out. The
 * call fails on unusual subsampling, which the library can decode, but sets the size all the same. */
static mxc_status jpeg_check_size(const mxci_image *image, tjhandle handle) {
    int width = 0, height = 0, subsampling, colours;
    int failed =
        tjDecompressHeader3(handle, image->bytes, (unsigned long)image->n, &width, &height, &subsampling, &colours);
    if (width == image->full_width && height == image->full_height)
        return MXC_OK;
    return failed
               ? jpeg_fail(image, handle)
               : MXC_FAIL(MXC_EFORMAT, "%s: JPEG with two headers: %lld x %lld pixels and %d x %d", image->source_name,
                          (long long)image->full_height, (long long)image->full_width, height, width);
}

/* Damaged data is a warning; only fatal errors fail. */
static mxc_status jpeg_decompress(const mxci_image *image, int format, uint8_t *out) {
    tjhandle handle = tjInitDecompress();
    mxc_status status;
    if (!handle)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to decode JPEG", image->source_name);
    status = jpeg_check_size(image, handle);
    if (status == MXC_OK &&
        tjDecompress2(handle, image->bytes, (unsigned long)image->n, out, (int)image->width, 0, (int)image->height,
                      format, TJFLAG_ACCURATEDCT) != 0 &&
        tjGetErrorCode(handle) == TJERR_FATAL)
        status = jpeg_fail(image, handle);
    tjDestroy(handle);
    return status;
}

/* CMYK, stored inverted as Adobe's programs do, to RGB or grey; grey has the weights of Y in YCbCr. */
static void jpeg_convert_cmyk(const uint8_t *cmyk, int64_t n, mxci_pixels pixels, uint8_t *out) {
    const int channels = mxci_pixels_channels(pixels);
    for (int64_t i = 0; i < n; i++, cmyk += 4) {
        int k = cmyk[3], part[3];
        for (int c = 0; c < 3; c++)
            part[c] = k - ((255 - cmyk[c]) * k >> 8);
        if (pixels == MXCI_GREY)
            out[i] = (uint8_t)((4899 * part[0] + 9617 * part[1] + 1868 * part[2] + 8192) >> 14);
        for (int c = 0; pixels != MXCI_GREY && c < 3; c++)
            out[channels * i + c] = (uint8_t)part[pixels == MXCI_BGR ? 2 - c : c];
        if (channels == 4)
            out[4 * i + 3] = 255;
    }
}

static mxc_status jpeg_decode_cmyk(const mxci_image *image, mxci_pixels pixels, uint8_t *out) {
    int64_t n = image->height * image->width;
    uint8_t *cmyk = mxci_alloc((size_t)n * 4);
    mxc_status status;
    if (!cmyk)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory for %lld pixels of CMYK", image->source_name, (long long)n);
    status = jpeg_decompress(image, TJPF_CMYK, cmyk);
    if (status == MXC_OK)
        jpeg_convert_cmyk(cmyk, n, pixels, out);
    mxci_free(cmyk);
    return status;
}

static mxc_status jpeg_decode(const mxci_image *image, mxci_pixels pixels, uint8_t *out) {
    static const int formats[] = {TJPF_GRAY, TJPF_RGB, TJPF_BGR, TJPF_RGBA}; /* alpha becomes 255 */
    return image->channels == 4 ? jpeg_decode_cmyk(image, pixels, out) : jpeg_decompress(image, formats[pixels], out);
}

const mxci_decoder mxci_jpeg_decoder = jpeg_decode;

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static mxc_status jpeg_compress(tjhandle handle, const uint8_t *pixels, int64_t height, int64_t width, mxci_pixels kind,
                                int quality, uint8_t *out, unsigned long *n) {
    const int format = kind == MXCI_GREY ? TJPF_GRAY : kind == MXCI_RGB ? TJPF_RGB : TJPF_BGR;
    if (tjCompress2(handle, pixels, (int)width, 0, (int)height, format, &out, n,
                    kind == MXCI_GREY ? TJSAMP_GRAY : TJSAMP_420, quality, TJFLAG_NOREALLOC | TJFLAG_ACCURATEDCT) == 0)
        return MXC_OK;
    return MXC_FAIL(jpeg_status(tjGetErrorStr2(handle)), "JPEG of %lld x %lld pixels: %s", (long long)height,
                    (long long)width, tjGetErrorStr2(handle));
}

/* The buffer has the size of the worst case, since libturbojpeg must not allocate the result by its own allocator. */
static mxc_status jpeg_encode(const uint8_t *pixels, int64_t height, int64_t width, mxci_pixels kind, int quality,
                              uint8_t **out, size_t *n) {
    unsigned long bytes = tjBufSize((int)width, (int)height, kind == MXCI_GREY ? TJSAMP_GRAY : TJSAMP_420);
    tjhandle handle = tjInitCompress();
    *out = mxci_alloc(bytes);
    mxc_status status = !handle || !*out ? MXC_FAIL(MXC_ENOMEM, "no memory to encode JPEG")
                                         : jpeg_compress(handle, pixels, height, width, kind, quality, *out, &bytes);
    if (handle)
        tjDestroy(handle);
    if (status != MXC_OK) {
        mxci_free(*out);
        *out = NULL;
    }
    *n = status == MXC_OK ? bytes : 0;
    return status;
}

const mxci_encoder mxci_jpeg_encoder = jpeg_encode;

/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of images: the format, the size, and whether the bytes can hold that many pixels; turning them upright.
 * Decoding is in codecs/. */
#include "image/codec.h"

#include <string.h>

#include "base/sys.h"
#include "image/orientation.h"

struct mxci_codec {
    const char *name, *library;
    const mxci_decoder *decoder;
    int magic_bytes;
    uint8_t magic[8];
    mxc_status (*probe)(mxci_image *image);       /* full_height, full_width, channels, progressive; sides not 0 */
    mxc_status (*check)(const mxci_image *image); /* can n bytes hold so many pixels? */
};

static int64_t codec_number_at(const uint8_t *at, int bytes) {
    int64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

static mxc_status fail_too_many_pixels(const mxci_image *image) {
    return MXC_FAIL(MXC_EFORMAT, "%s: %s of %lld x %lld pixels in %zu bytes, which cannot hold so many",
                    image->source_name, image->codec->name, (long long)image->full_height, (long long)image->full_width,
                    image->n);
}

/* ---- JPEG -------------------------------------------------------------------------------------------------------- */

enum { RST0 = 0xd0, RST7 = 0xd7, EOI = 0xd9, SOS = 0xda, APP1 = 0xe1 };

typedef struct jpeg_parser {
    size_t at;
    int has_frame;
} jpeg_parser;

/* The next marker at or behind w->at, which moves behind it; 0 at the end. Entropy-coded data between markers is
 * skipped: in it 0xff is followed by 0 or by a restart marker (ITU-T T.81, B.1.1). */
static int next_marker(const mxci_image *image, jpeg_parser *w) {
    while (w->at < image->n) {
        const uint8_t *found = memchr(image->bytes + w->at, 0xff, image->n - w->at);
        int code = 0xff;
        if (!found)
            break;
        for (w->at = (size_t)(found - image->bytes); code == 0xff && ++w->at < image->n;)
            code = image->bytes[w->at];
        if (code != 0xff && code > 1 && (code < RST0 || code > RST7)) {
            w->at++;
            return code;
        }
    }
    w->at = image->n;
    return 0;
}

/* SOF0 to SOF15; three codes in this range are other markers (DHT, JPG, DAC). */
static int is_frame(int code) {
    return code >= 0xc0 && code <= 0xcf && code != 0xc4 && code != 0xc8 && code != 0xcc;
}

/* Size, channels and kind of the image, from the first frame header (T.81, B.2.2). */
static mxc_status parse_frame(mxci_image *image, int code, const uint8_t *segment, int64_t length) {
    static const char read[] = "\xc0\xc1\xc2\xc9\xca"; /* Huffman and arithmetic, sequential and progressive */
    if (!memchr(read, code, sizeof read - 1))
        return MXC_FAIL(MXC_EUNSUPPORTED, "%s: JPEG of the sort SOF%d, which is not read", image->source_name,
                        code - 0xc0);
    if (length < 8)
        return MXC_FAIL(MXC_EFORMAT, "%s: JPEG: frame header of %lld bytes, expected 8", image->source_name,
                        (long long)length);
    if (segment[2] != 8)
        return MXC_FAIL(MXC_EUNSUPPORTED, "%s: JPEG of %d bits a sample, expected 8", image->source_name, segment[2]);
    image->full_height = codec_number_at(segment + 3, 2);
    image->full_width = codec_number_at(segment + 5, 2);
    image->channels = segment[7];
    image->progressive = code == 0xc2 || code == 0xca;
    return MXC_OK;
}

/* The segment behind a marker. */
static mxc_status parse_segment(mxci_image *image, int code, jpeg_parser *w) {
    size_t left = image->n - w->at;
    int64_t length = left < 2 ? 2 : codec_number_at(image->bytes + w->at, 2);
    if (length < 2)
        return MXC_FAIL(MXC_EFORMAT, "%s: JPEG: segment of length %lld at byte %zu, expected at least 2",
                        image->source_name, (long long)length, w->at);
    if ((size_t)length > left)
        return MXC_FAIL(MXC_EFORMAT, "%s: JPEG: segment of %lld bytes at byte %zu, where %zu are left: truncated",
                        image->source_name, (long long)length, w->at, left);
    if (is_frame(code) && !w->has_frame++)
        MXC_TRY(parse_frame(image, code, image->bytes + w->at, length));
    if (code == APP1 && !image->exif_orientation && !image->scans)
        image->exif_orientation = mxci_exif_orientation(image->bytes + w->at + 2, (size_t)length - 2);
    w->at += (size_t)length;
    image->scans += code == SOS;
    return MXC_OK;
}

/* The first frame's header, and where the end of the image is. */
static mxc_status probe_jpeg(mxci_image *image) {
    jpeg_parser w = {.at = 2};
    for (int code; (code = next_marker(image, &w)) != EOI;) {
        if (!code)
            return MXC_FAIL(MXC_EFORMAT, "%s: JPEG: no end marker in %zu bytes: truncated", image->source_name,
                            image->n);
        MXC_TRY(parse_segment(image, code, &w));
    }
    if (!w.has_frame || !image->scans)
        return MXC_FAIL(MXC_EFORMAT, "%s: JPEG without %s", image->source_name,
                        w.has_frame ? "a scan" : "a frame header");
    if (image->scans > MXCI_JPEG_SCANS)
        return MXC_FAIL(MXC_EFORMAT, "%s: JPEG of %d scans, expected at most %d", image->source_name, image->scans,
                        MXCI_JPEG_SCANS);
    return MXC_OK;
}

/* A block of 8 x 8 pixels takes at least one bit, which bounds the pixels. Scans may take no bits, but each takes time
 * over all pixels, so that a small file could keep a decoder busy: allowed is the time of eight scans over the largest
 * image that the bytes can hold, and whatever is too small to matter. */
static mxc_status check_jpeg(const mxci_image *image) {
    int64_t pixels = image->full_height * image->full_width, most = (int64_t)image->n * 512;
    if (pixels > most)
        return fail_too_many_pixels(image);
    if (pixels * image->scans > 8 * most + (1 << 24))
        return MXC_FAIL(MXC_EFORMAT, "%s: JPEG of %d scans over %lld x %lld pixels, more than its %zu bytes need",
                        image->source_name, image->scans, (long long)image->full_height, (long long)image->full_width,
                        image->n);
    return MXC_OK;
}

/* ---- PNG --------------------------------------------------------------------------------------------------------- */

enum { HEADER = 33, WIDTH = 16, HEIGHT = 20, DEPTH = 24, COLOUR = 25, INTERLACE = 28 };

/* IHDR must be the first chunk (PNG specification, 5.6). */
static mxc_status probe_png(mxci_image *image) {
    static const int channels[] = {1, 0, 3, 3, 2, 0, 4}; /* by type of colour; 3 is a palette */
    int colour;
    if (image->n < HEADER)
        return MXC_FAIL(MXC_EFORMAT, "%s: PNG of %zu bytes, expected a header of %d: truncated", image->source_name,
                        image->n, HEADER);
    if (memcmp(image->bytes + 8, "\0\0\0\x0dIHDR", 8) != 0)
        return MXC_FAIL(MXC_EFORMAT, "%s: PNG: no IHDR of 13 bytes at byte 8", image->source_name);
    colour = image->bytes[COLOUR];
    if (colour > 6 || !channels[colour])
        return MXC_FAIL(MXC_EFORMAT, "%s: PNG: type of colour %d, expected 0, 2, 3, 4 or 6", image->source_name,
                        colour);
    image->full_width = codec_number_at(image->bytes + WIDTH, 4);
    image->full_height = codec_number_at(image->bytes + HEIGHT, 4);
    image->channels = channels[colour];
    image->progressive = image->bytes[INTERLACE] == 1;
    return MXC_OK;
}

/* Deflate expands one byte to at most 1032. */
static mxc_status check_png(const mxci_image *image) {
    int64_t samples = image->bytes[COLOUR] == 3 ? 1 : image->channels;
    int64_t row = (image->full_width * samples * image->bytes[DEPTH] + 7) / 8 + 1;
    return image->full_height * row / 1032 > (int64_t)image->n ? fail_too_many_pixels(image) : MXC_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static const mxci_codec codecs[] = {
    {"JPEG", "libturbojpeg", &mxci_jpeg_decoder, 3, {0xff, 0xd8, 0xff}, probe_jpeg, check_jpeg},
    {"PNG", "libpng", &mxci_png_decoder, 8, {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, probe_png, check_png},
};

static const mxci_codec *find_codec(const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++)
        if (n >= (size_t)codecs[i].magic_bytes && !memcmp(bytes, codecs[i].magic, (size_t)codecs[i].magic_bytes))
            return &codecs[i];
    return NULL;
}

/* Order of checks: the format, the library, the header, the caller's limit, then what the bytes can hold. */
mxc_status mxci_image_probe(const char *source_name, const void *bytes, size_t n, int64_t max_pixels, mxci_image *out) {
    *out = (mxci_image){.source_name = source_name, .bytes = bytes, .n = n, .codec = find_codec(bytes, n)};
    if (!out->codec)
        return MXC_FAIL(MXC_EFORMAT, "%s: %zu bytes that begin neither as JPEG nor as PNG", source_name, n);
    if (!*out->codec->decoder)
        return MXC_FAIL(MXC_EUNSUPPORTED, "%s: a %s image: this libmxc was built without %s", source_name,
                        out->codec->name, out->codec->library);
    MXC_TRY(out->codec->probe(out));
    if (!out->full_height || !out->full_width)
        return MXC_FAIL(MXC_EFORMAT, "%s: %s of %lld x %lld pixels", source_name, out->codec->name,
                        (long long)out->full_height, (long long)out->full_width);
    if (out->full_width > max_pixels / out->full_height)
        return MXC_FAIL(MXC_EFORMAT, "%s: %s of %lld x %lld pixels, expected at most %lld in all", source_name,
                        out->codec->name, (long long)out->full_height, (long long)out->full_width,
                        (long long)max_pixels);
    MXC_TRY(out->codec->check(out));
    out->height = out->full_height;
    out->width = out->full_width;
    out->orientation = 1;
    return MXC_OK;
}

static void swap_sides(mxci_image *image) {
    int64_t height = image->height, full_height = image->full_height;
    image->height = image->width;
    image->width = height;
    image->full_height = image->full_width;
    image->full_width = full_height;
}

void mxci_image_orient(mxci_image *image) {
    if (image->orientation != 1 || !image->exif_orientation)
        return;
    image->orientation = image->exif_orientation;
    if (mxci_orientation_swaps(image->orientation))
        swap_sides(image);
}

/* Only halves: libturbojpeg takes longer for 7/8 or 5/8 than for all of it. */
void mxci_image_reduce(mxci_image *image, int64_t height, int64_t width) {
    if (image->codec->decoder != &mxci_jpeg_decoder)
        return;
    for (int64_t part = 2; part <= 8; part *= 2) {
        int64_t h = (image->full_height + part - 1) / part, w = (image->full_width + part - 1) / part;
        if (h < height || w < width)
            return;
        image->height = h;
        image->width = w;
    }
}

mxc_status mxci_image_decode(const mxci_image *image, mxci_pixels pixels, uint8_t *out) {
    const int channels = mxci_pixels_channels(pixels);
    mxci_image stored = *image; /* with the sides as the decoder has them */
    if (image->orientation == 1)
        return (*image->codec->decoder)(image, pixels, out);
    if (mxci_orientation_swaps(image->orientation))
        swap_sides(&stored);
    uint8_t *block = mxci_alloc((size_t)(stored.height * stored.width) * (size_t)channels);
    if (!block)
        return MXC_FAIL(MXC_ENOMEM, "%s: no memory to turn %lld x %lld pixels", image->source_name,
                        (long long)stored.height, (long long)stored.width);
    mxc_status status = (*image->codec->decoder)(&stored, pixels, block);
    if (status == MXC_OK)
        mxci_orientation_apply(image->orientation, block, stored.height, stored.width, channels, out);
    mxci_free(block);
    return status;
}

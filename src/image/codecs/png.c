/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PNG by libpng, row by row into the caller's memory. libpng reports errors by longjmp: everything that must be
 * freed then is in a struct outside of the function that is left. Chunks that do not affect pixels are skipped.
 */
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "base/sys.h"
#include "image/codec.h"

typedef struct png_decoder {
    const mxci_image *image;
    mxci_pixels pixels;
    uint8_t *out;
    size_t at; /* bytes read */
    png_structp png;
    png_infop info;
    mxc_status status;
} png_decoder;

/* ---- what libpng calls ------------------------------------------------------------------------------------------- */

static void png_on_error(png_structp png, png_const_charp text) {
    png_decoder *r = png_get_error_ptr(png);
    if (r->status == MXC_OK)
        r->status = MXC_FAIL(MXC_EFORMAT, "%s: PNG, before byte %zu: %s", r->image->source_name, r->at, text);
    png_longjmp(png, 1);
}

static void png_on_warning(png_structp png, png_const_charp text) {
    (void)png, (void)text; /* the image is decoded all the same */
}

static png_voidp png_allocate(png_structp png, png_alloc_size_t bytes) {
    png_decoder *r = png_get_mem_ptr(png);
    void *block = mxci_alloc(bytes);
    if (!block && r->status == MXC_OK)
        r->status = MXC_FAIL(MXC_ENOMEM, "%s: no memory to decode PNG", r->image->source_name);
    return block;
}

static void png_release(png_structp png, png_voidp block) {
    (void)png;
    mxci_free(block);
}

static void png_read_bytes(png_structp png, png_bytep to, size_t n) {
    png_decoder *r = png_get_io_ptr(png);
    if (n > r->image->n - r->at)
        png_error(png, "truncated");
    memcpy(to, r->image->bytes + r->at, n);
    r->at += n;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Bytes of grey or of colours, whatever the image holds. Grey: with the weights of Y in YCbCr. */
static void png_set_result(const png_decoder *r) {
    int colour = png_get_color_type(r->png, r->info);
    png_set_expand(r->png);
    png_set_strip_16(r->png);
    if (r->pixels == MXCI_RGBA)
        png_set_add_alpha(r->png, 0xff, PNG_FILLER_AFTER); /* where there is none */
    else
        png_set_strip_alpha(r->png);
    if (r->pixels == MXCI_GREY && colour & PNG_COLOR_MASK_COLOR)
        png_set_rgb_to_gray_fixed(r->png, PNG_ERROR_ACTION_NONE, 29900, 58700);
    if (r->pixels != MXCI_GREY && !(colour & PNG_COLOR_MASK_COLOR))
        png_set_gray_to_rgb(r->png);
    if (r->pixels == MXCI_BGR)
        png_set_bgr(r->png);
}

static void png_read_image_rows(const png_decoder *r) {
    const mxci_image *image = r->image;
    size_t row = (size_t)image->width * (size_t)mxci_pixels_channels(r->pixels);
    int passes;
    png_read_info(r->png, r->info);
    png_set_result(r);
    passes = png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    if (png_get_image_height(r->png, r->info) != (png_uint_32)image->height || png_get_rowbytes(r->png, r->info) != row)
        png_error(r->png, "rows of unexpected length");
    for (int pass = 0; pass < passes; pass++)
        for (int64_t y = 0; y < image->height; y++)
            png_read_row(r->png, r->out + (size_t)y * row, NULL);
    png_read_end(r->png, NULL);
}

/* The only function with a setjmp; it has no locals that the jump could leave undefined. */
static void png_run(png_decoder *r) {
    if (setjmp(png_jmpbuf(r->png)) != 0)
        return;
    png_set_read_fn(r->png, r, png_read_bytes);
    png_set_user_limits(r->png, (png_uint_32)r->image->width, (png_uint_32)r->image->height);
    png_set_benign_errors(r->png, 1);
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_image_rows(r);
}

static mxc_status png_decode(const mxci_image *image, mxci_pixels pixels, uint8_t *out) {
    png_decoder r = {.image = image, .pixels = pixels, .out = out};
    r.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &r, png_on_error, png_on_warning, &r, png_allocate,
                                     png_release);
    r.info = r.png ? png_create_info_struct(r.png) : NULL;
    if (r.info)
        png_run(&r);
    else if (r.status == MXC_OK)
        r.status =
            MXC_FAIL(MXC_EUNSUPPORTED, "%s: PNG: libpng is another one than libmxc was built with", image->source_name);
    png_destroy_read_struct(&r.png, &r.info, NULL);
    return r.status;
}

const mxci_decoder mxci_png_decoder = png_decode;

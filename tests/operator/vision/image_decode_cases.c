/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases of operators that read JPEG and PNG. The number of bytes of buf says what image is in it, before bytes that do
 * not count: its last digit selects the format, then, from the right, the height and the width.
 */
#include "images.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operator/cases.h"
#include "image/codec.h"

/* ---- the images -------------------------------------------------------------------------------------------------- */

typedef struct picture {
    int sort, height, width, n;
} picture;

static picture picture_of(int64_t bytes) {
    return (picture){
        .sort = (int)(bytes % 10), .height = (int)(bytes / 10 % 10), .width = (int)(bytes / 100 % 10), .n = (int)bytes};
}

/* Any byte, but the same for the same place. */
static uint8_t sample(const picture *p, int y, int x, int c) {
    return (uint8_t)(p->n * 31 + y * 57 + x * 131 + c * 83 + x * y * 29);
}

/* What is to come out: three colours. */
typedef void (*colour_fn)(const picture *p, int y, int x, int *rgb);

static void fill_in(const op_run *r, int slot, const test_image *image) {
    assert_true((int64_t)image->n <= case_size(&r->in_shape[slot]));
    for (size_t i = 0; i < image->n; i++)
        r->in[slot][i] = image->bytes[i];
}

/* ---- PNG --------------------------------------------------------------------------------------------------------- */

enum { GREY, RGB, PALETTE, GREY_ALPHA, RGB_ALPHA, RGB_16, INTERLACED, GREY_2, GREY_16, RGB_CLEAR };

static const struct {
    int colour, depth, samples;
} png_sorts[] = {
    {0, 8, 1}, {2, 8, 3}, {3, 8, 1}, {4, 8, 2}, {6, 8, 4}, {2, 16, 3}, {2, 8, 3}, {0, 2, 1}, {0, 16, 1}, {2, 8, 3},
};

enum { COLOURS = 5 };

static uint8_t palette(int index, int c) {
    return (uint8_t)(index * 61 + c * 97);
}

static void png_colour(const picture *p, int y, int x, int *rgb) {
    for (int c = 0; c < 3; c++) {
        int has_colour = png_sorts[p->sort].colour & 2, value = sample(p, y, x, has_colour ? c : 0);
        rgb[c] = p->sort == PALETTE  ? palette(sample(p, y, x, 0) % COLOURS, c)
                 : p->sort == GREY_2 ? value % 4 * 85
                                     : value;
    }
}

/* Columns x, x + step... of row y. */
static void put_png_row(const picture *p, int y, int x, int step, test_image *rows) {
    int depth = png_sorts[p->sort].depth, byte = 0, used = 0;
    image_put_number(rows, 0, 1);
    for (; x < p->width; x += step)
        for (int c = 0; c < png_sorts[p->sort].samples; c++) {
            int value = sample(p, y, x, c);
            if (depth == 2) {
                byte |= value % 4 << (6 - used);
                used += 2;
            } else {
                image_put_number(rows, (unsigned)(p->sort == PALETTE ? value % COLOURS : value), 1);
                image_put_number(rows, 7, depth == 16);
            }
            if (used == 8 || (depth == 2 && x + step >= p->width)) {
                image_put_number(rows, (unsigned)byte, 1);
                byte = used = 0;
            }
        }
}

static void put_png_rows(const picture *p, test_image *rows) {
    static const int passes[][4] = {
        {0, 0, 8, 8}, {0, 4, 8, 8}, {4, 0, 8, 4}, {0, 2, 4, 4}, {2, 0, 4, 2}, {0, 1, 2, 2}, {1, 0, 2, 1},
    }; /* first row and column, steps */
    if (p->sort != INTERLACED)
        for (int y = 0; y < p->height; y++)
            put_png_row(p, y, 0, 1, rows);
    for (int i = 0; p->sort == INTERLACED && i < 7; i++)
        for (int y = passes[i][0]; y < p->height && passes[i][1] < p->width; y += passes[i][2])
            put_png_row(p, y, passes[i][1], passes[i][3], rows);
}

static const test_image *png_of(const picture *from) {
    const picture p = *from;
    static test_image image, rows;
    rows.n = 0;
    put_png_rows(&p, &rows);
    png_begin(&image, (uint32_t)p.height, (uint32_t)p.width, png_sorts[p.sort].colour, png_sorts[p.sort].depth,
              p.sort == INTERLACED);
    if (p.sort == PALETTE) {
        uint8_t colours[3 * COLOURS];
        for (int i = 0; i < 3 * COLOURS; i++)
            colours[i] = palette(i / 3, i % 3);
        png_chunk(&image, "PLTE", colours, sizeof colours);
        png_chunk(&image, "tRNS", "\0\200", 2);
    }
    if (p.sort == RGB_CLEAR)
        png_chunk(&image, "tRNS", (uint8_t[]){0, sample(&p, 0, 0, 0), 0, sample(&p, 0, 0, 1), 0, sample(&p, 0, 0, 2)},
                  6);
    png_finish(&image, &rows);
    return &image;
}

static void make_png(const op_run *r, int slot) {
    const picture p = picture_of(case_size(&r->in_shape[slot]));
    fill_in(r, slot, png_of(&p));
}

/* Weights of red, green and blue as libpng rounds them. */
static int png_grey(const int *rgb) {
    return rgb[0] == rgb[1] && rgb[1] == rgb[2] ? rgb[0] : (9797 * rgb[0] + 19234 * rgb[1] + 3737 * rgb[2]) >> 15;
}

/* ---- JPEG -------------------------------------------------------------------------------------------------------- */

enum { JPEG_GREY, JPEG_RGB, JPEG_CMYK, JPEG_GREY_PROGRESSIVE, JPEG_RGB_PROGRESSIVE };

static const int jpeg_channels[] = {1, 3, 4, 1, 3};

/* Of the block. */
static void jpeg_colour(const picture *p, int y, int x, int *rgb) {
    int channels = jpeg_channels[p->sort], k = sample(p, y / 8, x / 8, 3);
    for (int c = 0; c < 3; c++) {
        int value = sample(p, y / 8, x / 8, channels == 1 ? 0 : c);
        rgb[c] = channels == 4 ? k - ((255 - value) * k >> 8) : value;
    }
}

static void make_jpeg(const op_run *r, int slot) {
    const picture p = picture_of(case_size(&r->in_shape[slot]));
    int channels = jpeg_channels[p.sort], columns = (p.width + 7) / 8;
    int frame = p.sort >= JPEG_GREY_PROGRESSIVE ? JPEG_PROGRESSIVE : JPEG_SEQUENTIAL;
    static test_image image;
    uint8_t blocks[16];
    for (int i = 0; i < columns * ((p.height + 7) / 8) * channels; i++)
        blocks[i] = sample(&p, i / channels / columns, i / channels % columns, i % channels);
    jpeg_of(&image, frame, p.height, p.width, channels, channels == 1 ? -1 : 0, blocks);
    fill_in(r, slot, &image);
}

static int jpeg_grey(const picture *p, const int *rgb) {
    return jpeg_channels[p->sort] == 4 ? (4899 * rgb[0] + 9617 * rgb[1] + 1868 * rgb[2] + 8192) >> 14
                                       : (19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 32768) >> 16;
}

/* ---- _cvimdecode ------------------------------------------------------------------------------------------------- */

static int has_png(void) {
    return mxci_png_decoder != NULL;
}
static int has_jpeg(void) {
    return mxci_jpeg_decoder != NULL;
}

static void decode_picture(const op_run *r, picture p, int is_jpeg) {
    int flag = (int)case_number(r, "flag", 1), to_rgb = (int)case_number(r, "to_rgb", 1);
    for (int i = 0; i < p.height * p.width; i++) {
        int rgb[3];
        (is_jpeg ? jpeg_colour : png_colour)(&p, i / p.width, i % p.width, rgb);
        for (int c = 0; flag && c < 3; c++)
            r->out[0][3 * i + c] = rgb[to_rgb ? c : 2 - c];
        if (!flag)
            r->out[0][i] = is_jpeg ? jpeg_grey(&p, rgb) : png_grey(rgb);
    }
}

static void decode(const op_run *r, int is_jpeg) {
    decode_picture(r, picture_of(case_size(&r->in_shape[0])), is_jpeg);
}

static void ref_png(const op_run *r) {
    decode(r, 0);
}
static void ref_jpeg(const op_run *r) {
    decode(r, 1);
}
static void prepare_png(const op_run *r) {
    make_png(r, 0);
}
static void prepare_jpeg(const op_run *r) {
    make_jpeg(r, 0);
}

/* ---- _cvimread --------------------------------------------------------------------------------------------------- */

/* The files that the cases read, in the current directory: a number stands for an image as that of bytes does above. */
#define READ_FILES(X) X(341) X(1111) X(1991) X(1171) X(1710) X(342) X(345) X(346)
#define READ_PATH(n) "mxc_cvimread_" #n ".png"

static void remove_files(void) {
#define REMOVE_FILE(n) remove(READ_PATH(n));
    READ_FILES(REMOVE_FILE)
#undef REMOVE_FILE
}

static void write_file(int n, const char *path) {
    const picture p = picture_of(n);
    const test_image *image = png_of(&p);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(image->bytes, 1, image->n, file), image->n);
    assert_int_equal(fclose(file), 0);
}

/* Writes the files when it is first asked. */
static int can_read(void) {
    static int has_files;
    if (mxci_png_decoder && !has_files) {
#define WRITE_FILE(n) write_file(n, READ_PATH(n));
        READ_FILES(WRITE_FILE)
#undef WRITE_FILE
        atexit(remove_files);
        has_files = 1;
    }
    return has_files;
}

static void ref_read(const op_run *r) {
    const char *number = strstr(r->params, "mxc_cvimread_");
    assert_non_null(number);
    decode_picture(r, picture_of(atoi(number + strlen("mxc_cvimread_"))), 0);
}

/* ---- _imdecode --------------------------------------------------------------------------------------------------- */

static void planes(const op_run *r, int is_jpeg) {
    const picture p = picture_of(case_size(&r->in_shape[1]));
    const int64_t *dim = r->out_shape[0].dim;
    int is_part = case_number(r, "y0", 0) != case_number(r, "y1", 0);
    int x0 = is_part ? (int)case_number(r, "x0", 0) : 0, y0 = is_part ? (int)case_number(r, "y0", 0) : 0;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        int c = (int)(i / dim[2] / dim[1]), rgb[3];
        (is_jpeg ? jpeg_colour : png_colour)(&p, y0 + (int)(i / dim[2] % dim[1]), x0 + (int)(i % dim[2]), rgb);
        r->out[0][i] = dim[0] == 3 ? rgb[2 - c] : is_jpeg ? jpeg_grey(&p, rgb) : png_grey(rgb);
        if (case_size(&r->in_shape[0]))
            r->out[0][i] -= r->in[0][i];
    }
}

static void ref_png_planes(const op_run *r) {
    planes(r, 0);
}
static void ref_jpeg_planes(const op_run *r) {
    planes(r, 1);
}
static void prepare_png_planes(const op_run *r) {
    make_png(r, 1);
}
static void prepare_jpeg_planes(const op_run *r) {
    make_jpeg(r, 1);
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

#define READS(name, given, shapes, ref, fill, has) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .prepare = fill, .can_run = has }
#define PNG(given, bytes) READS("_cvimdecode", given, bytes, ref_png, prepare_png, has_png)
#define JPEG(given, bytes) READS("_cvimdecode", given, bytes, ref_jpeg, prepare_jpeg, has_jpeg)
#define PNG_PLANES(given, shapes) READS("_imdecode", given, shapes, ref_png_planes, prepare_png_planes, has_png)
#define JPEG_PLANES(given, shapes) READS("_imdecode", given, shapes, ref_jpeg_planes, prepare_jpeg_planes, has_jpeg)

#define READ(n)                                                                                                    \
    {.op = "_cvimread",                                                                                            \
     .params = "filename=" READ_PATH(n) "; flag=0 filename=" READ_PATH(n) "; to_rgb=false filename=" READ_PATH(n), \
     .in = "",                                                                                                     \
     .reference = ref_read,                                                                                        \
     .can_run = can_read},

static const op_case png[] = {
    READ_FILES(READ) FAILS("_cvimread", "filename=mxc_there_is_no_such_file.png", "", MXC_ENOTFOUND,
                           "mxc_there_is_no_such_file.png"),
    FAILS("_cvimread", "", "", MXC_EINVAL, "filename"),
    FAILS("_cvimread", "flag=2 filename=a.png", "", MXC_EINVAL, "_cvimread: flag is 2"),
    /* what needs no libpng first */
    FAILS("_cvimdecode", "flag=2", "9", MXC_EINVAL, "_cvimdecode: flag is 2"),
    FAILS("_cvimdecode", "flag=130", "9", MXC_EINVAL, "flag"),
    FAILS("_cvimdecode", "", "9", MXC_EDTYPE, "uint8"),
    FAILS("_imdecode", "c=2", "0 9", MXC_EINVAL, "c is 2"),
    FAILS("_imdecode", "x0=3 x1=3 y1=1", "0 9", MXC_EINVAL, "is nothing"),
    FAILS("_imdecode", "y0=3 y1=1", "0 9", MXC_EINVAL, "is nothing"),
    FAILS("_imdecode", "x0=-1", "0 9", MXC_EINVAL, "x0"),
    FAILS("_imdecode", "", "0 9", MXC_EDTYPE, "'buf'"),
    INFERS("_cvimdecode", "flag=0", "9 -> ? => 9 -> ?x?x1"),
    INFERS("_cvimdecode", "flag=128", "9 -> ? => 9 -> ?x?x1"),
    INFERS("_cvimdecode", "flag=129", "9 -> ? => 9 -> ?x?x3"),
    INFERS("_cvimdecode", "", "9 -> ?x5x? => 9 -> ?x5x3"),
    INFERS("_imdecode", "c=1", "?,9 -> ? => ?,9 -> 1x?x?"),
    INFERS("_imdecode", "x0=1 x1=3 y1=5", "0,9 -> ? => 0,9 -> 3x5x2"),
    PNG("flag=1; flag=0; to_rgb=false", "341@0:255i; 1111; 1991; 1171; 1710"),
    PNG("flag=1; flag=0; to_rgb=false", "340@0:255i; 1110; 1990"),
    PNG("flag=1; flag=0; to_rgb=false", "342@0:255i; 1112; 1992"),
    PNG("flag=1; flag=0; to_rgb=false", "343@0:255i; 1113; 1993"),
    PNG("flag=1; flag=0; to_rgb=false", "344@0:255i; 1114; 1994"),
    PNG("flag=1; flag=0; to_rgb=false", "345@0:255i; 1115; 1995"),
    PNG("flag=1; flag=0; to_rgb=false", "346@0:255i; 1116; 1996; 1126; 1656"),
    PNG("flag=1; flag=0; to_rgb=false", "347@0:255i; 1117; 1997; 1457"),
    PNG("flag=1; flag=0; to_rgb=false", "348@0:255i; 1118; 1998"),
    PNG("flag=1; flag=0; to_rgb=false", "349@0:255i; 1119; 1999"),
    PNG("flag=0", "451@0:255i"),
    PNG("to_rgb=false", "451@0:255i"),
    PNG("flag=0", "545@0:255i"),
    PNG_PLANES("c=3; c=1; c=3 size=0 index=7", "0 341@0:255i; 0x3 1111; 0 1994; 0 1718; 0 1457"),
    PNG_PLANES("c=3", "3x4x3 341@0:255i; 3x9x9 1991; 3x1x7 1713"),
    PNG_PLANES("c=1", "1x4x3 341@0:255i; 1x9x9 1991"),
    PNG_PLANES("x0=1 y0=2 x1=3 y1=4; x0=2 y0=0 x1=3 y1=1; x0=0 y0=3 x1=3 y1=4 c=1; x1=9 y0=2 y1=2",
               "0 341@0:255i; 0 1994; 0 1546"),
    PNG_PLANES("x0=1 y0=2 x1=3 y1=4", "3x2x2 341@0:255i; 3x2x2 1994"),
};

static const op_case jpeg[] = {
    JPEG("flag=1; flag=0; to_rgb=false", "350@0:255i; 1110; 1990; 1170; 1910"),
    JPEG("flag=1; flag=0; to_rgb=false", "351@0:255i; 1111; 1991; 1171; 1911"),
    JPEG("flag=1; flag=0; to_rgb=false", "352@0:255i; 1112; 1992; 1172; 1912"),
    JPEG("flag=1; flag=0; to_rgb=false", "353@0:255i; 1113; 1993; 1173; 1913"),
    JPEG("flag=1; flag=0; to_rgb=false", "354@0:255i; 1114; 1994; 1174; 1914"),
    JPEG("flag=0", "491@0:255i"),
    JPEG("to_rgb=false", "491@0:255i"),
    JPEG("flag=0", "492@0:255i"),
    JPEG_PLANES("c=3; c=1", "0 351@0:255i; 0 1910; 0 1192; 0 1993; 0 1114"),
    JPEG_PLANES("c=3", "3x5x3 351@0:255i; 3x9x9 1992; 3x1x7 1710"),
    JPEG_PLANES("c=1", "1x9x9 1991@0:255i"),
    JPEG_PLANES("x0=1 y0=2 x1=9 y1=9; x0=7 y0=7 x1=8 y1=9 c=1", "0 1990@0:255i; 0 1992; 0 1994"),
};

MXC_CASES(vision_png_cases, png);
MXC_CASES(vision_jpeg_cases, jpeg);

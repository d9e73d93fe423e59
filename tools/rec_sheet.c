/* SPDX-License-Identifier: Apache-2.0 */
/* mxc rec --sheet OUT.png FILE: draws the first images of a record file side by side into one image. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxc/image.h>
#include <mxc/ndarray.h>
#include <mxc/recordio.h>

#include "mxc.h"

enum { TILE = 96, GAP = 4, ACROSS = 10, MAX_IMAGES = 100, BACKGROUND = 40 };

typedef struct sheet {
    int n, bad;
    uint8_t tiles[MAX_IMAGES][TILE][TILE][3];
} sheet;

/* Copy an image to the next tile, scaled to fit and centred. */
static int put(sheet *s, const mxc_image *image) {
    int64_t longest = image->height > image->width ? image->height : image->width;
    int64_t h = (image->height * TILE + longest - 1) / longest, w = (image->width * TILE + longest - 1) / longest;
    mxc_image small;
    if (mxc_image_resize(image, h, w, longest > TILE ? 3 : 0, &small) != MXC_OK)
        return 0;
    memset(s->tiles[s->n], BACKGROUND, sizeof s->tiles[0]);
    for (int64_t y = 0; y < h; y++)
        memcpy(s->tiles[s->n][(TILE - h) / 2 + y][(TILE - w) / 2], small.pixels + y * w * 3, (size_t)w * 3);
    mxc_image_free(&small);
    s->n++;
    return 1;
}

/* Add the image of a record; reports and leaves out records that are not images. */
static void add(sheet *s, const mxc_record *record) {
    mxc_image_record header;
    mxc_image image = {0};
    char source_name[64];
    snprintf(source_name, sizeof source_name, "record at offset %" PRId64, record->offset);
    if (mxc_image_record_read(record->data, record->bytes, &header) != MXC_OK ||
        mxc_image_decode(source_name, header.image, header.image_bytes, 3, 0, &image) != MXC_OK || !put(s, &image)) {
        fprintf(stderr, "mxc: %s\n", mxc_last_error());
        s->bad++;
    }
    mxc_image_free(&image);
}

static int read_all(sheet *s, const char *path) {
    mxc_record_reader *reader;
    mxc_record record = {0};
    if (mxc_record_reader_open(path, 0, 1, MXC_BAD_SKIP, &reader) != MXC_OK)
        return 0;
    mxc_status status = mxc_record_reader_next(reader, &record);
    while (status == MXC_OK && record.data && s->n < MAX_IMAGES) {
        add(s, &record);
        status = mxc_record_reader_next(reader, &record);
    }
    mxc_record_reader_close(reader);
    return status == MXC_OK;
}

static int write_bytes(const char *path, const void *bytes, size_t n) {
    FILE *file = fopen(path, "wb");
    int ok = file && fwrite(bytes, 1, n, file) == n;
    ok = file && fclose(file) == 0 && ok;
    if (!ok)
        fprintf(stderr, "mxc: cannot write %s\n", path);
    return ok;
}

/* Returns 1 if the sheet was written, 0 for a failure with the library's message, -1 for one that is already reported.
 */
static int write_sheet(const sheet *s, const char *out) {
    int across = s->n < ACROSS ? s->n : ACROSS, down = (s->n + ACROSS - 1) / ACROSS, step = TILE + GAP;
    mxc_image image = {down * step + GAP, across * step + GAP, 3, NULL};
    size_t n = (size_t)(image.height * image.width * 3);
    void *png;
    image.pixels = malloc(n);
    if (!image.pixels)
        return 0;
    memset(image.pixels, BACKGROUND / 2, n);
    for (int i = 0; i < s->n; i++)
        for (int y = 0; y < TILE; y++)
            memcpy(image.pixels + ((i / ACROSS * step + GAP + y) * image.width + i % ACROSS * step + GAP) * 3,
                   s->tiles[i][y], sizeof s->tiles[i][y]);
    int ok = mxc_image_encode_png(&image, &png, &n) == MXC_OK;
    free(image.pixels);
    if (!ok)
        return 0;
    ok = write_bytes(out, png, n);
    mxc_free(png);
    return ok ? 1 : -1;
}

int mxc_rec_sheet(const char *path, const char *out) {
    sheet *s = calloc(1, sizeof *s);
    int written = s && read_all(s, path);
    if (written && s->n == 0) {
        fprintf(stderr, "mxc: %s: there are no images in it\n", path);
        written = -1;
    }
    if (written > 0)
        written = write_sheet(s, out);
    if (written == 0)
        fprintf(stderr, "mxc: %s\n", s ? mxc_last_error() : "no memory");
    if (written > 0)
        printf("%s: %d images\n", out, s->n);
    free(s);
    return written > 0 ? 0 : MXC_EXIT_FAILED;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A record file of photograph-like JPEGs, for bench programs that read images. */
#ifndef MXC_BENCH_IMAGES_H
#define MXC_BENCH_IMAGES_H

#include <math.h>

#include <mxc/image.h>
#include <mxc/recordio.h>

#include "measure.h"

enum { IMAGES_SIDE = 480, IMAGES_N = 64, IMAGES_CLASSES = 10 };

/* Edges, slopes and some noise, so that the files are as large as photographs'. */
static inline void images_draw(int number, uint8_t *out) {
    uint32_t noise = (uint32_t)number * 2654435761u + 1;
    double along[IMAGES_SIDE][3];
    for (int x = 0; x < IMAGES_SIDE; x++)
        for (int c = 0; c < 3; c++)
            along[x][c] = sin(0.02 * (x + 3 * number) * (c + 1));
    for (int y = 0; y < IMAGES_SIDE; y++)
        for (int x = 0; x < IMAGES_SIDE; x++) {
            double wave = cos(0.031 * y + 0.0001 * x * y);
            for (int c = 0; c < 3; c++) {
                noise = noise * 1664525u + 1013904223u;
                double value = 128 + 45 * (along[x][c] + wave) + ((x / 40 + y / 60) % 3) * 12 + (noise >> 24) / 12.0;
                *out++ = (uint8_t)fmin(255, fmax(0, value));
            }
        }
}

static inline void images_write(mxc_record_writer *writer, int number, const void *bytes, size_t n) {
    const float label = (float)(number % IMAGES_CLASSES);
    const mxc_image_record record = {(uint64_t)number, 0, 1, &label, bytes, n};
    size_t record_bytes = mxc_image_record_size(1, n);
    void *data = malloc(record_bytes);
    if (!data)
        measure_fail("no memory");
    mxc_image_record_write(&record, data);
    measure_check(mxc_record_writer_write(writer, (uint64_t)number, data, record_bytes));
    free(data);
}

static inline void images_make(const char *path) {
    static uint8_t pixels[IMAGES_SIDE * IMAGES_SIDE * 3];
    const mxc_image image = {IMAGES_SIDE, IMAGES_SIDE, 3, pixels};
    mxc_record_writer *writer;
    measure_check(mxc_record_writer_open(path, NULL, &writer));
    for (int i = 0; i < IMAGES_N; i++) {
        void *bytes;
        size_t n;
        images_draw(i, pixels);
        measure_check(mxc_image_encode_jpeg(&image, 90, &bytes, &n));
        images_write(writer, i, bytes, n);
        mxc_free(bytes);
    }
    measure_check(mxc_record_writer_close(writer));
}

#endif

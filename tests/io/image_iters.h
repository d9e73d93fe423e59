/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image iterators in tests: a record file of small images that are known, iterators over it, and their batches taken
 * apart.
 */
#ifndef MXC_TESTS_IO_IMAGE_ITERS_H
#define MXC_TESTS_IO_IMAGE_ITERS_H

#include <math.h>

#include <mxc/io.h>
#include <mxc/recordio.h>

#include "alive.h"
#include "image_samples.h"

enum { H = 12, W = 10, N = 23, ROOM = 4096 };

static test_path folder, rec, idx;

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Record i: an image of the bytes of sample_pixels(i), label i and, where there are two, 10 i; id 100 + i. */
static inline void put_record(mxc_record_writer *writer, int i, int n_labels, const void *image, size_t bytes) {
    static uint8_t buffer[1 << 17];
    const float labels[2] = {(float)i, (float)(10 * i)};
    const mxc_image_record record = {(uint64_t)(100 + i), 0, n_labels, labels, image, bytes};
    size_t size = mxc_image_record_size(n_labels, bytes);
    assert_true(size <= sizeof buffer);
    mxc_image_record_write(&record, buffer);
    assert_ok(mxc_record_writer_write(writer, (uint64_t)i, buffer, size));
}

static inline void put_png(mxc_record_writer *writer, int i, int n_labels) {
    static test_image png;
    uint8_t pixels[H * W * 3];
    sample_pixels((uint32_t)i, H, W, 3, 0, pixels);
    sample_png(&png, pixels, H, W, 3);
    put_record(writer, i, n_labels, png.bytes, png.n);
}

static inline void write_records(int n, int n_labels) {
    mxc_record_writer *writer;
    assert_ok(mxc_record_writer_open(rec, idx, &writer));
    for (int i = 0; i < n; i++)
        put_png(writer, i, n_labels);
    assert_ok(mxc_record_writer_close(writer));
}

/* Records first to end - 1 into a file of a folder, with an index. */
static inline void write_some(const char *into, const char *stem, int first, int end) {
    test_path path, index;
    char name[32];
    mxc_record_writer *writer;
    snprintf(name, sizeof name, "%s.rec", stem);
    test_join(path, into, name);
    snprintf(name, sizeof name, "%s.idx", stem);
    assert_ok(mxc_record_writer_open(path, test_join(index, into, name), &writer));
    for (int i = first; i < end; i++)
        put_png(writer, i, 1);
    assert_ok(mxc_record_writer_close(writer));
}

static inline int make_folder(void **state) {
    (void)state;
    test_temp_dir(folder);
    test_join(rec, folder, "data.rec");
    test_join(idx, folder, "data.idx");
    return 0;
}

static inline int remove_folder(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

/* ---- iterators --------------------------------------------------------------------------------------------------- */

/* Keys and values after these, the last NULL; they may repeat none. */
static inline mxc_status make_named(const char *name, mxc_iter **out, const char *const *more) {
    const char *keys[24] = {"path_imgrec"}, *values[24] = {rec};
    int n = 1, has_shape = 0;
    for (; more[2 * n - 2]; n++) {
        keys[n] = more[2 * n - 2];
        values[n] = more[2 * n - 1];
        has_shape |= strcmp(keys[n], "data_shape") == 0;
    }
    if (!has_shape) {
        keys[n] = "data_shape";
        values[n++] = "(3,8,6)";
    }
    return mxc_iter_create(name, n, keys, values, out);
}

#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline mxc_iter *make(const char *const *more) {
    mxc_iter *iter;
    assert_ok(make_named("ImageRecordIter", &iter, more));
    return iter;
}

#define SKIP_WITHOUT_PNG \
    if (!has_png())      \
    skip()

/* What a few batches held. */
typedef struct taken {
    int64_t n, pad, n_bad, batches;
    uint64_t index[ROOM];
    float label[ROOM];
    uint64_t sum; /* of all bytes of the data, in order */
} taken;

static inline void take_batch(const mxc_batch *batch, taken *t) {
    const uint8_t *data;
    float *label;
    assert_ok(mxc_ndarray_data(batch->data[0], (void **)&data));
    assert_ok(mxc_ndarray_data(batch->label[0], (void **)&label));
    for (size_t i = 0; i < mxc_ndarray_bytes(batch->data[0]); i++)
        t->sum = (t->sum ^ data[i]) * UINT64_C(1099511628211);
    for (int64_t i = 0; i < batch->n_index; i++, t->n++) {
        assert_true(t->n < ROOM);
        t->index[t->n] = batch->index[i];
        t->label[t->n] = label[i];
    }
    t->pad += batch->pad;
    t->n_bad += batch->n_bad;
    t->batches++;
}

/* At most so many batches of this epoch. */
static inline void take(mxc_iter *iter, int64_t most, taken *t) {
    mxc_batch batch;
    *t = (taken){0};
    while (t->batches < most) {
        assert_ok(mxc_iter_next(iter, &batch));
        if (!batch.n_data)
            return;
        take_batch(&batch, t);
    }
}

static inline void assert_same(const taken *a, const taken *b) {
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->pad, b->pad);
    assert_memory_equal(a->index, b->index, sizeof a->index[0] * (size_t)a->n);
    assert_memory_equal(a->label, b->label, sizeof a->label[0] * (size_t)a->n);
    assert_int_equal(a->sum, b->sum);
}

#endif

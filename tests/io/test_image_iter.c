/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image iterators over record files that the tests write: each sample once, the same for any number of threads and
 * from any saved state; what rows hold; means; memory. Covers io/image_iter.c, image_records.c, image_record_iter.c
 * and image_mean.c.
 */
#include <mxc/storage.h>

#include "image_iters.h"
#include "io/image_source.h"

/* ---- what comes -------------------------------------------------------------------------------------------------- */

static void test_rows(void **state) {
    mxc_batch batch;
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(N, 1);
    mxc_iter *iter = make(WITH("batch_size", "5", "mean_r", "3"));
    assert_string_equal(mxc_iter_desc(iter, 0)->name, "data");
    assert_string_equal(mxc_iter_desc(iter, 1)->name, "softmax_label");
    assert_int_equal(mxc_iter_desc(iter, 1)->shape.ndim, 1);
    for (int b = 0; b < 5; b++) {
        const float *data, *label;
        assert_ok(mxc_iter_next(iter, &batch));
        assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
        assert_ok(mxc_ndarray_data(batch.label[0], (void **)&label));
        for (int i = 0; i < 5; i++) {
            uint8_t pixels[H * W * 3];
            int sample = (5 * b + i) % N;
            assert_int_equal(batch.index[i], 100 + sample);
            assert_true(label[i] == (float)sample);
            sample_pixels((uint32_t)sample, H, W, 3, 0, pixels);
            for (int k = 0; k < 3 * 8 * 6; k++) {
                int c = k / 48, y = k / 6 % 8, x = k % 6;
                float want = (float)pixels[((y + 2) * W + x + 2) * 3 + c] - (c == 0 ? 3 : 0);
                assert_true(data[i * 144 + k] == want);
            }
        }
        assert_int_equal(batch.pad, b == 4 ? 2 : 0);
    }
    mxc_iter_destroy(iter);
}

/* Records of JPEG with EXIF orientation, the shorter side reduced to 2 pixels: upright, or as stored. */
static void test_exif_orientation(void **state) {
    static test_image t;
    (void)state;
    if (!has_jpeg())
        skip();
    for (int orientation = 1; orientation <= 8; orientation++)
        for (int off = 0; off < 2; off++) {
            const int seen = off ? 1 : orientation, h = seen > 4 ? 3 : 2, w = 5 - h;
            mxc_record_writer *writer;
            mxc_batch batch;
            const float *data;
            turned_jpeg(&t, orientation);
            assert_ok(mxc_record_writer_open(rec, idx, &writer));
            put_record(writer, 0, 1, t.bytes, t.n);
            assert_ok(mxc_record_writer_close(writer));
            mxc_iter *iter = make(WITH("batch_size", "1", "data_shape", h == 3 ? "(1,3,2)" : "(1,2,3)", "resize", "2",
                                       "inter_method", "3", "exif_orientation", off ? "False" : "True"));
            assert_ok(mxc_iter_next(iter, &batch));
            assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
            for (int i = 0; i < 6; i++) {
                int y, x;
                exif_place(seen, 2, 3, i / 3, i % 3, &y, &x);
                assert_true(data[y * w + x] == (float)turned_value(8 * (i / 3), 8 * (i % 3)));
            }
            mxc_iter_destroy(iter);
        }
}

static void test_signed_bytes(void **state) {
    mxc_iter *iter;
    mxc_batch batch;
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(N, 1);
    assert_ok(make_named("ImageRecordInt8Iter", &iter, WITH("batch_size", "4", "mean_g", "128", "ctx", "cpu")));
    assert_int_equal(mxc_iter_desc(iter, 0)->dtype, MXC_I8);
    assert_ok(mxc_iter_next(iter, &batch));
    uint8_t pixels[H * W * 3];
    int8_t *data;
    sample_pixels(0, H, W, 3, 0, pixels);
    assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
    for (int i = 0; i < 48; i++)
        assert_int_equal(data[48 + i], pixels[((i / 6 + 2) * W + i % 6 + 2) * 3 + 1] - 128);
    mxc_iter_destroy(iter);
}

static void test_labels(void **state) {
    mxc_iter *iter;
    mxc_batch batch;
    float *label;
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(N, 2);
    iter = make(WITH("batch_size", "4", "label_width", "2"));
    assert_int_equal(mxc_iter_desc(iter, 1)->shape.ndim, 2);
    assert_ok(mxc_iter_next(iter, &batch));
    assert_ok(mxc_ndarray_data(batch.label[0], (void **)&label));
    for (int i = 0; i < 8; i++)
        assert_true(label[i] == (float)(i % 2 ? i / 2 * 10 : i / 2));
    mxc_iter_destroy(iter);
    iter = make(WITH("batch_size", "4", "label_width", "3"));
    assert_fails(mxc_iter_next(iter, &batch), MXC_EFORMAT, "ImageRecordIter: record 0 at offset 0 of ");
    mxc_iter_destroy(iter);
    iter = make(WITH("batch_size", "4")); /* the first of several labels is not the label */
    assert_fails(mxc_iter_next(iter, &batch), MXC_EFORMAT, "2 labels, expected label_width, 1");
    mxc_iter_destroy(iter);
}

static void test_list_replaces_labels(void **state) {
    test_path list;
    char text[4096] = "";
    mxc_iter *iter;
    taken t;
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(N, 1);
    for (int i = N - 1; i >= 0; i--)
        snprintf(text + strlen(text), 100, "%d\t%d.5\tsome where/%d.png\r\n", 100 + i, 2 * i, i);
    test_write_file(test_join(list, folder, "data.lst"), text, strlen(text));
    iter = make(WITH("batch_size", "4", "path_imglist", list));
    take(iter, 100, &t);
    for (int i = 0; i < N; i++)
        assert_true(t.label[i] == (float)(2 * i) + 0.5f);
    mxc_iter_destroy(iter);
    test_write_file(list, "103\t1\ta.png\n", 12);
    iter = make(WITH("batch_size", "4", "path_imglist", list));
    assert_fails(mxc_iter_next(iter, &(mxc_batch){0}), MXC_EFORMAT, "its id 100 is not in path_imglist");
    mxc_iter_destroy(iter);
    for (int i = 0; i < 5; i++) {
        const char *bad[] = {"x\t1\ta", "1\t2", "1\tb\ta", "-1\t1\ta", "1 1 a"};
        test_write_file(list, bad[i], strlen(bad[i]));
        if (i != 1) /* an image without labels is a line */
            assert_fails(make_named("ImageRecordIter", &iter, WITH("batch_size", "4", "path_imglist", list)),
                         MXC_EFORMAT, "line 1");
    }
}

static void test_bytes(void **state) {
    mxc_iter *iter;
    mxc_batch batch;
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(N, 1);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "ImageRecordUInt8Iter" : "ImageRecordUInt8Iter_v1";
        assert_ok(make_named(name, &iter, WITH("batch_size", "4", "mean_r", "3", "layout", "NHWC")));
        assert_int_equal(mxc_iter_desc(iter, 0)->dtype, MXC_U8);
        assert_int_equal(mxc_iter_desc(iter, 0)->shape.dim[3], 3);
        assert_ok(mxc_iter_next(iter, &batch));
        uint8_t pixels[H * W * 3], *data;
        sample_pixels(0, H, W, 3, 0, pixels);
        assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
        assert_memory_equal(data, pixels + (2 * W + 2) * 3, 18);
        mxc_iter_destroy(iter);
    }
}

/* ---- epochs ------------------------------------------------------------------------------------------------------ */

static void count_once(const taken *t, int64_t from, int64_t to, int *seen) {
    for (int64_t i = from; i < to; i++)
        seen[t->index[i] - 100]++;
}

/* With round_batch the samples that fill up are the next epoch's, which goes on behind them. */
static void test_round_batch(void **state) {
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(N, 1);
    mxc_iter *iter = make(WITH("batch_size", "5", "shuffle", "1"));
    int seen[N] = {0};
    int64_t borrowed = 0;
    for (int epoch = 0; epoch < 12; epoch++) {
        taken t;
        take(iter, 100, &t);
        assert_int_equal(t.batches, (N - borrowed + 4) / 5);
        assert_int_equal(t.n - t.pad, N - borrowed);
        count_once(&t, 0, t.n - t.pad, seen);
        for (int i = 0; i < N; i++) {
            assert_int_equal(seen[i], 1);
            seen[i] = 0;
        }
        count_once(&t, t.n - t.pad, t.n, seen);
        borrowed = t.pad;
        take(iter, 100, &t);
        assert_int_equal(t.n, 0); /* asked again, it says so again */
        assert_ok(mxc_iter_reset(iter));
    }
    mxc_iter_destroy(iter);
}

static void test_no_round_batch(void **state) {
    taken t;
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(N, 1);
    mxc_iter *iter = make(WITH("batch_size", "5", "round_batch", "0"));
    for (int epoch = 0; epoch < 3; epoch++) {
        take(iter, 100, &t);
        assert_int_equal(t.n, 25);
        assert_int_equal(t.pad, 2);
        assert_int_equal(t.index[0], 100);
        assert_int_equal(t.index[24], 101);
        assert_ok(mxc_iter_reset(iter));
    }
    mxc_iter_destroy(iter);
    iter = make(WITH("batch_size", "60")); /* more than there are: each comes at least once */
    take(iter, 100, &t);
    assert_int_equal(t.n, 60);
    assert_int_equal(t.pad, 60 - N);
    mxc_iter_destroy(iter);
}

/* 40 records of 100 KB: a chunk of a megabyte has about 10, which come together, in an order of their own. */
static void test_shuffled_chunks(void **state) {
    static uint8_t bytes[100 * 1024];
    static test_image png;
    uint8_t pixels[H * W * 3];
    mxc_record_writer *writer;
    taken t, other;
    int moved = 0;
    (void)state;
    SKIP_WITHOUT_PNG;
    sample_pixels(1, H, W, 3, 0, pixels);
    sample_png(&png, pixels, H, W, 3);
    memcpy(bytes, png.bytes, png.n);
    assert_ok(mxc_record_writer_open(rec, idx, &writer));
    for (int i = 0; i < 40; i++)
        put_record(writer, i, 1, bytes, sizeof bytes);
    assert_ok(mxc_record_writer_close(writer));
    for (int indexed = 0; indexed < 2; indexed++) {
        mxc_iter *iter =
            make(WITH("batch_size", "4", "shuffle", "1", "shuffle_chunk_size", "1", "path_imgidx", indexed ? idx : ""));
        take(iter, 100, &t);
        assert_ok(mxc_iter_reset(iter));
        take(iter, 100, &other);
        int seen[40] = {0}, changes = 0;
        for (int i = 0; i < 40; i++) {
            assert_int_equal(seen[t.index[i] - 100]++, 0);
            changes += i > 0 && (t.index[i] - 100) / 10 != (t.index[i - 1] - 100) / 10;
            moved += t.index[i] != other.index[i];
        }
        assert_int_equal(changes, 3);
        mxc_iter_destroy(iter);
    }
    assert_true(moved > 40);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__})

#define ANY_AUGMENTATION                                                                                           \
    "shuffle", "1", "seed", "3", "rand_crop", "1", "rand_mirror", "1", "max_rotate_angle", "20", "random_h", "30", \
        "pca_noise", "0.1", "brightness", "0.3", "max_random_illumination", "5"

static void test_same_for_any_threads(void **state) {
    static taken want, have;
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(N, 1);
    for (int epoch = 0; epoch < 3; epoch++)
        for (int threads = 1; threads <= 4; threads++)
            for (int depth = 1; depth <= 5; depth += 2) {
                char count[16], ahead[16];
                snprintf(count, sizeof count, "%d", threads);
                snprintf(ahead, sizeof ahead, "%d", depth);
                mxc_iter *iter = make(
                    WITH("batch_size", "4", "preprocess_threads", count, "prefetch_buffer", ahead, ANY_AUGMENTATION));
                for (int i = 0; i < epoch; i++)
                    assert_ok(mxc_iter_reset(iter));
                take(iter, 100, threads == 1 && depth == 1 ? &want : &have);
                if (threads > 1 || depth > 1)
                    assert_same(&want, &have);
                mxc_iter_destroy(iter);
            }
}

/* A state put into another iterator, or back, continues bit for bit, into the next epoch too. */
static void test_state(void **state) {
    static taken a, b;
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(N, 1);
    mxc_iter *first = make(WITH("batch_size", "4", ANY_AUGMENTATION));
    mxc_iter *second = make(WITH("batch_size", "4", ANY_AUGMENTATION));
    for (int epoch = 0; epoch < 3; epoch++)
        for (int64_t before = 0; before <= 5; before++) {
            mxc_iter_state at;
            assert_ok(mxc_iter_set_state(first, &(mxc_iter_state){(uint64_t)epoch, 0}));
            take(first, before, &a);
            assert_ok(mxc_iter_get_state(first, &at));
            assert_int_equal(at.position, before);
            assert_ok(mxc_iter_set_state(second, &at));
            for (int more = 0; more < 2; more++) {
                take(first, 100, &a);
                take(second, 100, &b);
                assert_same(&a, &b);
                assert_ok(mxc_iter_reset(first));
                assert_ok(mxc_iter_reset(second));
            }
        }
    assert_fails(mxc_iter_set_state(first, &(mxc_iter_state){0, 7}), MXC_EINVAL, "position 7, expected 0 to 6");
    assert_fails(mxc_iter_set_state(first, &(mxc_iter_state){0, -1}), MXC_EINVAL, "position -1");
    mxc_iter_destroy(first);
    mxc_iter_destroy(second);
}

/* An epoch left in the middle; threads stopped at any time. */
static void test_leaving(void **state) {
    static taken t;
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(N, 1);
    for (int round = 0; round < TEST_SCALE(60); round++) {
        mxc_iter *iter = make(WITH("batch_size", "3", "prefetch_buffer", round % 2 ? "1" : "6"));
        mxc_iter_state at;
        take(iter, round % 9, &t);
        assert_ok(mxc_iter_reset(iter));
        assert_ok(mxc_iter_get_state(iter, &at));
        assert_int_equal(at.epoch, 1);
        assert_int_equal(at.position, 0);
        take(iter, round % 5, &t);
        mxc_iter_destroy(iter);
    }
}

static void test_parts(void **state) {
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(N, 1);
    for (int with_index = 0; with_index < 2; with_index++)
        for (int parts = 1; parts <= 7; parts++) {
            int seen[N] = {0};
            for (int part = 0; part < parts; part++) {
                char index[16], count[16];
                static taken t;
                snprintf(index, sizeof index, "%d", part);
                snprintf(count, sizeof count, "%d", parts);
                mxc_iter *iter = make(WITH("batch_size", "1", "part_index", index, "num_parts", count, "path_imgidx",
                                           with_index ? idx : ""));
                take(iter, 100, &t);
                count_once(&t, 0, t.n, seen);
                mxc_iter_destroy(iter);
            }
            for (int i = 0; i < N; i++)
                assert_int_equal(seen[i], 1);
        }
    mxc_iter *iter;
    assert_fails(make_named("ImageRecordIter", &iter, WITH("batch_size", "1", "part_index", "2", "num_parts", "2")),
                 MXC_EINVAL, "part_index 2 of num_parts 2");
}

/* Files follow each other; what is told of a sample is its place in its own. */
static void test_several_files(void **state) {
    static const int order[] = {5, 6, 0, 1, 2, 0, 1, 2};
    test_path path;
    char paths[3 * sizeof path];
    mxc_iter *iter;
    taken t;
    (void)state;
    SKIP_WITHOUT_PNG;
    mkdir(test_join(path, folder, "several"), 0700);
    write_some(path, "z", 0, 3);
    write_some(path, "y", 5, 7);
    write_records(2, 1);
    snprintf(paths, sizeof paths, "%s;%s/z.rec", path, path);
    assert_ok(mxc_iter_create("ImageRecordIter", 4, LIST("path_imgrec", "data_shape", "batch_size", "round_batch"),
                              LIST(paths, "(3,8,6)", "1", "0"), &iter));
    take(iter, 100, &t);
    assert_int_equal(t.n, 8);
    for (int i = 0; i < 8; i++)
        assert_int_equal(t.index[i], 100 + order[i]);
    mxc_iter_destroy(iter);
    assert_fails(mxc_iter_create("ImageRecordIter", 4, LIST("path_imgrec", "data_shape", "batch_size", "path_imgidx"),
                                 LIST(paths, "(3,8,6)", "1", idx), &iter),
                 MXC_EINVAL, "1 files in path_imgidx, 3 in path_imgrec");
    snprintf(paths, sizeof paths, "%s/y.rec;%s", path, path);
    assert_ok(mxc_iter_create("ImageRecordIter", 4, LIST("path_imgrec", "data_shape", "batch_size", "label_width"),
                              LIST(paths, "(3,8,6)", "1", "2"), &iter));
    assert_ok(mxc_iter_set_state(iter, &(mxc_iter_state){0, 3}));
    assert_fails(mxc_iter_next(iter, &(mxc_batch){0}), MXC_EFORMAT, "ImageRecordIter: record 1 at offset ");
    assert_non_null(strstr(mxc_last_error(), "several/y.rec: 1 labels"));
    mxc_iter_destroy(iter);
}

/* ---- mean -------------------------------------------------------------------------------------------------------- */

static void test_mean_image(void **state) {
    test_path mean;
    double sum[144] = {0};
    mxc_ndarray_list list;
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(N, 1);
    test_join(mean, folder, "mean.nd");
    for (int again = 0; again < 2; again++) { /* made, then read */
        mxc_iter *iter = make(WITH("batch_size", "5", "mean_img", mean, "mirror", "1", "scale", "2"));
        mxc_batch batch;
        float *data, *values;
        assert_ok(mxc_ndarray_load(mean, &list));
        assert_ok(mxc_ndarray_data(list.arrays[0], (void **)&values));
        assert_ok(mxc_iter_next(iter, &batch));
        assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
        for (int i = 0; i < N * (1 - again); i++) {
            uint8_t pixels[H * W * 3];
            sample_pixels((uint32_t)i, H, W, 3, 0, pixels);
            for (int k = 0; k < 144; k++)
                sum[k] += pixels[((k / 6 % 8 + 2) * W + 7 - k % 6) * 3 + k / 48] / (double)N;
        }
        for (int k = 0; k < 144; k++) {
            uint8_t pixels[H * W * 3];
            sample_pixels(0, H, W, 3, 0, pixels);
            assert_true(fabs(values[k] - sum[k]) < 1e-3);
            double byte = pixels[((k / 6 % 8 + 2) * W + 7 - k % 6) * 3 + k / 48];
            assert_true(fabs(data[k] - 2 * (byte - sum[k])) < 1e-2);
        }
        mxc_ndarray_list_release(&list);
        mxc_iter_destroy(iter);
    }
}

/* ---- how far ahead ----------------------------------------------------------------------------------------------- */

/* One image without end; how often it was asked for. */
typedef struct counting {
    test_image png;
    _Atomic int64_t reads;
} counting;

static mxc_status counting_open(void *self, void **cursor) {
    (void)self;
    *cursor = NULL;
    return MXC_OK;
}

static mxc_status counting_read(void *self, void *cursor, int64_t i, mxci_image_sample *out, float *label) {
    counting *c = self;
    (void)cursor;
    *out = (mxci_image_sample){.bytes = c->png.bytes, .n = c->png.n, .id = (uint64_t)i};
    *label = 0;
    c->reads++;
    return MXC_OK;
}

static void nothing(void *self) {
    (void)self;
}

static void await_reads(counting *c, int64_t n) {
    for (int ms = 0; c->reads < n; ms++) {
        if (ms == 20000)
            fail_msg("%lld samples, expected %lld", (long long)c->reads, (long long)n);
        mxci_sleep_ns(1000000);
    }
}

/* While the consumer stands still, prefetch_buffer batches are made, and then no sample more is touched. */
static void test_slow_consumer_stops_the_threads(void **state) {
    static counting c;
    (void)state;
    SKIP_WITHOUT_PNG;
    uint8_t pixels[H * W * 3];
    sample_pixels(1, H, W, 3, 0, pixels);
    sample_png(&c.png, pixels, H, W, 3);
    const mxci_image_source source = {&c, 1000, 0, counting_open, counting_read, nothing, nothing};
    for (int64_t depth = 1; depth <= 5; depth++) {
        const mxci_image_params p = {
            .data_shape = {3, {3, 8, 6}},
            .batch_size = 3,
            .label_width = 1,
            .preprocess_threads = 2,
            .num_parts = 1,
            .prefetch_buffer = depth,
            .max_pixels = 1 << 20,
            .aug_seq = "aug_default",
            .resize = -1,
            .dtype = MXC_F32,
            .max_crop_size = -1,
            .min_crop_size = -1,
            .max_random_scale = 1,
            .min_random_scale = 1,
            .scale = 1,
            .max_img_size = 1e10,
            .min_aspect_ratio = NAN,
        };
        mxc_iter *iter;
        mxc_batch batch;
        c.reads = 0;
        assert_ok(mxci_image_iter_create("test", &p, NULL, &source, &iter));
        for (int64_t taken = 1; taken < 12; taken++) {
            const int64_t least = 3 * (taken + depth / 2), most = 3 * (taken + depth); /* woken when half are gone */
            assert_ok(mxc_iter_next(iter, &batch));
            await_reads(&c, least);
            mxci_sleep_ns(2000000);
            assert_in_range(c.reads, least, most);
        }
        mxc_iter_destroy(iter);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void write_jpegs(void) {
    static test_image image;
    mxc_record_writer *writer;
    assert_ok(mxc_record_writer_open(rec, NULL, &writer));
    for (int i = 0; i < 40; i++) {
        uint8_t blocks[3 * 9];
        for (int k = 0; k < 27; k++)
            blocks[k] = (uint8_t)(i * 5 + k);
        jpeg_of(&image, JPEG_SEQUENTIAL, 24, 24, 3, -1, blocks);
        put_record(writer, i, 1, image.bytes, image.n);
    }
    assert_ok(mxc_record_writer_close(writer));
}

static void test_steady_state_allocates_nothing(void **state) {
    static taken t;
    (void)state;
    if (!has_jpeg())
        skip();
    write_jpegs();
    mxc_iter *iter = make(WITH("batch_size", "4", "shuffle", "1", "rand_crop", "1", "resize", "12",
                               "preprocess_threads", "1")); /* one that has surely had work before */
    for (int epoch = 0; epoch < 3; epoch++) {
        take(iter, 100, &t);
        assert_ok(mxc_iter_reset(iter));
    }
    int64_t before = mxci_alloc_count();
    for (int epoch = 0; epoch < 3; epoch++) {
        take(iter, 100, &t);
        assert_int_equal(t.n, 40);
        assert_ok(mxc_iter_reset(iter));
    }
    assert_int_equal(mxci_alloc_count(), before);
    mxc_iter_destroy(iter);
}

/* Pools keep blocks, and give them back when an allocation fails. */
static int64_t alive_without_pools(void) {
    (void)test_alive();
    assert_ok(mxc_storage_trim(mxc_cpu(0), 0));
    return test_alive();
}

/* Each allocation in turn fails: an error or the right result, and nothing is lost. */
static void test_no_memory(void **state) {
    (void)state;
    SKIP_WITHOUT_PNG;
    write_records(5, 1);
    for (int64_t at = 1; at < 2000; at++) {
        int64_t alive = alive_without_pools();
        mxc_iter *iter;
        mxc_batch batch;
        mxci_test_fail_alloc(at, 0);
        mxc_status status = make_named("ImageRecordIter", &iter,
                                       WITH("batch_size", "2", "preprocess_threads", "1", "prefetch_buffer", "1"));
        for (int i = 0; i < 3 && status == MXC_OK; i++)
            status = mxc_iter_next(iter, &batch);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM || status == MXC_EIO);
        mxc_iter_destroy(iter);
        assert_int_equal(alive_without_pools(), alive);
        if (status == MXC_OK && at > 120)
            return;
    }
    fail_msg("does not end");
}

/* ---- files of others --------------------------------------------------------------------------------------------- */

static void test_real_files(void **state) {
    test_path path;
    mxc_iter *iter;
    (void)state;
    if (!has_jpeg() || !test_data(path, "recordio/ocr-lines-test.rec"))
        skip();
    const char *keys[] = {"path_imgrec", "data_shape", "batch_size", "label_width", "resize", "rand_crop", "shuffle"};
    const char *values[] = {path, "(3,32,100)", "8", "20", "32", "1", "1"};
    assert_ok(mxc_iter_create("ImageRecordIter", 7, keys, values, &iter));
    for (int epoch = 0; epoch < 2; epoch++) {
        mxc_batch batch;
        int n = 0;
        for (;; n++) {
            assert_ok(mxc_iter_next(iter, &batch));
            if (!batch.n_data)
                break;
        }
        assert_true(n > 0);
        assert_ok(mxc_iter_reset(iter));
    }
    mxc_iter_destroy(iter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_list_replaces_labels),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_exif_orientation),
        cmocka_unit_test(test_signed_bytes),
        cmocka_unit_test(test_round_batch),
        cmocka_unit_test(test_no_round_batch),
        cmocka_unit_test(test_shuffled_chunks),
        cmocka_unit_test(test_same_for_any_threads),
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_mean_image),
        cmocka_unit_test(test_slow_consumer_stops_the_threads),
        cmocka_unit_test(test_steady_state_allocates_nothing),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_real_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

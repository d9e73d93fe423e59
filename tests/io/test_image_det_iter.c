/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images with objects: the objects are coloured rectangles, so that where they are in the batch can be seen, and must
 * be where its labels say. Covers io/augment_detection.c too.
 */
#include <math.h>

#include <mxc/io.h>
#include <mxc/recordio.h>

#include "alive.h"
#include "image_samples.h"

enum { SIDE = 64, N = 12 };

static test_path folder, rec;

/* Image i: grey 60, and a rectangle of class 1 in red, of class 2 in green. In shares of the image. */
static void boxes_of(int i, float out[2][5]) {
    const float shift = (float)(i % 4) / 16;
    memcpy(out[0], (float[]){1, 0.125f + shift, 0.25f, 0.375f + shift, 0.625f}, sizeof out[0]);
    memcpy(out[1], (float[]){2, 0.5f + shift, 0.5f, 0.75f + shift, 0.875f}, sizeof out[1]);
}

static void put_record(mxc_record_writer *writer, int i, const float *labels, int64_t n) {
    static test_image png;
    static uint8_t pixels[SIDE * SIDE * 3], buffer[1 << 16];
    float boxes[2][5];
    boxes_of(i, boxes);
    for (int k = 0; k < SIDE * SIDE; k++) {
        memset(pixels + 3 * k, 60, 3);
        for (int b = 0; b < 2; b++)
            if (k % SIDE >= boxes[b][1] * SIDE && k % SIDE < boxes[b][3] * SIDE && k / SIDE >= boxes[b][2] * SIDE &&
                k / SIDE < boxes[b][4] * SIDE)
                pixels[3 * k + b] = 250;
    }
    sample_png(&png, pixels, SIDE, SIDE, 3);
    const mxc_image_record record = {(uint64_t)i, 0, n, labels, png.bytes, png.n};
    mxc_image_record_write(&record, buffer);
    assert_ok(mxc_record_writer_write(writer, (uint64_t)i, buffer, mxc_image_record_size(n, png.n)));
}

/* Every third has one object only; the head has a value more than it must. */
static void write_records(void) {
    mxc_record_writer *writer;
    assert_ok(mxc_record_writer_open(rec, NULL, &writer));
    for (int i = 0; i < N; i++) {
        float labels[13] = {3, 5, 9}, boxes[2][5];
        boxes_of(i, boxes);
        memcpy(labels + 3, boxes, sizeof boxes);
        put_record(writer, i, labels, i % 3 == 2 ? 8 : 13);
    }
    assert_ok(mxc_record_writer_close(writer));
}

static mxc_status make(mxc_iter **out, int n, const char *const *keys, const char *const *values) {
    const char *k[20] = {"path_imgrec", "data_shape", "batch_size"}, *v[20] = {rec, "(3,64,64)", "1"};
    for (int i = 0; i < n; i++) {
        k[3 + i] = keys[i];
        v[3 + i] = values[i];
    }
    return mxc_iter_create("ImageDetRecordIter", 3 + n, k, v, out);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__})

/* Where a colour's rectangle is in an image of 64 x 64, in shares; 0 if nowhere. */
static int find_box(const float *data, int channel, float out[4]) {
    float least[2] = {SIDE, SIDE}, most[2] = {-1, -1};
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            if (data[(channel * SIDE + y) * SIDE + x] > 155 && data[(2 * SIDE + y) * SIDE + x] < 120) {
                least[0] = fminf(least[0], (float)x);
                least[1] = fminf(least[1], (float)y);
                most[0] = fmaxf(most[0], (float)x);
                most[1] = fmaxf(most[1], (float)y);
            }
    for (int i = 0; i < 2; i++) {
        out[i] = least[i] / SIDE;
        out[2 + i] = (most[i] + 1) / SIDE;
    }
    return most[0] >= 0;
}

/* Each label's box must be where its colour is, up to a few pixels of the batch, in which the image has h x w pixels.
 * Returns how many objects there are. */
static int check_boxes(const mxc_batch *batch, float slack, int h, int w) {
    float *data, *label;
    int objects = 0;
    assert_ok(mxc_ndarray_data(batch->data[0], (void **)&data));
    assert_ok(mxc_ndarray_data(batch->label[0], (void **)&label));
    assert_memory_equal(label, ((float[]){3, (float)h, (float)w}), 3 * sizeof(float));
    assert_memory_equal(label + 4, ((float[]){3, 5, 9}), 3 * sizeof(float));
    for (int at = 7; at < 4 + (int)label[3]; at += 5, objects++) {
        float found[4];
        assert_true(find_box(data, (int)label[at] - 1, found));
        for (int i = 0; i < 4; i++) {
            found[i] *= (float)SIDE / (float)(i % 2 ? h : w);
            if (fabsf(found[i] - label[at + 1 + i]) > slack / SIDE)
                fail_msg("side %d of object %d of sample %d at %g, label %g", i, (int)label[at], (int)batch->index[0],
                         (double)found[i], (double)label[at + 1 + i]);
        }
    }
    for (int at = 4 + (int)label[3]; at < 17; at++)
        assert_true(label[at] == -1);
    return objects;
}

static int check_batch(const mxc_batch *batch, float slack) {
    return check_boxes(batch, slack, SIDE, SIDE);
}

static int check_epochs(mxc_iter *iter, int epochs, float slack) {
    mxc_batch batch;
    int objects = 0;
    for (int epoch = 0; epoch < epochs; epoch++) {
        for (;;) {
            assert_ok(mxc_iter_next(iter, &batch));
            if (!batch.n_data)
                break;
            objects += check_batch(&batch, slack);
        }
        assert_ok(mxc_iter_reset(iter));
    }
    mxc_iter_destroy(iter);
    return objects;
}

static void test_plain(void **state) {
    mxc_iter *iter;
    (void)state;
    if (!has_png())
        skip();
    assert_ok(make(&iter, 0, NULL, NULL));
    assert_string_equal(mxc_iter_desc(iter, 1)->name, "label");
    assert_int_equal(mxc_iter_desc(iter, 1)->shape.dim[1], 4 + 13);
    assert_int_equal(check_epochs(iter, 1, 0.01f), 20);
}

static void test_mirror(void **state) {
    mxc_iter *iter;
    (void)state;
    if (!has_png())
        skip();
    assert_ok(make(&iter, 1, LIST("rand_mirror_prob"), LIST("0.5")));
    assert_int_equal(check_epochs(iter, 4, 0.01f), 80);
}

static void test_canvas(void **state) {
    mxc_iter *iter;
    (void)state;
    if (!has_png())
        skip();
    assert_ok(make(&iter, 3, LIST("rand_pad_prob", "max_pad_scale", "rand_mirror_prob"), LIST("0.8", "3", "0.5")));
    assert_int_equal(check_epochs(iter, 6, 1.6f), 120);
}

/* One epoch of images of 64 x 64 that have h x w in the batch; what is behind them has the value 7. */
static void check_mode(const char *mode, const char *resize, const char *shape, int h, int w, int scale) {
    mxc_iter *iter;
    mxc_batch batch;
    const char *keys[] = {
        "path_imgrec", "data_shape", "batch_size", "resize_mode", "resize", "rand_mirror_prob", "fill_value",
    };
    const char *values[] = {rec, shape, "1", mode, resize, "0.5", "7"};
    assert_ok(mxc_iter_create("ImageDetRecordIter", 7, keys, values, &iter));
    const int64_t high = mxc_iter_desc(iter, 0)->shape.dim[2], wide = mxc_iter_desc(iter, 0)->shape.dim[3];
    for (int i = 0; i < N; i++) {
        float *data, *label;
        assert_ok(mxc_iter_next(iter, &batch));
        assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
        assert_ok(mxc_ndarray_data(batch.label[0], (void **)&label));
        assert_memory_equal(label, ((float[]){3, (float)h, (float)w}), 3 * sizeof(float));
        if (high == SIDE && wide == SIDE)
            check_boxes(&batch, (float)scale, h, w);
        for (int64_t k = 0; k < high * wide; k++)
            assert_int_equal(data[2 * high * wide + k], k / wide < h && k % wide < w ? 60 : 7);
    }
    mxc_iter_destroy(iter);
}

static void test_resize_modes(void **state) {
    (void)state;
    if (!has_png())
        skip();
    check_mode("force", "-1", "(3,32,80)", 32, 80, 0);
    check_mode("shrink", "-1", "(3,32,80)", 32, 32, 0);
    check_mode("shrink", "-1", "(3,70,80)", 64, 64, 0);
    check_mode("shrink", "-1", "(3,70,50)", 50, 50, 0);
    check_mode("fit", "-1", "(3,70,80)", 70, 70, 0);
    check_mode("fit", "-1", "(3,90,20)", 20, 20, 0);
    check_mode("fit", "32", "(3,64,64)", 64, 64, 4);
    check_mode("shrink", "32", "(3,64,64)", 32, 32, 2); /* resized before all else */
    check_mode("shrink", "100", "(3,64,64)", 64, 64, 3);
}

/* An image where nothing is random has its own mean: nothing is left of it. */
static void test_mean_image(void **state) {
    test_path mean;
    (void)state;
    if (!has_png())
        skip();
    test_join(mean, folder, "mean.nd");
    for (int again = 0; again < 2; again++) { /* made, then read */
        mxc_iter *iter;
        mxc_batch batch;
        float *data;
        double sum = 0;
        assert_ok(make(&iter, 1, LIST("mean_img"), LIST(mean)));
        for (int i = 0; i < N; i++) {
            assert_ok(mxc_iter_next(iter, &batch));
            assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
            for (int k = 0; k < 3 * SIDE * SIDE; k++)
                sum += (double)data[k] / (3 * SIDE * SIDE);
            assert_true(data[2 * SIDE * SIDE] == 0); /* the blue of a corner is always 60 */
        }
        assert_true(fabs(sum) < 1e-2);
        mxc_iter_destroy(iter);
    }
}

/* An object that is cut is as large as what is left of it. */
static void test_crops(void **state) {
    (void)state;
    if (!has_png())
        skip();
    for (int overlap = 0; overlap < 2; overlap++) {
        mxc_iter *iter;
        assert_ok(make(&iter, 8,
                       LIST("rand_crop_prob", "min_crop_scales", "min_crop_aspect_ratios", "max_crop_aspect_ratios",
                            "crop_emit_mode", "rand_mirror_prob", "rand_pad_prob", "max_pad_scale"),
                       LIST("0.9", "(0.3,0.6)", "0.5", "2", overlap ? "overlap" : "center", "0.5", "0.3", "1.5")));
        int objects = check_epochs(iter, 10, 5);
        assert_in_range(objects, 100, 199);
    }
}

/* A crop must hold as much of an object as is asked for. */
static void test_coverage(void **state) {
    mxc_iter *iter;
    mxc_batch batch;
    (void)state;
    if (!has_png())
        skip();
    assert_ok(make(
        &iter, 5,
        LIST("rand_crop_prob", "min_crop_scales", "max_crop_scales", "min_crop_object_coverages", "max_crop_trials"),
        LIST("1", "0.5", "0.7", "0.99", "1000")));
    for (int i = 0; i < N; i++) {
        float *label;
        int whole = 0;
        assert_ok(mxc_iter_next(iter, &batch));
        assert_ok(mxc_ndarray_data(batch.label[0], (void **)&label));
        assert_true(label[3] >= 8);
        for (int at = 7; at < 4 + (int)label[3]; at += 5) /* 16 wide and 24 high, of 32 to 45 */
            whole |= label[at + 3] - label[at + 1] > 0.34f && label[at + 4] - label[at + 2] > 0.5f;
        assert_true(whole);
    }
    mxc_iter_destroy(iter);
}

static void test_same_for_any_threads(void **state) {
    static float want[N][3 * SIDE * SIDE];
    (void)state;
    if (!has_png())
        skip();
    for (int threads = 1; threads <= 2; threads++) {
        mxc_iter *iter;
        mxc_batch batch;
        float *data;
        assert_ok(make(&iter, 6,
                       LIST("rand_crop_prob", "rand_mirror_prob", "max_random_hue", "random_hue_prob", "shuffle",
                            "preprocess_threads"),
                       LIST("0.5", "0.5", "40", "0.5", "1", threads == 1 ? "1" : "2")));
        for (int i = 0; i < N; i++) {
            assert_ok(mxc_iter_next(iter, &batch));
            assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
            if (threads == 1)
                memcpy(want[i], data, sizeof want[i]);
            else
                assert_memory_equal(want[i], data, sizeof want[i]);
        }
        mxc_iter_destroy(iter);
    }
}

static void test_bad_labels(void **state) {
    static const struct {
        float labels[4];
        int n;
    } bad[] = {
        {{1, 5}, 2},   {{2, 4}, 2}, {{2, 5, 0}, 3}, {{9, 5}, 2},        {{NAN, 5}, 2},
        {{2, NAN}, 2}, {{7}, 1},    {{-2, 5}, 2},   {{2, 1e30f, 0}, 3},
    };
    test_path other;
    (void)state;
    if (!has_png())
        skip();
    test_join(other, folder, "bad.rec");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mxc_record_writer *writer;
        mxc_iter *iter;
        const char *keys[] = {"path_imgrec", "data_shape", "batch_size"}, *values[] = {other, "(3,8,8)", "1"};
        assert_ok(mxc_record_writer_open(other, NULL, &writer));
        put_record(writer, 0, bad[i].labels, bad[i].n);
        assert_ok(mxc_record_writer_close(writer));
        assert_ok(mxc_iter_create("ImageDetRecordIter", 3, keys, values, &iter));
        assert_fails(mxc_iter_next(iter, &(mxc_batch){0}), MXC_EFORMAT, "labels that are not a header's width");
        mxc_iter_destroy(iter);
    }
    mxc_iter *iter;
    assert_ok(make(&iter, 1, LIST("label_pad_width"), LIST("12")));
    assert_fails(mxc_iter_next(iter, &(mxc_batch){0}), MXC_EFORMAT, "13 labels, expected at most label_pad_width, 12");
    mxc_iter_destroy(iter);
    assert_fails(make(&iter, 1, LIST("aug_seq"), LIST("aug_default")), MXC_EUNSUPPORTED, "aug_seq");
    assert_fails(make(&iter, 1, LIST("resize_mode"), LIST("grow")), MXC_EINVAL, "resize_mode");
}

/* Objects of photographs stay within the image. */
static void test_real_file(void **state) {
    test_path path;
    mxc_iter *iter;
    mxc_batch batch;
    (void)state;
    if (!has_jpeg() || !test_data(path, "recordio/meter-det-old-val.rec"))
        skip();
    const char *keys[] = {"path_imgrec", "data_shape", "batch_size", "rand_crop_prob", "rand_mirror_prob"};
    const char *values[] = {path, "(3,96,96)", "4", "0.5", "0.5"};
    assert_ok(mxc_iter_create("ImageDetRecordIter", 5, keys, values, &iter));
    assert_ok(mxc_iter_next(iter, &batch));
    for (int i = 0; i < 4; i++) {
        float *label;
        assert_ok(mxc_ndarray_data(batch.label[0], (void **)&label));
        label += i * mxc_ndarray_shape(batch.label[0])->dim[1];
        assert_true(label[3] >= 7 && label[4] == 2 && label[5] == 5);
        for (int at = 6; at < 4 + (int)label[3]; at += 5)
            assert_true(label[at + 1] >= 0 && label[at + 3] > label[at + 1] && label[at + 3] <= 1);
    }
    mxc_iter_destroy(iter);
}

static int make_files(void **state) {
    (void)state;
    test_temp_dir(folder);
    test_join(rec, folder, "data.rec");
    write_records();
    return 0;
}

static int remove_files(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),      cmocka_unit_test(test_mirror),
        cmocka_unit_test(test_canvas),     cmocka_unit_test(test_resize_modes),
        cmocka_unit_test(test_mean_image), cmocka_unit_test(test_crops),
        cmocka_unit_test(test_coverage),   cmocka_unit_test(test_same_for_any_threads),
        cmocka_unit_test(test_bad_labels), cmocka_unit_test(test_real_file),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}

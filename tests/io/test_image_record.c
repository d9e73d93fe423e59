/* SPDX-License-Identifier: Apache-2.0 */
/* The head of image records, and record files that MXNet's tools wrote. */
#include "alive.h"
#include "base/sys.h"
#include "io/record_files.h"

static void test_both_ways(void **state) {
    static const float labels[] = {-1.5f, 2, 3e8f, 0, 7};
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        for (size_t shift = 0; shift < 4; shift++) {
            unsigned char room[128];
            mxc_image_record in = {1ull << 40 | 9, 3, n, labels, "image", 5}, out;
            size_t bytes = mxc_image_record_size(n, 5);
            assert_int_equal(bytes, 24 + (n > 1 ? 4 * (size_t)n : 0) + 5);
            mxc_image_record_write(&in, room + shift);
            assert_ok(mxc_image_record_read(room + shift, bytes, &out));
            assert_true(out.id == in.id && out.id2 == in.id2 && out.n_labels == n);
            for (int64_t i = 0; i < n; i++)
                assert_true(mxc_image_record_label(&out, i) == labels[i]);
            assert_true(mxc_image_record_label(&out, -1) == 0 && mxc_image_record_label(&out, n) == 0);
            assert_int_equal(out.image_bytes, 5);
            assert_memory_equal(out.image, "image", 5);
        }
}

static void test_one_label_behind_the_head(void **state) {
    unsigned char data[28] = {1};
    float label = 4;
    mxc_image_record record;
    (void)state;
    memcpy(data + 24, &label, 4);
    assert_ok(mxc_image_record_read(data, sizeof data, &record));
    assert_int_equal(record.n_labels, 1);
    assert_true(mxc_image_record_label(&record, 0) == 4);
    assert_int_equal(record.image_bytes, 0);
}

static void test_no_label(void **state) {
    unsigned char data[24];
    mxc_image_record in = {5, 0, 0, NULL, NULL, 0}, out;
    (void)state;
    assert_int_equal(mxc_image_record_size(0, 0), 24);
    mxc_image_record_write(&in, data);
    assert_ok(mxc_image_record_read(data, sizeof data, &out));
    assert_true(out.id == 5 && mxc_image_record_label(&out, 0) == 0);
}

static void test_refused(void **state) {
    unsigned char data[64] = {0};
    mxc_image_record record;
    (void)state;
    for (size_t bytes = 0; bytes < 24; bytes++)
        assert_fails(mxc_image_record_read(data, bytes, &record), MXC_EFORMAT, "at least 24");
    memset(data, 0xff, 4);
    assert_fails(mxc_image_record_read(data, sizeof data, &record), MXC_EFORMAT, "4294967295 labels");
    memcpy(data, "\13\0\0\0", 4);
    assert_fails(mxc_image_record_read(data, sizeof data, &record), MXC_EFORMAT, "11 labels");
    assert_status(mxc_image_record_read(NULL, 24, &record), MXC_EINVAL);
}

/* A file of MXNet's and its index; every record is a JPEG with one of two counts of labels. */
static void check_file(const char *name, int64_t n, int64_t n_labels, int64_t or_labels) {
    test_path path, file;
    mxc_record_index loaded, made;
    mxc_record_reader *reader;
    mxc_record record;
    mxc_image_record image;
    snprintf(file, sizeof file, "recordio/%s.rec", name);
    if (!test_data(path, file))
        skip();
    assert_ok(mxc_record_index_make(path, 1, &made));
    assert_ok(mxc_record_reader_open(path, 0, 1, MXC_BAD_ERROR, &reader));
    strcpy(strrchr(path, '.'), ".idx");
    assert_ok(mxc_record_index_load(path, &loaded));
    assert_int_equal(loaded.n, n);
    assert_int_equal(made.n, n);
    assert_memory_equal(loaded.keys, made.keys, sizeof *made.keys * (size_t)n);
    assert_memory_equal(loaded.offsets, made.offsets, sizeof *made.offsets * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        assert_ok(mxc_record_reader_next(reader, &record));
        assert_ok(mxc_image_record_read(record.data, record.bytes, &image));
        assert_int_equal(record.offset, made.offsets[i]);
        assert_true(image.n_labels == n_labels || image.n_labels == or_labels);
        assert_memory_equal(image.image, "\xff\xd8\xff", 3);
    }
    assert_ok(mxc_record_reader_next(reader, &record));
    assert_null(record.data);
    mxc_record_reader_close(reader);
    mxc_record_index_free(&loaded);
    mxc_record_index_free(&made);
}

static void test_lines_of_text(void **state) {
    (void)state;
    check_file("ocr-lines-test", 8, 20, 20);
}

static void test_detection(void **state) {
    (void)state;
    check_file("meter-det-old-val", 11, 7, 12);
}

static void test_records_that_are_no_images(void **state) {
    test_path path;
    mxc_record_index made;
    (void)state;
    if (!test_data(path, "recordio/sagemaker-mnist-first10.recordio"))
        skip();
    assert_ok(mxc_record_index_make(path, 0, &made));
    assert_int_equal(made.n, 10);
    mxc_record_index_free(&made);
    assert_fails(mxc_record_index_make(path, 1, &made), MXC_EFORMAT, "no image record");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_one_label_behind_the_head),
        cmocka_unit_test(test_no_label),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_lines_of_text),
        cmocka_unit_test(test_detection),
        cmocka_unit_test(test_records_that_are_no_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

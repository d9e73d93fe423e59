/* SPDX-License-Identifier: Apache-2.0 */
/* Bad data met by image iterators: reported with its location, or skipped and counted; malformed files. */
#include <mxc/log.h>

#include "image_iters.h"

static char logged[2048];
static int n_logged;

static void keep_log(mxc_log_level level, const char *message, void *user) {
    (void)level, (void)user;
    snprintf(logged, sizeof logged, "%s", message);
    n_logged++;
}

enum { PNG_CASES = 8, BAD_CASES = 11 };

/* Progressive ones with more scans than any needs, or than their bytes need; more pixels than any has. */
static size_t bad_jpeg(int which, uint8_t *out, const char **text) {
    static test_image t;
    const int side = which == 0 ? 8 : which == 1 ? 4000 : 65500, scans = which == 0 ? 101 : which == 1 ? 90 : 1;
    *text = which == 0 ? "101 scans, expected at most 100" : which == 1 ? "90 scans over" : "JPEG of 65500 x 65500";
    jpeg_begin(&t, JPEG_PROGRESSIVE, side, side, 1, -1);
    for (int i = 0; i < scans; i++) {
        jpeg_scan(&t, 0, 0, i > 0, i > 0 ? 63 : 0);
        image_put_number(&t, 0x7f, 1);
    }
    jpeg_segment(&t, 0xfe, 35000, 0); /* a comment, so that its bytes are enough for the pixels */
    t.n += 34997;
    image_put_number(&t, 0xffd9, 2);
    memcpy(out, t.bytes, t.n);
    return t.n;
}

/* Each bad in its own way; text is of the message. */
static size_t bad_image(int which, uint8_t *out, const char **text) {
    static test_image image;
    if (which >= PNG_CASES)
        return bad_jpeg(which - PNG_CASES, out, text);
    uint8_t pixels[H * W * 3];
    sample_pixels(1, H, W, 3, 0, pixels);
    sample_png(&image, pixels, H, W, 3);
    switch (which) {
    case 0:
        *text = "begin neither as JPEG nor as PNG";
        return 0;
    case 1:
        *text = "truncated";
        image.n = 30;
        break;
    case 2:
        *text = "PNG, before byte";
        image.n -= 30;
        break;
    case 3:
        *text = "begin neither";
        image.bytes[1] = 'Q';
        break;
    case 4: /* 65535 x 65535 */
        *text = "pixels";
        memset(image.bytes + 16, 0, 8);
        memset(image.bytes + 18, 0xff, 2);
        memset(image.bytes + 22, 0xff, 2);
        break;
    case 5:
        *text = "0 x 10";
        memset(image.bytes + 20, 0, 4);
        break;
    case 6:
        *text = "truncated";
        image.n = 8;
        break;
    default:
        *text = "PNG, before byte";
        image.bytes[50] ^= 0x55;
        break;
    }
    memcpy(out, image.bytes, image.n);
    return image.n;
}

/* N records of which number at is bad. */
static const char *write_bad(int which, int at) {
    static uint8_t bytes[1 << 16];
    const char *text;
    mxc_record_writer *writer;
    size_t n = bad_image(which, bytes, &text);
    assert_ok(mxc_record_writer_open(rec, idx, &writer));
    for (int i = 0; i < N; i++)
        if (i == at)
            put_record(writer, i, 1, bytes, n);
        else
            put_png(writer, i, 1);
    assert_ok(mxc_record_writer_close(writer));
    return text;
}

/* Where a record begins. */
static long long offset_of(int64_t i) {
    mxc_record_index index;
    assert_ok(mxc_record_index_load(idx, &index));
    long long offset = index.offsets[i];
    mxc_record_index_free(&index);
    return offset;
}

/* Each report names iterator, record, offset, file and reason. */
static void test_bad_images(void **state) {
    (void)state;
    SKIP_WITHOUT_PNG;
    mxc_set_logger(keep_log, NULL);
    for (int which = 0; which < (mxci_jpeg_decoder ? BAD_CASES : PNG_CASES); which++) {
        static taken t;
        mxc_batch batch;
        char where[sizeof(test_path) + 64];
        const char *text = write_bad(which, 7);
        snprintf(where, sizeof where, "ImageRecordIter: record 7 at offset %lld of %s: ", offset_of(7), rec);
        mxc_iter *iter = make(WITH("batch_size", "5"));
        take(iter, 1, &t);
        for (int again = 0; again < 2; again++) {
            assert_fails(mxc_iter_next(iter, &batch), MXC_EFORMAT, where);
            assert_non_null(strstr(mxc_last_error(), text));
        }
        assert_ok(mxc_iter_set_state(iter, &(mxc_iter_state){0, 2})); /* behind it */
        take(iter, 100, &t);
        assert_int_equal(t.n, 15);
        mxc_iter_destroy(iter);
        n_logged = 0;
        iter = make(WITH("batch_size", "5", "bad_data", "skip"));
        take(iter, 100, &t);
        for (int i = 0; i < N; i++)
            assert_int_equal(t.index[i], i == 7 ? 108 : 100 + i);
        assert_true(t.label[7] == 8);
        assert_int_equal(t.n_bad, 1);
        assert_int_equal(n_logged, 1);
        assert_non_null(strstr(logged, "epoch 0: 1 bad samples replaced"));
        assert_non_null(strstr(logged, where));
        assert_non_null(strstr(logged, text));
        mxc_iter_destroy(iter);
    }
    mxc_set_logger(NULL, NULL);
}

static void test_nothing_good(void **state) {
    mxc_record_writer *writer;
    mxc_iter *iter;
    (void)state;
    assert_ok(mxc_record_writer_open(rec, idx, &writer));
    for (int i = 0; i < 3; i++)
        put_record(writer, i, 1, "x", 1);
    assert_ok(mxc_record_writer_close(writer));
    iter = make(WITH("batch_size", "5", "bad_data", "skip"));
    assert_fails(mxc_iter_next(iter, &(mxc_batch){0}), MXC_EFORMAT, "none of 3 samples can be read");
    mxc_iter_destroy(iter);
    assert_ok(mxc_record_writer_open(rec, idx, &writer));
    assert_ok(mxc_record_writer_close(writer));
    assert_fails(make_named("ImageRecordIter", &iter, WITH("batch_size", "5")), MXC_EINVAL, "no samples");
}

/* Records that are no image records, a damaged file, an index that lies. */
static void test_bad_files(void **state) {
    static taken t;
    mxc_record_writer *writer;
    mxc_iter *iter;
    const uint8_t claims[24] = {255, 255, 255, 255};
    size_t bytes = 0;
    (void)state;
    SKIP_WITHOUT_PNG;
    assert_ok(mxc_record_writer_open(rec, idx, &writer));
    assert_ok(mxc_record_writer_write(writer, 0, claims, sizeof claims)); /* 2^32 - 1 labels */
    assert_ok(mxc_record_writer_write(writer, 1, claims, 5));
    assert_ok(mxc_record_writer_write(writer, 2, claims, 0));
    put_png(writer, 3, 1);
    assert_ok(mxc_record_writer_close(writer));
    for (int i = 0; i < 3; i++) {
        char want[64];
        snprintf(want, sizeof want, "record %d at offset ", i);
        iter = make(WITH("batch_size", "1"));
        assert_ok(mxc_iter_set_state(iter, &(mxc_iter_state){0, i}));
        assert_fails(mxc_iter_next(iter, &(mxc_batch){0}), MXC_EFORMAT, want);
        mxc_iter_destroy(iter);
    }
    write_records(N, 1);
    char *file = test_read_file(rec, &bytes);
    file[bytes / 2] ^= 1; /* within some record: its image may suffer, or its head */
    memset(file + bytes / 4, 0x55, 64);
    test_write_file(rec, file, bytes);
    free(file);
    mxc_set_logger(keep_log, NULL);
    iter = make(WITH("batch_size", "2", "bad_data", "skip"));
    take(iter, 100, &t);
    assert_true(t.n - t.pad >= N - 4);
    mxc_iter_destroy(iter);
    write_records(N, 1);
    test_write_file(idx, "0\t0\n1\t4\n2\t99999996\n", 19);
    iter = make(WITH("batch_size", "3", "path_imgidx", idx, "bad_data", "skip"));
    take(iter, 1, &t);
    for (int i = 0; i < 3; i++)
        assert_int_equal(t.index[i], 100);
    mxc_iter_destroy(iter);
    mxc_set_logger(NULL, NULL);
}

static void test_refused(void **state) {
    mxc_iter *iter;
    (void)state;
    write_records(2, 1);
    assert_fails(mxc_iter_create("ImageRecordIter", 0, NULL, NULL, &iter), MXC_EINVAL, "path_imgrec");
    assert_fails(make_named("ImageRecordIter", &iter, WITH("batch_size", "2", "colour", "3")), MXC_EINVAL, "colour");
    assert_fails(make_named("ImageRecordIter", &iter, WITH("batch_size", "2", "data_shape", "(5,8,8)")), MXC_EINVAL,
                 "data_shape");
    assert_fails(make_named("ImageRecordIter", &iter, WITH("batch_size", "2", "path_imgidx", "/nowhere/x")),
                 MXC_ENOTFOUND, "/nowhere/x");
    unlink(rec);
    assert_fails(make_named("ImageRecordIter", &iter, WITH("batch_size", "2")), MXC_ENOTFOUND, "data.rec");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_images),
        cmocka_unit_test(test_nothing_good),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

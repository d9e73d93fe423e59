/* SPDX-License-Identifier: Apache-2.0 */
/* LibSVMIter: sparse lines become dense batches; malformed files. */
#include "base/sys.h"
#include "io/text_files.h"

static void test_values(void **state) {
    static const char *const texts[] = {
        "1 0:0.5 2:-3\n-1\n+2.5 3:1e2\n",
        " 1\t0:.5  2:-3 \r\n\n# nothing\n-1 # none\n2.5 3:100# end",
    };
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (int prefetch = 0; prefetch < 2; prefetch++) {
            mxc_iter *iter;
            float data[16], label[4];
            int64_t pad;
            write_data(texts[i]);
            assert_ok(named_iter("LibSVMIter", &iter, "data_libsvm", data_path, "data_shape", "(2,2)", "batch_size",
                                 "2", "prefetch_buffer", prefetch ? "1" : "0", NULL));
            assert_int_equal(mxc_iter_desc(iter, 0)->shape.ndim, 3);
            assert_int_equal(mxc_iter_desc(iter, 1)->shape.ndim, 1);
            assert_int_equal(take_floats(iter, data, label, &pad), 2);
            assert_int_equal(pad, 1);
            assert_floats(data, (float[]){.5f, 0, -3, 0, 0, 0, 0, 0, 0, 0, 0, 100, .5f, 0, -3, 0}, 16);
            assert_floats(label, (float[]){1, -1, 2.5f, 1}, 4);
            mxc_iter_destroy(iter);
        }
}

static void test_labels_of_their_own(void **state) {
    mxc_iter *iter;
    float data[4], label[6];
    int64_t pad;
    (void)state;
    write_data("7 0:1\n8 1:2\n");
    test_write_file(label_path, "0 2:5\n0 0:6 1:7\n", 16);
    assert_ok(named_iter("LibSVMIter", &iter, "data_libsvm", data_path, "data_shape", "2", "label_libsvm", label_path,
                         "label_shape", "3", "batch_size", "1", NULL));
    assert_int_equal(mxc_iter_desc(iter, 1)->shape.dim[1], 3);
    assert_int_equal(take_floats(iter, data, label, &pad), 2);
    assert_floats(data, (float[]){1, 0, 0, 2}, 4);
    assert_floats(label, (float[]){0, 0, 5, 6, 7, 0}, 6);
    mxc_iter_destroy(iter);
    assert_fails(named_iter("LibSVMIter", &iter, "data_libsvm", data_path, "data_shape", "2", "label_shape", "3",
                            "batch_size", "1", NULL),
                 MXC_EINVAL, "label_shape has 3 elements");
    assert_fails(named_iter("LibSVMIter", &iter, "data_libsvm", data_path, "data_shape", "2", "dtype", "float64",
                            "batch_size", "1", NULL),
                 MXC_EINVAL, "float64, expected float32");
}

static void test_refused(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "has no lines"},
        {"# 1 0:1\n", "has no lines"},
        {"1 0:1\n0:1\n", "line 2: \"0:1\" is not"},
        {"1 0\n", "line 1: \"0\": expected index:value"},
        {"1 :2\n", "expected index:value"},
        {"1 0:\n", "is not a finite"},
        {"1 0:1x\n", "\"1x\""},
        {"1 0:nan\n", "nan"},
        {"1 0:1e39\n", "1e39"},
        {"inf 0:1\n", "inf"},
        {"0x1 0:1\n", "0x1"},
        {"1 0:1 5:1\n", "index 5, expected 0 to 4"},
        {"1 -1:1\n", "index -1"},
        {"1 2:1 1:1\n", "index 1 behind 2"},
        {"1 2:1 2:1\n", "index 2 behind 2"},
        {"1 99999999999999999999:1\n", "expected index:value"},
        {"1 qid:3 0:1\n", "qid:3"},
    };
    mxc_iter *iter;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t live = test_alive();
        write_data(cases[i].text);
        assert_fails(
            named_iter("LibSVMIter", &iter, "data_libsvm", data_path, "data_shape", "5", "batch_size", "1", NULL),
            MXC_EFORMAT, cases[i].message);
        assert_null(iter);
        assert_int_equal(test_alive(), live);
    }
    test_write_file(data_path, "1 0:1\0\n", 7);
    assert_fails(named_iter("LibSVMIter", &iter, "data_libsvm", data_path, "data_shape", "5", "batch_size", "1", NULL),
                 MXC_EFORMAT, "NUL byte");
}

/* A sample whose line, or whose label's line, is bad is left out. */
static void test_bad_lines_left_out(void **state) {
    const char labels[] = "0 0:10\n0 0:11\n0 0:12\n0 0:13\n0 0:14\n0 5:15\n0 0:16\n";
    float data[8], label[4];
    int64_t pad;
    mxc_iter *iter;
    (void)state;
    write_data("0 0:1 # 0\n1 0:1 0:2\n\n2 1:2\nx 1:3\n4\n5 1:5\n6 1:6:7\n");
    test_write_file(label_path, labels, sizeof labels - 1);
    for (int own = 0; own < 2; own++) {
        mxc_set_logger(keep_log, NULL);
        assert_ok(named_iter("LibSVMIter", &iter, "data_libsvm", data_path, "data_shape", "(2,)", "label_libsvm",
                             own ? label_path : "NULL", "batch_size", "1", "bad_data", "skip", NULL));
        mxc_set_logger(NULL, NULL);
        assert_non_null(strstr(logged, own ? "LibSVMIter: 4 bad lines left out" : "LibSVMIter: 3 bad lines left out"));
        assert_non_null(strstr(logged, "data.txt: line 2: index 0 behind 0: expected ascending ones"));
        assert_int_equal(take_floats(iter, data, label, &pad), own ? 3 : 4);
        assert_floats(data, (float[]){1, 0, 0, 2, 0, 0}, 6);
        assert_floats(label, own ? (float[]){10, 12, 14} : (float[]){0, 2, 4}, 3);
        mxc_iter_destroy(iter);
    }
}

static void test_parts(void **state) {
    float data[64], label[64];
    int n = 0;
    (void)state;
    write_data("0 0:1\n1 0:1\n2 0:1\n3 0:1\n4 0:1\n5 0:1\n6 0:1\n");
    for (int part = 0; part < 3; part++) {
        char text[16];
        mxc_iter *iter;
        int64_t pad;
        snprintf(text, sizeof text, "%d", part);
        assert_ok(named_iter("LibSVMIter", &iter, "data_libsvm", data_path, "data_shape", "1", "batch_size", "1",
                             "num_parts", "3", "part_index", text, NULL));
        n += take_floats(iter, data, label + n, &pad);
        mxc_iter_destroy(iter);
    }
    assert_int_equal(n, 7);
    assert_floats(label, (float[]){0, 1, 2, 3, 4, 5, 6}, 7);
}

static void check_file(const char *name, const char *shape, int64_t n, double sum) {
    test_path path;
    mxc_iter *iter;
    mxc_batch batch;
    double found = 0;
    int64_t count = 0;
    if (!test_data(path, name))
        skip();
    assert_ok(named_iter("LibSVMIter", &iter, "data_libsvm", path, "data_shape", shape, "batch_size", "10",
                         "round_batch", "False", NULL));
    for (assert_ok(mxc_iter_next(iter, &batch)); batch.n_data > 0; assert_ok(mxc_iter_next(iter, &batch))) {
        int64_t width = mxc_ndarray_size(batch.data[0]) / 10;
        float *data;
        assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
        for (int64_t i = 0; i < width * (10 - batch.pad); i++)
            found += data[i];
        count += 10 - batch.pad;
    }
    assert_int_equal(count, n);
    assert_true(found > sum - 1e-3 && found < sum + 1e-3);
    mxc_iter_destroy(iter);
}

static void test_files(void **state) {
    (void)state;
    check_file("datasets/libsvm/agaricus.txt.test", "127", 1611, 35442.0);
    check_file("datasets/libsvm/heart_scale", "(14,)", 270, -666.40086);
}

static void test_every_truncation(void **state) {
    static const char text[] = "1 0:2.5 3:-3e2\n4\r\n-7 1:1 # a";
    mxc_iter *iter;
    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        int64_t live = test_alive();
        test_write_file(data_path, text, n);
        mxc_status status = named_iter("LibSVMIter", &iter, "data_libsvm", data_path, "data_shape", "4", "batch_size",
                                       "1", "prefetch_buffer", "0", NULL);
        assert_true(status == MXC_OK || status == MXC_EFORMAT);
        mxc_iter_destroy(iter);
        assert_int_equal(test_alive(), live);
    }
}

static void test_every_allocation_failing(void **state) {
    mxc_status status = MXC_ENOMEM;
    (void)state;
    write_data("1 0:2\nx\n3\n");
    mxc_set_logger(keep_log, NULL);
    for (int64_t k = 1; status != MXC_OK; k++) {
        mxc_iter *iter;
        int64_t live = test_alive();
        mxci_test_fail_alloc(k, 0);
        status = named_iter("LibSVMIter", &iter, "data_libsvm", data_path, "data_shape", "3", "label_libsvm", data_path,
                            "batch_size", "1", "bad_data", "skip", NULL);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        mxc_iter_destroy(iter);
        assert_int_equal(test_alive(), live);
    }
    mxc_set_logger(NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_labels_of_their_own),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bad_lines_left_out),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

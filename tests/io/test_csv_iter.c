/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSVIter: numbers and shapes, batches, and malformed files. Covers io/text_reader.c, path_list.c and batch_params.c
 * too.
 */
#include <locale.h>

#include "base/sys.h"
#include "io/text_files.h"

static void test_values(void **state) {
    static const float expected[] = {1, -2.5f, 3e-5f, .5f, 5, 6};
    static const char *const texts[] = {
        "1,-2.5,3e-5\n.5,5.,+6\n",
        "1 ,\t-2.5, 3e-5\r\n\r\n.5,5,6",
        "\n\n  1,-2.5,0.00003\n \n0.5,5,6\n\n",
    };
    float data[6], label[2];
    int64_t pad;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mxc_iter *iter;
        write_data(texts[i]);
        assert_ok(named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "(3,)", "batch_size", "2", NULL));
        assert_string_equal(mxc_iter_desc(iter, 0)->name, "data");
        assert_string_equal(mxc_iter_desc(iter, 1)->name, "softmax_label");
        assert_int_equal(mxc_iter_desc(iter, 0)->shape.ndim, 2);
        assert_int_equal(mxc_iter_desc(iter, 1)->shape.ndim, 1);
        assert_int_equal(take_floats(iter, data, label, &pad), 1);
        assert_int_equal(pad, 0);
        assert_floats(data, expected, 6);
        assert_floats(label, (float[]){0, 0}, 2);
        mxc_iter_destroy(iter);
    }
}

static void test_round_batch(void **state) {
    mxc_iter *iter;
    float data[8], label[8];
    int64_t pad;
    (void)state;
    write_data("0\n1\n2\n3\n4\n");
    test_write_file(label_path, "0\n10\n20\n30\n40\n", 14);
    for (int round = 0; round < 2; round++) {
        assert_ok(named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "(1,)", "label_csv", label_path,
                             "batch_size", "4", "round_batch", round ? "True" : "False", NULL));
        assert_int_equal(take_floats(iter, data, label, &pad), 2);
        assert_int_equal(pad, 3);
        assert_floats(data, (float[]){0, 1, 2, 3, 4, 0, 1, 2}, 8);
        assert_floats(label, (float[]){0, 10, 20, 30, 40, 0, 10, 20}, 8);
        assert_ok(mxc_iter_reset(iter));
        assert_int_equal(take_floats(iter, data, label, &pad), round ? 1 : 2);
        assert_floats(data, round ? (float[]){3, 4, 0, 1} : (float[]){0, 1, 2, 3}, 4);
        mxc_iter_destroy(iter);
    }
}

static void test_shapes_and_types(void **state) {
    static const struct {
        const char *dtype, *bad;
    } types[] = {
        {"float32", "1e39"}, {"float64", "1e309"}, {"int32", "2147483648"}, {"int64", "1e17"},
        {"uint8", "256"},    {"int32", "0.5"},     {"uint8", "-1"},         {"int64", "nan"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char text[64];
        mxc_iter *iter;
        mxc_batch batch;
        write_data("1,2,3,4\n5,6,7,8\n");
        assert_ok(named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "(2,1,2)", "label_csv", data_path,
                             "label_shape", "(4,)", "batch_size", "1", "dtype", types[i].dtype, NULL));
        assert_int_equal(mxc_iter_desc(iter, 0)->shape.ndim, 4);
        assert_int_equal(mxc_iter_desc(iter, 0)->dtype, mxc_dtype_from_name(types[i].dtype));
        assert_int_equal(mxc_iter_desc(iter, 1)->shape.dim[1], 4);
        assert_ok(mxc_iter_next(iter, &batch));
        mxc_iter_destroy(iter);
        snprintf(text, sizeof text, "1\n%s\n", types[i].bad);
        write_data(text);
        assert_fails(named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "1", "batch_size", "1", "dtype",
                                types[i].dtype, NULL),
                     MXC_EFORMAT, "line 2");
        assert_null(iter);
    }
}

static void test_several_files(void **state) {
    char paths[2 * sizeof(test_path)];
    mxc_iter *iter;
    float data[4], label[4];
    int64_t pad;
    (void)state;
    write_data("1\n2");
    test_write_file(label_path, "3\n4\n", 4);
    snprintf(paths, sizeof paths, "%s;%s", data_path, label_path);
    assert_ok(named_iter("CSVIter", &iter, "data_csv", paths, "data_shape", "1", "batch_size", "4", NULL));
    assert_int_equal(take_floats(iter, data, label, &pad), 1);
    assert_floats(data, (float[]){1, 2, 3, 4}, 4);
    mxc_iter_destroy(iter);
    test_write_file(label_path, "3\nx\n", 4);
    assert_fails(named_iter("CSVIter", &iter, "data_csv", paths, "data_shape", "1", "batch_size", "4", NULL),
                 MXC_EFORMAT, "label.txt: line 2: \"x\"");
}

static void expect_refused(const void *text, size_t bytes, const char *message) {
    mxc_iter *iter;
    int64_t live = test_alive();
    test_write_file(data_path, text, bytes);
    assert_fails(named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "(3,)", "batch_size", "2", NULL),
                 MXC_EFORMAT, message);
    assert_null(iter);
    assert_int_equal(test_alive(), live);
}

/* A folder's files follow each other by name. */
static void test_folder(void **state) {
    test_path inside, path;
    char paths[2 * sizeof inside];
    float data[8], label[8];
    int64_t pad;
    mxc_iter *iter;
    (void)state;
    mkdir(test_join(inside, folder, "parts"), 0700);
    test_write_file(test_join(path, inside, "part-2"), "3\n", 2);
    test_write_file(test_join(path, inside, "part-1"), "1\n2", 3);
    test_write_file(test_join(path, inside, ".hidden"), "x", 1);
    write_data("4\n5\n");
    snprintf(paths, sizeof paths, "%s;%s", inside, data_path);
    assert_ok(named_iter("CSVIter", &iter, "data_csv", paths, "data_shape", "(1,)", "batch_size", "5", NULL));
    assert_int_equal(take_floats(iter, data, label, &pad), 1);
    assert_floats(data, (float[]){1, 2, 3, 4, 5}, 5);
    mxc_iter_destroy(iter);
    mkdir(test_join(path, inside, "deeper"), 0700);
    assert_fails(named_iter("CSVIter", &iter, "data_csv", paths, "data_shape", "(1,)", "batch_size", "5", NULL),
                 MXC_EIO, "deeper");
}

static void test_refused(void **state) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "has no lines"},
        {"\n \n", "has no lines"},
        {"1,2\n", "line 1: fewer than the 3"},
        {"1,2,3\n1,2,3,4\n", "line 2: more than the 3"},
        {"1,,3\n", "line 1: a value is missing"},
        {"1,2,\n", "a value is missing"},
        {"1,2,3,\n", "more than"},
        {",,\n", "missing"},
        {"a,b,c\n1,2,3\n", "line 1: \"a\" is not a finite decimal number; header lines must be removed"},
        {"1,2,3\n1,2 3,4\n", "line 2: \"2 3\""},
        {"1,inf,3\n", "\"inf\""},
        {"1,0x10,3\n", "0x10"},
        {"1,1e400,3\n", "1e400"},
        {"1,\"2\",3\n", "\"\"2\"\""},
        {"1;2;3\n", "1;2;3"},
        {"1\n1\n1\n1\n1\n1,2,3\n", "line 1: fewer"},
    };
    char *line = malloc(1 << 20);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refused(cases[i].text, strlen(cases[i].text), cases[i].message);
    expect_refused("1,2\0,3\n", 7, "NUL byte");
    expect_refused("\0", 1, "NUL byte");
    memset(line, '1', 1 << 20);
    expect_refused(line, 1 << 20, "line 1: more than 400 bytes");
    for (size_t i = 1; i < 1 << 20; i += 2)
        line[i] = ',';
    expect_refused(line, 1 << 20, "line 1: more than the 3 values");
    free(line);
}

static mxc_status make_skipping(mxc_iter **out) {
    return named_iter("CSVIter", out, "data_csv", data_path, "data_shape", "(2,)", "label_csv", label_path,
                      "batch_size", "1", "bad_data", "skip", NULL);
}

/* A sample of which either line is bad is left out, whatever is wrong with it. */
static void test_bad_lines_left_out(void **state) {
    static char text[4096];
    const char tail[] = "0,0\n8,8\n9";
    const char labels[] = "0\n1\n2\n3\nx\n5\n6\n7\n\n8\n9";
    float data[8], label[4];
    int64_t pad;
    mxc_iter *iter;
    (void)state;
    strcpy(text, "0,0\n1,a\n\n2,2\n3,3,3,\n4,4\n,\n");
    memset(text + strlen(text), '7', 1000); /* a number too long */
    strcat(text, ",1\n");
    size_t n = strlen(text);
    memcpy(text + n, tail, sizeof tail);
    text[n] = '\0'; /* line 7 has a NUL, the last one is too short */
    test_write_file(data_path, text, n + sizeof tail - 1);
    test_write_file(label_path, labels, sizeof labels - 1);
    mxc_set_logger(keep_log, NULL);
    assert_ok(make_skipping(&iter));
    assert_non_null(strstr(logged, "CSVIter: 7 bad lines left out; the first: CSVIter: "));
    assert_non_null(strstr(logged, "data.txt: line 2: \"a\" is not a finite decimal number (byte 8)"));
    assert_int_equal(take_floats(iter, data, label, &pad), 3);
    assert_floats(data, (float[]){0, 0, 2, 2, 8, 8}, 6);
    assert_floats(label, (float[]){0, 2, 8}, 3);
    mxc_iter_destroy(iter);
    write_data("x\ny\n");
    assert_fails(make_skipping(&iter), MXC_EFORMAT, "has no lines that can be read");
    write_data("1,2\n3,4\n");
    assert_fails(make_skipping(&iter), MXC_ESHAPE, "array 1 has 9 samples, array 0 has 2");
    mxc_set_logger(NULL, NULL);
    assert_fails(named_iter("CSVIter", &iter, "data_csv", "/nowhere/a", "data_shape", "3", "batch_size", "1",
                            "bad_data", "skip", NULL),
                 MXC_ENOTFOUND, "/nowhere/a");
}

static void test_parameters(void **state) {
    mxc_iter *iter;
    (void)state;
    write_data("1,2,3\n");
    test_write_file(label_path, "1\n2\n", 4);
    assert_fails(named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "(0,)", "batch_size", "1", NULL),
                 MXC_EINVAL, "data_shape");
    assert_fails(
        named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "(65536,65536)", "batch_size", "1", NULL),
        MXC_EINVAL, "2^31");
    assert_fails(named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "3", NULL), MXC_EINVAL,
                 "batch_size");
    assert_fails(named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "3", "batch_size", "1", "dtype",
                            "float16", NULL),
                 MXC_EINVAL, "dtype float16");
    assert_fails(named_iter("CSVIter", &iter, "data_csv", "/nowhere/a.csv", "data_shape", "3", "batch_size", "1", NULL),
                 MXC_ENOTFOUND, "/nowhere/a.csv");
    assert_fails(named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "3", "label_csv", label_path,
                            "batch_size", "1", NULL),
                 MXC_ESHAPE, "array 1 has 2 samples, array 0 has 1");
}

static void test_locale(void **state) {
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8"))
        skip();
    test_values(state);
    setlocale(LC_ALL, "C");
}

static void test_housing(void **state) {
    test_path path;
    mxc_iter *iter;
    mxc_batch batch;
    float *data, sum = 0;
    (void)state;
    if (!test_data(path, "datasets/tabular/housing.csv"))
        skip();
    assert_ok(named_iter("CSVIter", &iter, "data_csv", path, "data_shape", "14", "batch_size", "506", NULL));
    assert_ok(mxc_iter_next(iter, &batch));
    assert_int_equal(batch.pad, 0);
    assert_ok(mxc_ndarray_data(batch.data[0], (void **)&data));
    for (int i = 0; i < 506; i++)
        sum += data[14 * i + 13];
    assert_true(sum / 506 > 22.532f && sum / 506 < 22.534f); /* the mean price that is known */
    mxc_iter_destroy(iter);
}

static void test_every_truncation(void **state) {
    static const char text[] = "1,2.5,-3e2\n4,5,6\r\n7,8,9";
    mxc_iter *iter;
    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        int64_t live = test_alive();
        test_write_file(data_path, text, n);
        mxc_status status = named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "3", "batch_size", "1",
                                       "prefetch_buffer", "0", NULL);
        assert_true(status == MXC_OK || status == MXC_EFORMAT);
        mxc_iter_destroy(iter);
        assert_int_equal(test_alive(), live);
    }
}

static void test_every_allocation_failing(void **state) {
    mxc_status status = MXC_ENOMEM;
    (void)state;
    write_data("1,2,3\n4,x,6\n4,5,6\n");
    mxc_set_logger(keep_log, NULL);
    for (int64_t k = 1; status != MXC_OK; k++) {
        mxc_iter *iter;
        int64_t live = test_alive();
        mxci_test_fail_alloc(k, 0);
        status = named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "3", "batch_size", "1", "bad_data",
                            "skip", NULL);
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
        cmocka_unit_test(test_round_batch),
        cmocka_unit_test(test_shapes_and_types),
        cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bad_lines_left_out),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_housing),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

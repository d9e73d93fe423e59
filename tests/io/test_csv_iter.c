/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSVIter: numbers and shapes, batches, headers, label columns, classes, missing values, shuffling, and malformed
 * files. Covers io/text_reader.c, csv_header.c, class_names.c, path_list.c and batch_params.c too.
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
        "\xef\xbb\xbf"
        "1,\"-2.5\" , \" 3e-5\"\r\n\"0.5\",5,\"6\"",
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
        {"a,b,c\n1,2,3\n", "line 1: \"a\" is not a finite decimal number; header=True skips"},
        {"1,2,3\n1,2 3,4\n", "line 2: \"2 3\""},
        {"1,inf,3\n", "\"inf\""},
        {"1,0x10,3\n", "0x10"},
        {"1,1e400,3\n", "1e400"},
        {"1,\"2,3\n", "line 1: a quote that is not closed in its line"},
        {"1,2,\"3", "line 1: a quote that is not closed in its line"},
        {"1,\"2\"2,3\n", "line 1: text behind a closing quote"},
        {"1,\"\"\"2\",3\n", "\"\"2\" is not"},
        {"1,2\"2\",3\n", "\"2\"2\"\" is not"},
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

/* ---- columns, classes and missing values ------------------------------------------------------------------------- */

/* One batch of n rows of width 2 and their labels; further pairs of key and value, then NULL. */
#define EXPECT_ROWS(n, data_, label_, ...)                                                                    \
    do {                                                                                                      \
        mxc_iter *iter;                                                                                       \
        float data[64], label[64];                                                                            \
        int64_t pad;                                                                                          \
        assert_ok(named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "(2,)", "batch_size", #n, \
                             __VA_ARGS__, NULL));                                                             \
        assert_int_equal(mxc_iter_desc(iter, 1)->shape.ndim, 1);                                              \
        assert_int_equal(take_floats(iter, data, label, &pad), 1);                                            \
        assert_floats(data, data_, 2 * n);                                                                    \
        assert_floats(label, label_, n);                                                                      \
        mxc_iter_destroy(iter);                                                                               \
    } while (0)

#define EXPECT_FAILS(code, message, ...)                                                                          \
    do {                                                                                                          \
        mxc_iter *iter;                                                                                           \
        int64_t live = test_alive();                                                                              \
        assert_fails(named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "(2,)", "batch_size", "1", \
                                __VA_ARGS__, NULL),                                                               \
                     code, message);                                                                              \
        assert_null(iter);                                                                                        \
        assert_int_equal(test_alive(), live);                                                                     \
    } while (0)

#define F(...) ((const float[]){__VA_ARGS__})

static void test_label_column(void **state) {
    (void)state;
    write_data("\n\"x, 1\",y,\"x\"\"2\"\"\"\n1,10,2\n3,20,4\n");
    EXPECT_ROWS(2, F(1, 2, 3, 4), F(10, 20), "header", "True", "label_column", "y");
    EXPECT_ROWS(2, F(1, 2, 3, 4), F(10, 20), "header", "True", "label_column", "1");
    EXPECT_ROWS(2, F(10, 2, 20, 4), F(1, 3), "header", "True", "label_column", "x, 1");
    EXPECT_ROWS(2, F(1, 10, 3, 20), F(2, 4), "header", "True", "label_column", "x\"2\"");
    EXPECT_ROWS(2, F(1, 10, 3, 20), F(2, 4), "header", "True", "label_column", "-1");
    EXPECT_FAILS(MXC_EINVAL, "no column has the name \"z\"", "header", "True", "label_column", "z");
    EXPECT_FAILS(MXC_EINVAL, "label_column 3 of 3 columns", "header", "True", "label_column", "3");
    EXPECT_FAILS(MXC_EINVAL, "label_column -4 of 3 columns", "header", "True", "label_column", "-4");
    EXPECT_FAILS(MXC_EINVAL, "names of columns need header=True", "label_column", "y");
    EXPECT_FAILS(MXC_EFORMAT, "a header of 3 columns, expected 2", "header", "True");
    EXPECT_FAILS(MXC_EINVAL, "label_csv and label_column", "label_csv", data_path, "label_column", "1");
    EXPECT_FAILS(MXC_EINVAL, "label_shape is not (1,)", "label_shape", "(2,)", "label_column", "1");
    write_data("2,1,7\n3,4,8\n");
    EXPECT_ROWS(2, F(1, 7, 4, 8), F(2, 3), "label_column", "0");
    EXPECT_ROWS(2, F(2, 1, 3, 4), F(7, 8), "label_column", "-1");
    write_data("1,2\n");
    EXPECT_FAILS(MXC_EFORMAT, "fewer than the 3 values of the shape and the label", "label_column", "0");
    write_data("5,6,4\n7,8,9\n"); /* a number that is also a name */
    EXPECT_ROWS(1, F(7, 9), F(8), "header", "True", "label_column", "6");
    write_data("a,b,a\n7,8,9\n");
    EXPECT_FAILS(MXC_EINVAL, "two columns have the name \"a\"", "header", "True", "label_column", "a");
    EXPECT_ROWS(1, F(7, 8), F(9), "header", "True", "label_column", "2");
    write_data("");
    EXPECT_FAILS(MXC_EFORMAT, "has no header", "header", "True");
    write_data("a,b\n");
    EXPECT_FAILS(MXC_EFORMAT, "has no lines", "header", "True");
}

/* Each file has a header, labels too; headers must be the same. */
static void test_several_headers(void **state) {
    char paths[2 * sizeof(test_path)];
    float data[8], label[8];
    int64_t pad;
    mxc_iter *iter;
    (void)state;
    snprintf(paths, sizeof paths, "%s;%s", data_path, label_path);
    write_data("\xef\xbb\xbf"
               "a,b\n1,2\n");
    test_write_file(label_path, "a , \"b\"\n3,4", 11);
    assert_ok(named_iter("CSVIter", &iter, "data_csv", paths, "label_csv", paths, "label_shape", "2", "data_shape", "2",
                         "batch_size", "2", "header", "True", NULL));
    assert_int_equal(take_floats(iter, data, label, &pad), 1);
    assert_floats(data, F(1, 2, 3, 4), 4);
    assert_floats(label, F(1, 2, 3, 4), 4);
    mxc_iter_destroy(iter);
    test_write_file(label_path, "b,a\n3,4", 7);
    assert_fails(
        named_iter("CSVIter", &iter, "data_csv", paths, "data_shape", "2", "batch_size", "2", "header", "True", NULL),
        MXC_EFORMAT, "the headers of ");
    assert_fails(named_iter("CSVIter", &iter, "data_csv", "/nowhere/x", "data_shape", "2", "batch_size", "2", "header",
                            "True", NULL),
                 MXC_ENOTFOUND, "/nowhere/x");
}

static void expect_file(const char *path, const char *text) {
    char *found = test_read_file(path, NULL);
    assert_non_null(found);
    assert_string_equal(found, text);
    free(found);
}

/* The first iterator writes the names, sorted; the second one reads them. */
static void test_classes(void **state) {
    static const char *const missing[] = {"NA", "n/a", "nan", "NULL", "\"\""};
    test_path names;
    (void)state;
    test_join(names, folder, "classes.txt");
    write_data("1,2,setosa\n3,4,\"not, known\"\n5,6, virginica \n7,8,setosa\n");
    EXPECT_ROWS(4, F(1, 2, 3, 4, 5, 6, 7, 8), F(1, 0, 2, 1), "label_column", "2", "path_classes", names);
    expect_file(names, "not, known\nsetosa\nvirginica\n");
    write_data("1,2,virginica\n3,4,setosa\n");
    EXPECT_ROWS(2, F(1, 2, 3, 4), F(2, 1), "label_column", "2", "path_classes", names);
    write_data("1,2,virginica\n3,4,rosa\n");
    EXPECT_FAILS(MXC_EFORMAT, "line 2: \"rosa\" is not among the classes in", "label_column", "2", "path_classes",
                 names);
    EXPECT_ROWS(1, F(1, 2), F(2), "label_column", "2", "path_classes", names, "bad_data", "skip");
    expect_file(names, "not, known\nsetosa\nvirginica\n");
    test_write_file(names, "b\r\na", 4);
    write_data("1,2\n3,4\n"); /* labels in a file of their own */
    test_write_file(label_path, "a\nb\n", 4);
    EXPECT_ROWS(2, F(1, 2, 3, 4), F(1, 0), "label_csv", label_path, "path_classes", names);
    EXPECT_FAILS(MXC_EFORMAT, "\"a\" is not a finite decimal number", "label_csv", label_path);
    EXPECT_FAILS(MXC_EINVAL, "path_classes without label_csv or label_column", "path_classes", names);
    test_write_file(names, "a\n\nb\n", 5);
    EXPECT_FAILS(MXC_EFORMAT, "line 2: empty", "label_csv", label_path, "path_classes", names);
    test_write_file(names, "a\nb\na\n", 6);
    EXPECT_FAILS(MXC_EFORMAT, "line 3: this class has a line already", "label_csv", label_path, "path_classes", names);
    test_write_file(names, "", 0);
    EXPECT_FAILS(MXC_EFORMAT, "is empty", "label_csv", label_path, "path_classes", names);
    test_write_file(names, "a\0b", 3);
    EXPECT_FAILS(MXC_EFORMAT, "a byte 0", "label_csv", label_path, "path_classes", names);
    EXPECT_FAILS(MXC_EIO, "/nowhere/x", "label_csv", label_path, "path_classes", "/nowhere/x");
    unlink(names);
    write_data("1,2,10\n3,4,9\n5,6,x\n7,8,\n"); /* numbers by value, then text; the bad line's label does not count */
    EXPECT_FAILS(MXC_EFORMAT, "line 4: the label is missing", "label_column", "-1", "path_classes", names);
    assert_int_not_equal(access(names, F_OK), 0);
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "1,2,a\n3,4,%s\n", missing[i]);
        write_data(text);
        EXPECT_FAILS(MXC_EFORMAT, "line 2: the label is missing", "label_column", "-1", "path_classes", names);
        EXPECT_FAILS(MXC_EFORMAT, "line 2: the label is missing", "label_column", "-1", "path_classes", names,
                     "missing", "0");
        assert_int_not_equal(access(names, F_OK), 0);
    }
    write_data("1,2,10\n3,4,9\n5,6,x\n7,,bad\n");
    EXPECT_ROWS(3, F(1, 2, 3, 4, 5, 6), F(1, 0, 2), "label_column", "-1", "path_classes", names, "bad_data", "skip");
    expect_file(names, "9\n10\nx\n");
    unlink(names);
    write_data("1,2,red\n3,4,blue\n");
    EXPECT_FAILS(
        MXC_EFORMAT,
        "\"red\" is not a finite decimal number; header=True skips a line with names of columns; names of classes "
        "need path_classes",
        "label_column", "-1");
    unlink(names);
}

static void test_missing_values(void **state) {
    static const char *const texts[] = {"", " ", "NA", "na", "N/A", "nan", "NaN", "NULL", "\"\""};
    char paths[2 * sizeof(test_path)];
    float data[4], label[2];
    int64_t pad;
    mxc_iter *iter;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "1,%s\n%s,4\n3,8", texts[i], texts[i]);
        write_data(text);
        EXPECT_ROWS(3, F(1, -7.5f, -7.5f, 4, 3, 8), F(0, 0, 0), "missing", "-7.5");
        EXPECT_ROWS(3, F(1, 6, 2, 4, 3, 8), F(0, 0, 0), "missing", "mean");
        EXPECT_FAILS(MXC_EFORMAT, "line 1: ", "missing", "error");
    }
    write_data(",\n,\n,"); /* three lines of nothing, in fewer bytes than values */
    EXPECT_ROWS(3, F(1, 1, 1, 1, 1, 1), F(0, 0, 0), "missing", "1");
    EXPECT_FAILS(MXC_EFORMAT, "all values of column 0 of the data are missing", "missing", "mean");
    test_write_file(label_path, ",", 1); /* a second file: neither line has an end */
    write_data(",");
    snprintf(paths, sizeof paths, "%s;%s", data_path, label_path);
    assert_ok(
        named_iter("CSVIter", &iter, "data_csv", paths, "data_shape", "(2,)", "batch_size", "2", "missing", "5", NULL));
    assert_int_equal(take_floats(iter, data, label, &pad), 1);
    assert_floats(data, F(5, 5, 5, 5), 4);
    mxc_iter_destroy(iter);
    assert_fails(named_iter("CSVIter", &iter, "data_csv", paths, "data_shape", "(2,)", "batch_size", "2", "missing",
                            "mean", NULL),
                 MXC_EFORMAT, "all values of column 0 of the data are missing");
    EXPECT_FAILS(MXC_EINVAL, "missing is \"median\", expected error, mean or a number", "missing", "median");
    EXPECT_FAILS(MXC_EINVAL, "missing is \"1x\"", "missing", "1x");
    EXPECT_FAILS(MXC_EINVAL, "missing: 0.5 is not a value of int32", "missing", "0.5", "dtype", "int32");
    EXPECT_FAILS(MXC_EINVAL, "missing=mean for dtype int64", "missing", "mean", "dtype", "int64");
    write_data("1,2,\n");
    EXPECT_FAILS(MXC_EFORMAT, "the label is missing", "missing", "0", "label_column", "2");
    write_data("x,1\nNA,3\n5,x\n6,5\n"); /* bad lines do not count in the mean */
    EXPECT_ROWS(2, F(6, 3, 6, 5), F(0, 0), "missing", "mean", "bad_data", "skip");
}

/* Each epoch has each sample once, in an order that the seed decides. */
static void test_shuffle(void **state) {
    float data[3][2][20], label[2][20];
    char text[400] = "";
    int64_t pad;
    (void)state;
    for (int i = 0; i < 20; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%d\n", i, 100 + i);
    write_data(text);
    for (int k = 0; k < 3; k++) {
        mxc_iter *iter;
        assert_ok(named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "1", "batch_size", "5", "shuffle",
                             "True", "seed", k < 2 ? "7" : "8", "label_column", "1", NULL));
        for (int epoch = 0; epoch < 2; epoch++) {
            int seen[20] = {0};
            assert_int_equal(take_floats(iter, data[k][epoch], label[epoch], &pad), 4);
            for (int i = 0; i < 20; i++) {
                assert_true(label[epoch][i] == data[k][epoch][i] + 100);
                seen[(int)data[k][epoch][i]]++;
            }
            for (int i = 0; i < 20; i++)
                assert_int_equal(seen[i], 1);
            assert_ok(mxc_iter_reset(iter));
        }
        mxc_iter_destroy(iter);
    }
    assert_memory_equal(data[0], data[1], sizeof data[0]);
    assert_memory_not_equal(data[0], data[2], sizeof data[0]);
    assert_memory_not_equal(data[0][0], data[0][1], sizeof data[0][0]);
}

static void test_iris(void **state) {
    test_path path, names;
    mxc_iter *iter;
    mxc_batch batch;
    float *label, sum = 0;
    (void)state;
    if (!test_data(path, "datasets/tabular/iris.csv"))
        skip();
    test_join(names, folder, "iris.txt");
    assert_ok(named_iter("CSVIter", &iter, "data_csv", path, "data_shape", "4", "batch_size", "150", "label_column",
                         "-1", "path_classes", names, NULL));
    assert_ok(mxc_iter_next(iter, &batch));
    assert_ok(mxc_ndarray_data(batch.label[0], (void **)&label));
    for (int i = 0; i < 150; i++)
        sum += label[i];
    assert_true(sum == 150); /* 50 of each of 3 */
    mxc_iter_destroy(iter);
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
    test_path names;
    test_join(names, folder, "classes.txt");
    write_data("a,b,c,d\n1,2,3,y\n4,x,6,y\n4,NA,6,x\n");
    mxc_set_logger(keep_log, NULL);
    for (int64_t k = 1; status != MXC_OK; k++) {
        mxc_iter *iter;
        int64_t live = test_alive();
        mxci_test_fail_alloc(k, 0);
        status =
            named_iter("CSVIter", &iter, "data_csv", data_path, "data_shape", "3", "batch_size", "1", "bad_data",
                       "skip", "header", "True", "label_column", "d", "path_classes", names, "missing", "mean", NULL);
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
        cmocka_unit_test(test_label_column),
        cmocka_unit_test(test_several_headers),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_shuffle),
        cmocka_unit_test(test_iris),
        cmocka_unit_test(test_bad_lines_left_out),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_housing),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

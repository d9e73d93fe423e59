/* SPDX-License-Identifier: Apache-2.0 */
/* The best classes of scores, and files of their names. */
#include <math.h>

#include <mxc/op.h>

#include "predict/saved.h"

static mxc_ndarray *scores_of(int ndim, const int64_t *dims, const float *values) {
    mxc_ndarray *out;
    assert_ok(mxc_ndarray_from_data(ndim, dims, MXC_F32, values, &out));
    return out;
}

static void test_order(void **state) {
    const float values[] = {1, NAN, 3, 3, -INFINITY, 2, 9, 8, 7, 6, 5, INFINITY};
    const int64_t first[] = {2, 3, 5, 0, 4, 1}, second[] = {5, 0, 1};
    mxc_ndarray *scores = scores_of(2, (int64_t[]){2, 6}, values), *half;
    int64_t classes[6];
    float best[6];
    (void)state;
    assert_ok(mxc_top_classes(scores, 0, 6, classes, best));
    assert_memory_equal(classes, first, sizeof first);
    assert_true(best[0] == 3 && best[2] == 2 && best[4] == -INFINITY && isnan(best[5]));
    assert_ok(mxc_top_classes(scores, 1, 3, classes, NULL));
    assert_memory_equal(classes, second, sizeof second);
    assert_ok(mxc_ndarray_copy(scores, mxc_cpu(0), MXC_F16, &half));
    assert_ok(mxc_top_classes(half, 1, 3, classes, best));
    assert_memory_equal(classes, second, sizeof second);
    assert_true(best[1] == 9);
    mxc_ndarray_release(half);
    mxc_ndarray_release(scores);
}

static void test_shapes(void **state) {
    const float values[] = {1, 4, 2, 3, 8, 5};
    mxc_ndarray *row = scores_of(1, (int64_t[]){6}, values), *deep = scores_of(3, (int64_t[]){2, 3, 1}, values);
    mxc_ndarray *scalar = scores_of(0, NULL, values), *none = scores_of(2, (int64_t[]){0, 3}, values);
    int64_t classes[6];
    (void)state;
    assert_ok(mxc_top_classes(row, 0, 1, classes, NULL));
    assert_int_equal(classes[0], 4);
    assert_ok(mxc_top_classes(deep, 1, 2, classes, NULL));
    assert_true(classes[0] == 1 && classes[1] == 2);
    assert_fails(mxc_top_classes(row, 1, 1, classes, NULL), MXC_ESHAPE, "(6,) have no row 1");
    assert_fails(mxc_top_classes(deep, -1, 1, classes, NULL), MXC_ESHAPE, "no row -1");
    assert_fails(mxc_top_classes(deep, 0, 4, classes, NULL), MXC_ESHAPE, "fewer than 4");
    assert_fails(mxc_top_classes(deep, 0, INT64_MAX, classes, NULL), MXC_ESHAPE, "fewer than");
    assert_fails(mxc_top_classes(scalar, 0, 1, classes, NULL), MXC_ESHAPE, "()");
    assert_fails(mxc_top_classes(none, 0, 1, classes, NULL), MXC_ESHAPE, "no row 0");
    assert_fails(mxc_top_classes(row, 0, 0, classes, NULL), MXC_EINVAL, "at least 1");
    mxc_ndarray_release(row);
    mxc_ndarray_release(deep);
    mxc_ndarray_release(scalar);
    mxc_ndarray_release(none);
}

/* The error of the run that computes the scores. */
static void test_failed_run(void **state) {
    const float rows[6] = {0}, indices[] = {0, 9};
    mxc_ndarray *in[] = {scores_of(2, (int64_t[]){2, 3}, rows), scores_of(1, (int64_t[]){2}, indices)}, *out;
    int64_t best;
    (void)state;
    assert_ok(mxc_invoke("batch_take", 2, in, 0, NULL, NULL, 1, &out));
    assert_fails(mxc_top_classes(out, 0, 1, &best, NULL), MXC_EINVAL, "batch_take");
    mxc_ndarray_release(out);
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void test_names(void **state) {
    static const struct {
        const char *text;
        int64_t n; /* -1: refused */
        const char *what;
    } cases[] = {
        {"cat\ndog\n", 2, "dog"},
        {"cat\r\ngreat white shark\r\n", 2, "great white shark"},
        {"cat", 1, "cat"},
        {"crane\ncrane\n\n\n", 2, "crane"}, /* ImageNet has two of this name */
        {"", -1, "line 1: empty"},
        {"\n", -1, "line 1: empty"},
        {"cat\n\ndog\n", -1, "line 2: empty"},
        {"\r\ncat\n", -1, "line 1: empty"},
    };
    test_path folder, path;
    mxc_names names;
    (void)state;
    test_temp_dir(folder);
    test_join(path, folder, "classes.txt");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_write_file(path, cases[i].text, strlen(cases[i].text));
        if (cases[i].n < 0) {
            assert_fails(mxc_class_names_load(path, &names), MXC_EFORMAT, cases[i].what);
            assert_int_equal(names.n, 0);
            continue;
        }
        assert_ok(mxc_class_names_load(path, &names));
        assert_int_equal(names.n, cases[i].n);
        assert_string_equal(names.items[names.n - 1], cases[i].what);
        mxc_names_release(&names);
    }
    test_write_file(path, "a\0b\n", 4);
    assert_fails(mxc_class_names_load(path, &names), MXC_EFORMAT, "a byte 0");
    assert_fails(mxc_class_names_load(folder, &names), MXC_EIO, folder);
    test_join(path, folder, "absent");
    assert_fails(mxc_class_names_load(path, &names), MXC_ENOTFOUND, "absent");
    test_remove_dir(folder);
}

static void test_too_many_names(void **state) {
    const size_t n = (2 << 20) + 4;
    test_path folder, path;
    mxc_names names;
    char *text = malloc(n);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < n; i++)
        text[i] = i % 2 ? '\n' : 'x';
    test_temp_dir(folder);
    test_join(path, folder, "classes.txt");
    test_write_file(path, text, n);
    assert_fails(mxc_class_names_load(path, &names), MXC_EFORMAT, "too many");
    test_write_file(path, text, n - 4);
    assert_ok(mxc_class_names_load(path, &names));
    assert_int_equal(names.n, 1 << 20);
    mxc_names_release(&names);
    test_remove_dir(folder);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order), cmocka_unit_test(test_shapes),         cmocka_unit_test(test_failed_run),
        cmocka_unit_test(test_names), cmocka_unit_test(test_too_many_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

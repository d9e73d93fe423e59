/* SPDX-License-Identifier: Apache-2.0 */
/* Making iterators over arrays: names, dtypes, shapes, and what is refused. */
#include "alive.h"
#include "base/sys.h"
#include "io/batches.h"

static void expect_desc(mxc_iter *iter, int i, const char *name, int ndim, mxc_dtype dtype) {
    const mxc_data_desc *desc = mxc_iter_desc(iter, i);
    assert_non_null(desc);
    assert_string_equal(desc->name, name);
    assert_int_equal(desc->shape.ndim, ndim);
    assert_int_equal(desc->dtype, dtype);
}

static void test_names(void **state) {
    mxc_array_iter_options o = iter_options(2, MXC_LAST_PAD, 0, 0);
    mxc_ndarray *data[2] = {numbered(6, 3), numbered(6, 2)}, *label[1] = {numbered(6, 0)};
    const char *names[] = {"left", NULL, "target"};
    mxc_iter *iter;
    (void)state;
    assert_ok(mxc_iter_from_arrays(&o, 2, data, 1, label, NULL, &iter));
    assert_int_equal(mxc_iter_n_data(iter), 2);
    assert_int_equal(mxc_iter_n_label(iter), 1);
    expect_desc(iter, 0, "data0", 2, MXC_F32);
    expect_desc(iter, 1, "data1", 2, MXC_F32);
    expect_desc(iter, 2, "softmax_label", 1, MXC_F32);
    assert_int_equal(mxc_iter_desc(iter, 0)->shape.dim[0], 2);
    assert_null(mxc_iter_desc(iter, 3));
    assert_null(mxc_iter_desc(iter, -1));
    mxc_iter_destroy(iter);
    assert_ok(mxc_iter_from_arrays(&o, 2, data, 1, label, names, &iter));
    expect_desc(iter, 0, "left", 2, MXC_F32);
    expect_desc(iter, 1, "data1", 2, MXC_F32);
    expect_desc(iter, 2, "target", 1, MXC_F32);
    mxc_iter_destroy(iter);
    assert_ok(mxc_iter_from_arrays(&o, 1, data, 0, NULL, NULL, &iter));
    expect_desc(iter, 0, "data", 2, MXC_F32);
    mxc_iter_destroy(iter);
    mxc_ndarray_release(data[0]);
    mxc_ndarray_release(data[1]);
    mxc_ndarray_release(label[0]);
}

/* Batches are of the arrays' own dtypes, also where rows have no elements. */
static void test_dtypes(void **state) {
    static const mxc_dtype dtypes[] = {MXC_U8, MXC_I64, MXC_F16};
    mxc_array_iter_options o = iter_options(2, MXC_LAST_PAD, 0, 0);
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int64_t width = 0; width < 3; width++) {
            unsigned char content[64], *got;
            mxc_ndarray *array;
            mxc_iter *iter;
            mxc_batch batch;
            size_t row = mxc_dtype_size(dtypes[i]) * (size_t)width;
            for (int k = 0; k < 64; k++)
                content[k] = (unsigned char)k;
            assert_ok(mxc_ndarray_from_data(2, (int64_t[]){4, width}, dtypes[i], content, &array));
            assert_ok(mxc_iter_from_arrays(&o, 1, &array, 0, NULL, NULL, &iter));
            for (size_t b = 0; b < 2; b++) {
                assert_ok(mxc_iter_next(iter, &batch));
                assert_int_equal(mxc_ndarray_dtype(batch.data[0]), dtypes[i]);
                assert_ok(mxc_ndarray_data(batch.data[0], (void **)&got));
                if (row > 0)
                    assert_memory_equal(got, content + b * 2 * row, 2 * row);
            }
            mxc_iter_destroy(iter);
            mxc_ndarray_release(array);
        }
}

/* Work on a batch that is still queued reads it as it was, not as the next batch. */
static void test_queued_readers_see_their_batch(void **state) {
    mxc_array_iter_options o = iter_options(5, MXC_LAST_PAD, 0, 0);
    mxc_iter *iter = numbered_iter(&o, 500);
    mxc_ndarray *copies[100];
    mxc_batch batch;
    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_ok(mxc_iter_next(iter, &batch));
        assert_ok(mxc_ndarray_copy(batch.label[0], mxc_cpu(1), MXC_F32, &copies[i]));
    }
    for (int i = 0; i < 100; i++) {
        float label[5];
        assert_ok(mxc_ndarray_get(copies[i], label, sizeof label));
        for (int k = 0; k < 5; k++)
            assert_true(label[k] == (float)(5 * i + k));
        mxc_ndarray_release(copies[i]);
    }
    mxc_iter_destroy(iter);
}

static void test_refusals(void **state) {
    mxc_ndarray *six = numbered(6, 3), *five = numbered(5, 0), *scalar, *none = NULL, *pair[2];
    mxc_array_iter_options good = iter_options(2, MXC_LAST_PAD, 0, 0), o = good;
    mxc_iter *iter = (mxc_iter *)six;
    (void)state;
    assert_ok(mxc_ndarray_create(0, NULL, MXC_F32, mxc_cpu(0), &scalar));
    assert_fails(mxc_iter_from_arrays(&o, 1, &six, 1, &five, NULL, &iter), MXC_ESHAPE, "array 1 has 5 samples");
    assert_null(iter);
    assert_fails(mxc_iter_from_arrays(&o, 1, &scalar, 0, NULL, NULL, &iter), MXC_ESHAPE, "no axis of samples");
    assert_fails(mxc_iter_from_arrays(&o, 1, &none, 0, NULL, NULL, &iter), MXC_ESHAPE, "array 0 is NULL");
    assert_fails(mxc_iter_from_arrays(&o, 0, NULL, 0, NULL, NULL, &iter), MXC_EINVAL, "at least one data array");
    assert_fails(mxc_iter_from_arrays(&o, 1, &six, 1, NULL, NULL, &iter), MXC_EINVAL, "label");
    assert_fails(mxc_iter_from_arrays(NULL, 1, &six, 0, NULL, NULL, &iter), MXC_EINVAL, "options");
    assert_fails(mxc_iter_from_arrays(&o, 1, &six, 0, NULL, NULL, NULL), MXC_EINVAL, "out");
    o.batch_size = 0;
    assert_fails(mxc_iter_from_arrays(&o, 1, &six, 0, NULL, NULL, &iter), MXC_EINVAL, "batch_size 0");
    o.batch_size = INT64_MAX / 4;
    assert_status(mxc_iter_from_arrays(&o, 1, &six, 0, NULL, NULL, &iter), MXC_ENOMEM);
    o = good;
    o.num_parts = 3;
    o.part_index = 3;
    assert_fails(mxc_iter_from_arrays(&o, 1, &six, 0, NULL, NULL, &iter), MXC_EINVAL, "part_index 3 of num_parts 3");
    o.num_parts = 7;
    o.part_index = 0;
    assert_fails(mxc_iter_from_arrays(&o, 1, &six, 0, NULL, NULL, &iter), MXC_EINVAL, "part 0 of 7 of 6");
    o = good;
    o.last_batch = (mxc_last_batch)4;
    assert_fails(mxc_iter_from_arrays(&o, 1, &six, 0, NULL, NULL, &iter), MXC_EINVAL, "last_batch 4");
    pair[0] = pair[1] = six; /* one array twice is fine */
    assert_ok(mxc_iter_from_arrays(&good, 2, pair, 0, NULL, NULL, &iter));
    mxc_iter_destroy(iter);
    mxc_ndarray_release(six);
    mxc_ndarray_release(five);
    mxc_ndarray_release(scalar);
}

static void test_every_allocation_failing(void **state) {
    mxc_ndarray *data = numbered(6, 3), *label = numbered(6, 0);
    mxc_array_iter_options o = iter_options(2, MXC_LAST_ROLL_OVER, 1, 0);
    mxc_status status = MXC_ENOMEM;
    (void)state;
    for (int64_t k = 1; status != MXC_OK; k++) {
        mxc_iter *iter;
        int64_t live = test_alive();
        mxci_test_fail_alloc(k, 0);
        status = mxc_iter_from_arrays(&o, 1, &data, 1, &label, NULL, &iter);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        assert_true((iter != NULL) == (status == MXC_OK));
        if (status != MXC_OK)
            assert_int_equal(test_alive(), live);
        mxc_iter_destroy(iter);
    }
    mxc_ndarray_release(data);
    mxc_ndarray_release(label);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_queued_readers_see_their_batch),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

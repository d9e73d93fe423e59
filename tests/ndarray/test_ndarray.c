/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays themselves: making, refusing, lazy memory, references, views, wrapping, failed allocations. */
#include "arrays.h"

#include <pthread.h>

static void arrays_know_themselves(void **state) {
    mxc_ndarray *a = array_new(3, DIMS(2, 3, 4), MXC_F16);
    mxc_context context = mxc_ndarray_context(a);
    (void)state;
    assert_int_equal(mxc_ndarray_shape(a)->ndim, 3);
    assert_int_equal(mxc_ndarray_shape(a)->dim[2], 4);
    assert_int_equal(mxc_ndarray_size(a), 24);
    assert_int_equal(mxc_ndarray_bytes(a), 48);
    assert_int_equal(mxc_ndarray_dtype(a), MXC_F16);
    assert_true(mxc_context_equal(context, mxc_cpu(0)));
    assert_non_null(mxc_ndarray_var(a));
    assert_ptr_equal(mxc_ndarray_retain(a), a);
    mxc_ndarray_release(a);
    mxc_ndarray_release(a);
    mxc_ndarray_release(NULL);
}

static void impossible_arrays_are_refused(void **state) {
    mxc_ndarray *a = (mxc_ndarray *)state;
    (void)state;
    assert_fails(mxc_ndarray_create(9, DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1), MXC_F32, mxc_cpu(0), &a), MXC_EINVAL, "9 axes");
    assert_null(a);
    assert_status(mxc_ndarray_create(-1, NULL, MXC_F32, mxc_cpu(0), &a), MXC_EINVAL);
    assert_status(mxc_ndarray_create(2, NULL, MXC_F32, mxc_cpu(0), &a), MXC_EINVAL);
    assert_fails(mxc_ndarray_create(2, DIMS(2, -1), MXC_F32, mxc_cpu(0), &a), MXC_ESHAPE, "axis 1");
    assert_fails(mxc_ndarray_create(2, DIMS(INT64_C(1) << 32, INT64_C(1) << 32), MXC_F32, mxc_cpu(0), &a), MXC_ESHAPE,
                 "4294967296");
    assert_status(mxc_ndarray_create(1, DIMS(INT64_C(1) << 61), MXC_F64, mxc_cpu(0), &a), MXC_ESHAPE);
    assert_status(mxc_ndarray_create(3, DIMS(0, INT64_MAX, 2), MXC_F32, mxc_cpu(0), &a), MXC_ESHAPE);
    assert_fails(mxc_ndarray_create(1, DIMS(2), (mxc_dtype)9, mxc_cpu(0), &a), MXC_EDTYPE, "9");
    assert_fails(mxc_ndarray_create(1, DIMS(2), MXC_F32, mxc_cpu(99), &a), MXC_EDEVICE, "cpu(99)");
    assert_status(mxc_ndarray_create(1, DIMS(2), MXC_F32, (mxc_context){8, 0}, &a), MXC_EDEVICE);
    assert_null(a);
}

static int64_t bytes_in_use(void) {
    mxc_storage_stats stats;
    assert_ok(mxc_storage_get_stats(mxc_cpu(0), &stats));
    return stats.bytes_in_use;
}

static void memory_is_taken_at_first_use(void **state) {
    int64_t before = bytes_in_use();
    mxc_ndarray *a = array_new(1, DIMS(1024), MXC_F32);
    mxc_tensor t, again;
    (void)state;
    assert_int_equal(bytes_in_use(), before);
    assert_ok(mxc_ndarray_tensor(a, &t));
    assert_int_equal(bytes_in_use(), before + 4096);
    assert_int_equal((uintptr_t)t.data % 64, 0);
    assert_int_equal(t.dtype, MXC_F32);
    assert_true(mxc_context_equal(t.context, mxc_cpu(0)));
    assert_true(mxc_shape_equal(&t.shape, mxc_ndarray_shape(a)));
    assert_ok(mxc_ndarray_tensor(a, &again));
    assert_ptr_equal(t.data, again.data);
    mxc_ndarray_release(a);
    blocks_alive(); /* waits */
    assert_int_equal(bytes_in_use(), before);
}

static void arrays_without_axes_or_elements(void **state) {
    mxc_ndarray *scalar = array_new(0, NULL, MXC_F64), *empty = array_new(3, DIMS(4, 0, 2), MXC_F32), *view;
    double x = 2.5, y = 0;
    mxc_tensor t;
    (void)state;
    assert_int_equal(mxc_ndarray_size(scalar), 1);
    assert_ok(mxc_ndarray_set(scalar, &x, sizeof x));
    assert_ok(mxc_ndarray_get(scalar, &y, sizeof y));
    assert_true(x == y);
    assert_status(mxc_ndarray_slice(scalar, 0, 1, &view), MXC_ESHAPE);
    assert_status(mxc_ndarray_at(scalar, 0, &view), MXC_ESHAPE);
    assert_ok(mxc_ndarray_reshape(scalar, 2, DIMS(1, 1), &view));
    mxc_ndarray_release(view);
    assert_int_equal(mxc_ndarray_size(empty), 0);
    assert_ok(mxc_ndarray_tensor(empty, &t));
    assert_null(t.data);
    assert_ok(mxc_ndarray_set(empty, NULL, 0));
    assert_ok(mxc_ndarray_get(empty, NULL, 0));
    assert_ok(mxc_ndarray_fill(empty, 1));
    assert_ok(mxc_ndarray_fill_uniform(empty, 0, 1));
    assert_ok(mxc_ndarray_slice(empty, 1, 3, &view));
    assert_int_equal(mxc_ndarray_shape(view)->dim[0], 2);
    assert_ok(mxc_ndarray_copy_to(view, view, 0));
    mxc_ndarray_release(view);
    mxc_ndarray_release(empty);
    mxc_ndarray_release(scalar);
}

static void views_share_memory_and_variable(void **state) {
    mxc_ndarray *a = array_ramp(3, DIMS(4, 3, 2), MXC_U8), *rows, *row, *flat;
    unsigned char bytes[24];
    (void)state;
    assert_ok(mxc_ndarray_slice(a, 1, 3, &rows));
    assert_int_equal(mxc_ndarray_shape(rows)->dim[0], 2);
    assert_ptr_equal(mxc_ndarray_var(rows), mxc_ndarray_var(a));
    assert_ok(mxc_ndarray_get(rows, bytes, 12));
    assert_int_equal(bytes[0], 7);
    assert_ok(mxc_ndarray_at(rows, 1, &row));
    assert_int_equal(mxc_ndarray_shape(row)->ndim, 2);
    assert_int_equal(mxc_ndarray_shape(row)->dim[0], 3);
    assert_ok(mxc_ndarray_fill(row, 99));
    assert_ok(mxc_ndarray_reshape(a, 2, DIMS(-1, 8), &flat));
    assert_int_equal(mxc_ndarray_shape(flat)->dim[0], 3);
    mxc_ndarray_release(a);
    mxc_ndarray_release(rows);
    mxc_ndarray_release(row);
    assert_ok(mxc_ndarray_get(flat, bytes, 24)); /* the views keep the memory */
    for (int i = 0; i < 24; i++)
        assert_int_equal(bytes[i], i >= 12 && i < 18 ? 99 : i + 1);
    mxc_ndarray_release(flat);
}

static void views_have_the_shapes_of_mxnet(void **state) {
    mxc_ndarray *a = array_ramp(2, DIMS(3, 4), MXC_I32), *line, *item, *prefix, *none;
    (void)state;
    assert_ok(mxc_ndarray_at(a, 2, &line));
    assert_ok(mxc_ndarray_at(line, 3, &item)); /* of one axis: shape (1,) */
    assert_int_equal(mxc_ndarray_shape(item)->ndim, 1);
    assert_int_equal(mxc_ndarray_shape(item)->dim[0], 1);
    assert_ok(mxc_ndarray_reshape(a, 2, DIMS(2, 2), &prefix)); /* fewer elements */
    assert_int_equal(mxc_ndarray_size(prefix), 4);
    assert_ok(mxc_ndarray_slice(a, 3, 3, &none));
    assert_int_equal(mxc_ndarray_size(none), 0);
    mxc_ndarray_release(none);
    mxc_ndarray_release(prefix);
    mxc_ndarray_release(item);
    mxc_ndarray_release(line);
    assert_fails(mxc_ndarray_slice(a, 1, 4, &none), MXC_ESHAPE, "(3,4)");
    assert_null(none);
    assert_status(mxc_ndarray_slice(a, 2, 1, &none), MXC_ESHAPE);
    assert_status(mxc_ndarray_slice(a, -1, 1, &none), MXC_ESHAPE);
    assert_fails(mxc_ndarray_at(a, 3, &none), MXC_ESHAPE, "row 3");
    assert_status(mxc_ndarray_at(a, -1, &none), MXC_ESHAPE);
    assert_fails(mxc_ndarray_reshape(a, 2, DIMS(4, 4), &none), MXC_ESHAPE, "(4,4)");
    assert_status(mxc_ndarray_reshape(a, 2, DIMS(5, -1), &none), MXC_ESHAPE);
    assert_status(mxc_ndarray_reshape(a, 2, DIMS(-1, -1), &none), MXC_ESHAPE);
    assert_status(mxc_ndarray_reshape(a, 2, DIMS(0, -1), &none), MXC_ESHAPE);
    assert_status(mxc_ndarray_reshape(a, 2, DIMS(-2, 6), &none), MXC_ESHAPE);
    assert_status(mxc_ndarray_reshape(a, 3, DIMS(INT64_C(1) << 32, INT64_C(1) << 32, 1), &none), MXC_ESHAPE);
    assert_status(mxc_ndarray_reshape(a, 3, DIMS(0, INT64_MAX, 2), &none), MXC_ESHAPE);
    assert_status(mxc_ndarray_reshape(a, 9, DIMS(12, 1, 1, 1, 1, 1, 1, 1, 1), &none), MXC_EINVAL);
    mxc_ndarray_release(a);
}

static void count_call(void *arg) {
    ++*(int *)arg;
}

static void wrapped_memory_is_used_and_released_once(void **state) {
    int calls = 0;
    float memory[6] = {1, 2, 3, 4, 5, 6};
    mxc_ndarray *a, *view;
    (void)state;
    assert_ok(mxc_ndarray_wrap(2, DIMS(2, 3), MXC_F32, memory, count_call, &calls, &a));
    assert_ok(mxc_ndarray_at(a, 1, &view));
    assert_ok(mxc_ndarray_fill(view, 7));
    mxc_ndarray_release(a);
    assert_ok(mxc_ndarray_wait_to_write(view));
    assert_true(memory[2] == 3 && memory[3] == 7);
    assert_int_equal(calls, 0);
    mxc_ndarray_release(view);
    blocks_alive();
    assert_int_equal(calls, 1);
    assert_fails(mxc_ndarray_wrap(1, DIMS(1), MXC_F32, (char *)memory + 1, count_call, &calls, &a), MXC_EINVAL,
                 "aligned");
    assert_status(mxc_ndarray_wrap(1, DIMS(1), MXC_F32, NULL, count_call, &calls, &a), MXC_EINVAL);
    assert_int_equal(calls, 1);
    assert_ok(mxc_ndarray_wrap(1, DIMS(0), MXC_F32, NULL, NULL, NULL, &a));
    mxc_ndarray_release(a);
}

static void from_data_copies(void **state) {
    int32_t data[4] = {1, -2, 3, -4}, back[4];
    mxc_ndarray *a;
    (void)state;
    assert_ok(mxc_ndarray_from_data(2, DIMS(2, 2), MXC_I32, data, &a));
    data[0] = 100;
    assert_ok(mxc_ndarray_get(a, back, sizeof back));
    assert_true(back[0] == 1 && back[3] == -4);
    mxc_ndarray_release(a);
    assert_status(mxc_ndarray_from_data(1, DIMS(2), MXC_I32, NULL, &a), MXC_EINVAL);
}

static mxc_status use_arrays(void *arg) {
    float data[600] = {1};
    mxc_ndarray *a = NULL, *b = NULL, *row = NULL;
    mxc_status status = mxc_ndarray_from_data(2, DIMS(30, 20), MXC_F32, data, &a);
    (void)arg;
    if (status == MXC_OK)
        status = mxc_ndarray_at(a, 3, &row);
    if (status == MXC_OK)
        status = mxc_ndarray_fill(row, 2);
    if (status == MXC_OK)
        status = mxc_ndarray_copy(a, mxc_cpu(0), MXC_F64, &b);
    if (status == MXC_OK)
        status = mxc_ndarray_set(a, data, sizeof data);
    if (status == MXC_OK)
        status = mxc_ndarray_get(row, data, 80);
    mxc_ndarray_release(row);
    mxc_ndarray_release(a);
    mxc_ndarray_release(b);
    return status;
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    fail_each_allocation(use_arrays, NULL);
}

static void *touch_lazily(void *arg) {
    mxc_tensor t;
    return mxc_ndarray_tensor(arg, &t) == MXC_OK ? t.data : NULL;
}

static void threads_race_for_the_memory(void **state) {
    (void)state;
    for (int round = 0; round < TEST_SCALE(200); round++) {
        mxc_ndarray *a = array_new(1, DIMS(100), MXC_F32);
        pthread_t threads[3];
        void *data[3];
        for (int i = 0; i < 3; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, touch_lazily, a), 0);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], &data[i]);
        assert_non_null(data[0]);
        assert_true(data[0] == data[1] && data[1] == data[2]);
        mxc_ndarray_release(a);
    }
}

static void null_is_refused_or_empty(void **state) {
    mxc_ndarray *a = array_ramp(1, DIMS(2), MXC_F32), *out;
    mxc_ndarray_list list = {0, NULL, NULL};
    char *text;
    void *data;
    (void)state;
    assert_fails(mxc_ndarray_create(1, DIMS(2), MXC_F32, mxc_cpu(0), NULL), MXC_EINVAL, "out must not be NULL");
    assert_fails(mxc_ndarray_slice(NULL, 0, 1, &out), MXC_EINVAL, "mxc_ndarray_slice: array");
    assert_status(mxc_ndarray_at(NULL, 0, &out), MXC_EINVAL);
    assert_status(mxc_ndarray_reshape(a, 1, DIMS(2), NULL), MXC_EINVAL);
    assert_status(mxc_ndarray_tensor(NULL, NULL), MXC_EINVAL);
    assert_status(mxc_ndarray_set(NULL, "", 0), MXC_EINVAL);
    assert_status(mxc_ndarray_set(a, NULL, 8), MXC_EINVAL);
    assert_status(mxc_ndarray_get(NULL, NULL, 0), MXC_EINVAL);
    assert_status(mxc_ndarray_get(a, NULL, 8), MXC_EINVAL);
    assert_status(mxc_ndarray_fill(NULL, 0), MXC_EINVAL);
    assert_status(mxc_ndarray_fill_uniform(NULL, 0, 1), MXC_EINVAL);
    assert_status(mxc_ndarray_fill_normal(NULL, 0, 1), MXC_EINVAL);
    assert_status(mxc_ndarray_copy_to(a, NULL, 0), MXC_EINVAL);
    assert_status(mxc_ndarray_copy(NULL, mxc_cpu(0), MXC_F32, &out), MXC_EINVAL);
    assert_status(mxc_ndarray_wait_to_read(NULL), MXC_EINVAL);
    assert_status(mxc_ndarray_wait_to_write(NULL), MXC_EINVAL);
    assert_status(mxc_ndarray_data(NULL, &data), MXC_EINVAL);
    assert_status(mxc_ndarray_print(NULL, &text), MXC_EINVAL);
    assert_status(mxc_ndarray_save(NULL, 1, &a, NULL), MXC_EINVAL);
    assert_status(mxc_ndarray_load(NULL, &list), MXC_EINVAL);
    assert_status(mxc_ndarray_load_buffer("x", NULL, 1, &list), MXC_EINVAL);
    assert_status(mxc_ndarray_save_npy("x", NULL), MXC_EINVAL);
    assert_status(mxc_ndarray_load_npy(NULL, &out), MXC_EINVAL);
    assert_status(mxc_ndarray_save_npz("x", 1, NULL, NULL), MXC_EINVAL);
    assert_status(mxc_ndarray_load_npz("x", NULL), MXC_EINVAL);
    assert_status(mxc_ndarray_to_dlpack(NULL, NULL), MXC_EINVAL);
    assert_status(mxc_ndarray_from_dlpack(NULL, &out), MXC_EINVAL);
    assert_null(mxc_ndarray_shape(NULL));
    assert_null(mxc_ndarray_var(NULL));
    assert_null(mxc_ndarray_retain(NULL));
    assert_int_equal(mxc_ndarray_size(NULL) + (int64_t)mxc_ndarray_bytes(NULL), 0);
    assert_int_equal(mxc_ndarray_dtype(NULL), MXC_DTYPE_UNKNOWN);
    assert_null(mxc_ndarray_list_find(&list, NULL));
    mxc_ndarray_list_release(NULL);
    mxc_ndarray_release(NULL);
    mxc_ndarray_release(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_know_themselves),
        cmocka_unit_test(impossible_arrays_are_refused),
        cmocka_unit_test(memory_is_taken_at_first_use),
        cmocka_unit_test(arrays_without_axes_or_elements),
        cmocka_unit_test(views_share_memory_and_variable),
        cmocka_unit_test(views_have_the_shapes_of_mxnet),
        cmocka_unit_test(wrapped_memory_is_used_and_released_once),
        cmocka_unit_test(from_data_copies),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(threads_race_for_the_memory),
        cmocka_unit_test(null_is_refused_or_empty),
    };
    return cmocka_run_group_tests_name("ndarray", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* DLPack: out and in again, strides, refusals, ownership. */
#include "arrays.h"

#include <mxc/dlpack.h>

/* A tensor of the test's own; deleted counts calls of its deleter. */
typedef struct foreign {
    DLManagedTensor managed;
    int64_t shape[8], strides[8];
    int deleted;
} foreign;

static void delete_foreign(DLManagedTensor *self) {
    ((foreign *)self->manager_ctx)->deleted++;
}

static void foreign_init(foreign *f, void *data, int ndim, const int64_t *shape, const int64_t *strides) {
    memset(f, 0, sizeof *f);
    for (int i = 0; i < ndim; i++) {
        f->shape[i] = shape[i];
        f->strides[i] = strides ? strides[i] : 0;
    }
    f->managed.dl_tensor = (DLTensor){.data = data,
                                      .device = {kDLCPU, 0},
                                      .ndim = ndim,
                                      .dtype = {kDLFloat, 32, 1},
                                      .shape = f->shape,
                                      .strides = strides ? f->strides : NULL};
    f->managed.manager_ctx = f;
    f->managed.deleter = delete_foreign;
}

static void all_dtypes_go_out_and_in(void **state) {
    (void)state;
    for (int i = 0; i < DTYPES; i++) {
        mxc_ndarray *a = array_ramp(2, DIMS(3, 4), all_dtypes[i]), *view, *b;
        DLManagedTensor *tensor;
        void *data;
        assert_ok(mxc_ndarray_slice(a, 1, 3, &view));
        assert_ok(mxc_ndarray_to_dlpack(view, &tensor));
        assert_ok(mxc_ndarray_data(view, &data));
        assert_ptr_equal(tensor->dl_tensor.data, data);
        assert_int_equal(tensor->dl_tensor.ndim, 2);
        assert_int_equal(tensor->dl_tensor.shape[0], 2);
        assert_int_equal(tensor->dl_tensor.strides[0], 4);
        assert_int_equal(tensor->dl_tensor.dtype.bits, 8 * mxc_dtype_size(all_dtypes[i]));
        mxc_ndarray_release(a);
        assert_ok(mxc_ndarray_from_dlpack(tensor, &b));
        assert_same_array(view, b);
        assert_ok(mxc_ndarray_fill(b, 1)); /* one memory */
        assert_ok(mxc_ndarray_wait_to_read(b));
        assert_same_array(view, b);
        mxc_ndarray_release(view);
        mxc_ndarray_release(b);
    }
}

static void dense_tensors_are_shared(void **state) {
    float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    foreign f;
    mxc_ndarray *a;
    void *memory;
    (void)state;
    foreign_init(&f, data, 3, DIMS(3, 1, 2), DIMS(2, 77, 1)); /* the stride of an axis of size 1 does not matter */
    f.managed.dl_tensor.byte_offset = 8;
    assert_ok(mxc_ndarray_from_dlpack(&f.managed, &a));
    assert_ok(mxc_ndarray_data(a, &memory));
    assert_ptr_equal(memory, data + 2);
    assert_int_equal(f.deleted, 0);
    mxc_ndarray_release(a);
    blocks_alive();
    assert_int_equal(f.deleted, 1);
}

static void strided_tensors_are_copied(void **state) {
    float data[12], x[6];
    foreign f;
    mxc_ndarray *a;
    (void)state;
    for (int i = 0; i < 12; i++)
        data[i] = (float)i;
    foreign_init(&f, data, 2, DIMS(2, 3), DIMS(1, 4)); /* columns */
    assert_ok(mxc_ndarray_from_dlpack(&f.managed, &a));
    assert_int_equal(f.deleted, 1);
    assert_ok(mxc_ndarray_get(a, x, sizeof x));
    assert_memory_equal(x, ((float[]){0, 4, 8, 1, 5, 9}), sizeof x);
    mxc_ndarray_release(a);
    foreign_init(&f, data, 2, DIMS(2, 3), DIMS(0, 1)); /* one row twice */
    assert_ok(mxc_ndarray_from_dlpack(&f.managed, &a));
    assert_ok(mxc_ndarray_get(a, x, sizeof x));
    assert_memory_equal(x, ((float[]){0, 1, 2, 0, 1, 2}), sizeof x);
    mxc_ndarray_release(a);
}

static void empty_tensors_and_no_deleter(void **state) {
    foreign f;
    mxc_ndarray *a;
    (void)state;
    foreign_init(&f, NULL, 2, DIMS(0, 3), DIMS(-5, INT64_MIN));
    assert_ok(mxc_ndarray_from_dlpack(&f.managed, &a));
    assert_int_equal(mxc_ndarray_size(a), 0);
    mxc_ndarray_release(a);
    foreign_init(&f, &(float){3}, 0, NULL, NULL);
    f.managed.dl_tensor.shape = NULL;
    f.managed.deleter = NULL;
    assert_ok(mxc_ndarray_from_dlpack(&f.managed, &a));
    mxc_ndarray_release(a);
    blocks_alive();
}

/* Refused, and still the caller's. */
static void refuse(foreign *f, mxc_status status, const char *text) {
    mxc_ndarray *a = (mxc_ndarray *)f;
    assert_fails(mxc_ndarray_from_dlpack(&f->managed, &a), status, text);
    assert_null(a);
    assert_int_equal(f->deleted, 0);
}

static void hostile_tensors_are_refused(void **state) {
    float data[4] = {0};
    mxc_ndarray *a;
    foreign f;
    (void)state;
    assert_status(mxc_ndarray_from_dlpack(NULL, &a), MXC_EINVAL);
#define TRY(change, status, text)                      \
    foreign_init(&f, data, 2, DIMS(2, 2), DIMS(2, 1)); \
    change;                                            \
    refuse(&f, status, text)
    TRY(f.managed.dl_tensor.ndim = -1, MXC_EINVAL, "-1 axes");
    TRY(f.managed.dl_tensor.ndim = 9, MXC_EINVAL, "9 axes");
    TRY(f.managed.dl_tensor.shape = NULL, MXC_EINVAL, "without a shape");
    TRY(f.shape[1] = -2, MXC_EINVAL, "axis 1");
    TRY((f.shape[0] = INT64_MAX, f.strides[0] = 0), MXC_EINVAL, "elements");
    TRY(f.strides[0] = -2, MXC_EINVAL, "stride -2");
    TRY(f.strides[0] = INT64_MIN, MXC_EINVAL, "stride");
    TRY(f.strides[1] = INT64_MAX, MXC_EINVAL, "stride");
    TRY(f.managed.dl_tensor.byte_offset = UINT64_MAX, MXC_EINVAL, "offset");
    TRY(f.managed.dl_tensor.byte_offset = 3, MXC_EINVAL, "aligned");
    TRY(f.managed.dl_tensor.data = NULL, MXC_EINVAL, "data");
    TRY(f.managed.dl_tensor.dtype.lanes = 4, MXC_EDTYPE, "4 lanes");
    TRY(f.managed.dl_tensor.dtype.bits = 0, MXC_EDTYPE, "0 bits");
    TRY(f.managed.dl_tensor.dtype.code = 77, MXC_EDTYPE, "77");
    TRY(f.managed.dl_tensor.device.device_type = (DLDeviceType)99, MXC_EDEVICE, "99");
    TRY(f.managed.dl_tensor.device.device_id = -3, MXC_EDEVICE, "-3");
#undef TRY
}

static mxc_status out_and_in(void *array) {
    DLManagedTensor *tensor;
    mxc_ndarray *b;
    mxc_status status;
    MXC_TRY(mxc_ndarray_to_dlpack(array, &tensor));
    status = mxc_ndarray_from_dlpack(tensor, &b);
    if (status != MXC_OK)
        tensor->deleter(tensor);
    else
        mxc_ndarray_release(b);
    return status;
}

static void each_allocation_may_fail(void **state) {
    mxc_ndarray *a = array_ramp(2, DIMS(10, 10), MXC_I32);
    (void)state;
    fail_each_allocation(out_and_in, a);
    mxc_ndarray_release(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_dtypes_go_out_and_in),    cmocka_unit_test(dense_tensors_are_shared),
        cmocka_unit_test(strided_tensors_are_copied),  cmocka_unit_test(empty_tensors_and_no_deleter),
        cmocka_unit_test(hostile_tensors_are_refused), cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("dlpack", tests, NULL, NULL);
}

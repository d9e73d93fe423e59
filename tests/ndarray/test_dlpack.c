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

/* ---- version 1 ----------------------------------------------------------------------------------------------------
 */

/* A tensor of DLPack 1 of the test's own. */
typedef struct foreign_1 {
    struct DLManagedTensorVersioned managed;
    foreign inner;
} foreign_1;

static void delete_foreign_1(struct DLManagedTensorVersioned *self) {
    ((foreign_1 *)self->manager_ctx)->inner.deleted++;
}

static void foreign_1_init(foreign_1 *f, void *data, uint64_t flags, const int64_t *strides) {
    foreign_init(&f->inner, data, 2, DIMS(2, 3), strides);
    f->managed = (struct DLManagedTensorVersioned){{1, 3}, f, delete_foreign_1, flags, f->inner.managed.dl_tensor};
}

static void version_1_goes_out_and_in(void **state) {
    mxc_ndarray *a = array_ramp(2, DIMS(3, 4), MXC_F32), *b;
    struct DLManagedTensorVersioned *tensor;
    void *data;
    (void)state;
    assert_ok(mxc_ndarray_data(a, &data));
    assert_ok(mxc_ndarray_to_dlpack_versioned(a, 0, &tensor));
    assert_int_equal(tensor->version.major, 1);
    assert_int_equal(tensor->flags, 0);
    assert_ptr_equal(tensor->dl_tensor.data, data);
    assert_int_equal(tensor->dl_tensor.shape[1], 4);
    assert_ok(mxc_ndarray_from_dlpack_versioned(tensor, &b));
    assert_ok(mxc_ndarray_fill(b, 7)); /* one memory */
    assert_ok(mxc_ndarray_wait_to_read(b));
    assert_same_array(a, b);
    mxc_ndarray_release(b);
    assert_ok(mxc_ndarray_to_dlpack_versioned(a, 1, &tensor));
    assert_int_equal(tensor->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
    tensor->deleter(tensor);
    mxc_ndarray_release(a);
}

/* What may be written is shared, what may only be read is copied and given back at once. */
static void read_only_tensors_are_copied(void **state) {
    float data[6] = {0, 1, 2, 3, 4, 5}, x[6];
    foreign_1 f;
    mxc_ndarray *a;
    (void)state;
    foreign_1_init(&f, data, 0, NULL);
    assert_ok(mxc_ndarray_from_dlpack_versioned(&f.managed, &a));
    assert_ok(mxc_ndarray_fill(a, 9));
    assert_ok(mxc_ndarray_wait_to_read(a));
    assert_true(data[5] == 9);
    assert_int_equal(f.inner.deleted, 0);
    mxc_ndarray_release(a);
    blocks_alive();
    assert_int_equal(f.inner.deleted, 1);
    for (int strided = 0; strided < 2; strided++) {
        foreign_1_init(&f, data, DLPACK_FLAG_BITMASK_READ_ONLY, strided ? DIMS(1, 2) : NULL);
        for (int i = 0; i < 6; i++)
            data[i] = (float)i;
        assert_ok(mxc_ndarray_from_dlpack_versioned(&f.managed, &a));
        assert_int_equal(f.inner.deleted, 1);
        assert_ok(mxc_ndarray_get(a, x, sizeof x));
        assert_memory_equal(x, strided ? ((float[]){0, 2, 4, 1, 3, 5}) : ((float[]){0, 1, 2, 3, 4, 5}), sizeof x);
        assert_ok(mxc_ndarray_fill(a, -1));
        assert_ok(mxc_ndarray_wait_to_read(a));
        assert_true(data[5] == 5);
        mxc_ndarray_release(a);
    }
}

/* Nothing of another major version is read but its number. */
static void other_major_versions_are_refused(void **state) {
    float data[6] = {0};
    foreign_1 f;
    mxc_ndarray *a = (mxc_ndarray *)&f;
    (void)state;
    foreign_1_init(&f, data, 0, NULL);
    memset(&f.managed.flags, 0x5a, sizeof f.managed - offsetof(struct DLManagedTensorVersioned, flags));
    f.managed.version.major = 2;
    assert_fails(mxc_ndarray_from_dlpack_versioned(&f.managed, &a), MXC_EUNSUPPORTED, "version 2.3, expected 1.x");
    assert_null(a);
    foreign_1_init(&f, NULL, DLPACK_FLAG_BITMASK_READ_ONLY, NULL);
    assert_fails(mxc_ndarray_from_dlpack_versioned(&f.managed, &a), MXC_EINVAL, "mxc_ndarray_from_dlpack_versioned");
    assert_int_equal(f.inner.deleted, 0);
}

static mxc_status out_and_in_version_1(void *array) {
    struct DLManagedTensorVersioned *tensor;
    mxc_ndarray *b;
    mxc_status status;
    MXC_TRY(mxc_ndarray_to_dlpack_versioned(array, 1, &tensor));
    status = mxc_ndarray_from_dlpack_versioned(tensor, &b);
    if (status != MXC_OK)
        tensor->deleter(tensor);
    else
        mxc_ndarray_release(b);
    return status;
}

/* ---- no memory -----------------------------------------------------------------------------------------------------
 */

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
    fail_each_allocation(out_and_in_version_1, a);
    mxc_ndarray_release(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_dtypes_go_out_and_in),     cmocka_unit_test(dense_tensors_are_shared),
        cmocka_unit_test(strided_tensors_are_copied),   cmocka_unit_test(empty_tensors_and_no_deleter),
        cmocka_unit_test(hostile_tensors_are_refused),  cmocka_unit_test(version_1_goes_out_and_in),
        cmocka_unit_test(read_only_tensors_are_copied), cmocka_unit_test(other_major_versions_are_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("dlpack", tests, NULL, NULL);
}

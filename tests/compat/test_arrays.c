/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays through MXNet's interface: creation, properties, views, contents, files, memory that processes share. */
#include <sys/wait.h>
#include <unistd.h>

#include <mxc/mxc.h>

#include "front.h"

static void assert_shape(NDArrayHandle array, int n, const int64_t *dims) {
    const int64_t *shape;
    int ndim;
    assert_mx(MXNDArrayGetShapeEx64(array, &ndim, &shape));
    assert_int_equal(ndim, n);
    for (int i = 0; i < n; i++)
        assert_int_equal(shape[i], dims[i]);
}

static void test_properties(void **state) {
    (void)state;
    const int64_t dims[] = {2, 3};
    NDArrayHandle array, copy;
    int type, id, dtype, storage;
    void *data;
    assert_mx(MXNDArrayCreateEx64(dims, 2, 1, 1, 0, MXC_I32, &array));
    assert_shape(array, 2, dims);
    assert_mx(MXNDArrayGetContext(array, &type, &id));
    assert_int_equal(type, 1);
    assert_int_equal(id, 1);
    assert_mx(MXNDArrayGetDType(array, &dtype));
    assert_int_equal(dtype, MXC_I32);
    assert_mx(MXNDArrayGetStorageType(array, &storage));
    assert_int_equal(storage, 0);
    assert_mx(MXShallowCopyNDArray(array, &copy));
    assert_mx(MXNDArrayGetData(copy, &data));
    assert_mx(MXNDArrayFree(array));
    ((int32_t *)data)[5] = 7;
    int32_t values[6];
    assert_mx(MXNDArraySyncCopyToCPU(copy, values, 6));
    assert_int_equal(values[5], 7);
    assert_mx_fails(MXNDArraySyncCopyToCPU(copy, values, 5), "24");
    assert_mx(MXNDArrayFree(copy));
    assert_mx(MXNDArrayFree(NULL));
}

static void test_mistakes_are_reported(void **state) {
    (void)state;
    const uint32_t dims[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    NDArrayHandle array, none;
    const int64_t *shape;
    int ndim, storage;
    assert_mx_fails(MXNDArrayCreateEx(dims, 9, 1, 0, 0, 0, &array), "9 axes");
    assert_mx_fails(MXNDArrayCreateEx(dims, 1, 4, 0, 0, 0, &array), "device type 4");
    assert_mx_fails(MXNDArrayCreateEx(dims, 1, 1, 99, 0, 0, &array), "device number 99");
    assert_mx_fails(MXNDArrayCreateEx(dims, 1, 1, 0, 0, 11, &array), "type 11");
    assert_mx_fails(MXNDArrayGetShapeEx64(NULL, &ndim, &shape), "NULL");
    assert_mx_fails(MXNDArraySlice(NULL, 0, 1, &array), "NULL");
    assert_mx(MXNDArrayCreateNone(&none));
    assert_mx(MXNDArrayGetStorageType(none, &storage));
    assert_int_equal(storage, -1);
    assert_mx_fails(MXNDArraySlice(none, 0, 1, &array), "no shape yet");
    MXNDArrayFree(none);
}

static void test_views_share_memory(void **state) {
    (void)state;
    const float values[] = {1, 2, 3, 4, 5, 6};
    NDArrayHandle array = front_array(3, 2, values), rows, row, flat;
    const int flat_dims[] = {-1};
    const float ten[] = {10, 20};
    assert_mx(MXNDArraySlice(array, 1, 3, &rows));
    assert_shape(rows, 2, (int64_t[]){2, 2});
    assert_mx(MXNDArrayAt(rows, 1, &row));
    assert_shape(row, 1, (int64_t[]){2});
    assert_mx(MXNDArraySyncCopyFromCPU(row, ten, 2));
    assert_mx(MXNDArrayReshape(array, 1, flat_dims, &flat));
    assert_shape(flat, 1, (int64_t[]){6});
    assert_float_equal(front_at(flat, 5), 20, 0);
    assert_mx_fails(MXNDArraySlice(array, 2, 5, &row), "5");
    NDArrayHandle all[] = {array, rows, row, flat};
    for (int i = 0; i < 4; i++)
        MXNDArrayFree(all[i]);
}

/* Codes of a new shape, as Reshape has them. */
static void test_reshape_codes(void **state) {
    (void)state;
    static const struct {
        int n, reverse, n_made;
        int64_t dims[8], made[8];
    } cases[] = {
        {2, 0, 2, {0, -1}, {2, 12}},
        {1, 0, 3, {-2}, {2, 3, 4}},
        {2, 0, 2, {-3, 0}, {6, 4}},
        {4, 0, 4, {-4, 1, 2, -2}, {1, 2, 3, 4}},
        {5, 0, 4, {0, -4, -1, 3, 0}, {2, 1, 3, 4}},
        {2, 1, 2, {-1, 0}, {6, 4}},
        {3, 1, 3, {0, 0, -1}, {2, 3, 4}},
        {2, 0, 2, {5, -1}, {5, 4}}, /* as in MXNet: the front end compares the sizes */
    };
    const int64_t dims[] = {2, 3, 4}, twice[] = {-1, -1}, large[] = {5, 5}, beyond[] = {0, 0, 0, 0};
    NDArrayHandle array, view;
    assert_mx(MXNDArrayCreateEx64(dims, 3, 1, 0, 0, 0, &array));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_mx(MXNDArrayReshape64(array, cases[i].n, cases[i].dims, cases[i].reverse != 0, &view));
        assert_shape(view, cases[i].n_made, cases[i].made);
        MXNDArrayFree(view);
    }
    assert_mx_fails(MXNDArrayReshape64(array, 2, twice, false, &view), "two axes");
    assert_mx_fails(MXNDArrayReshape64(array, 2, large, false, &view), "24 elements");
    assert_mx_fails(MXNDArrayReshape64(array, 4, beyond, false, &view), "axis 3");
    MXNDArrayFree(array);
}

static void test_raw_bytes(void **state) {
    (void)state;
    const float values[] = {1, -2, 3, 4};
    NDArrayHandle array = front_array(2, 2, values), back;
    const char *bytes;
    size_t size;
    char copy[256];
    assert_mx(MXNDArraySaveRawBytes(array, &size, &bytes));
    assert_true(size <= sizeof copy);
    memcpy(copy, bytes, size);
    assert_mx(MXNDArrayLoadFromRawBytes(copy, size, &back));
    assert_shape(back, 2, (int64_t[]){2, 2});
    assert_float_equal(front_at(back, 1), -2, 0);
    MXNDArrayFree(back);
    for (size_t cut = 0; cut < size; cut++)
        assert_true(MXNDArrayLoadFromRawBytes(copy, cut, &back) == -1);
    MXNDArrayFree(array);
}

static void test_files(void **state) {
    (void)state;
    NDArrayHandle arrays[] = {front_filled(2, 2, 1), front_filled(1, 3, 2)}, *read;
    const char *const keys[] = {"one", "two"};
    char path[] = "/tmp/mxnet-arrays-XXXXXX";
    const char **names;
    uint32_t n, n_names;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_mx(MXNDArraySave(path, 2, arrays, keys));
    assert_mx(MXNDArrayLoad(path, &n, &read, &n_names, &names));
    assert_int_equal(n, 2);
    assert_int_equal(n_names, 2);
    assert_string_equal(names[1], "two");
    NDArrayHandle two = read[1];
    MXNDArrayFree(read[0]);
    assert_float_equal(front_at(two, 2), 2, 0);
    MXNDArrayFree(two);
    assert_mx(MXNDArraySave(path, 1, arrays, NULL));
    assert_mx(MXNDArrayLoad(path, &n, &read, &n_names, &names));
    assert_int_equal(n_names, 0);
    MXNDArrayFree(read[0]);
    unlink(path);
    assert_mx_fails(MXNDArrayLoad(path, &n, &read, &n_names, &names), path);
    MXNDArrayFree(arrays[0]);
    MXNDArrayFree(arrays[1]);
}

static int write_shared(int pid, int id) {
    const float values[] = {1, 2, 3, 4};
    const int shape[] = {2, 2};
    NDArrayHandle other;
    return MXNDArrayCreateFromSharedMemEx(pid, id, shape, 2, 0, &other) || MXNDArraySyncCopyFromCPU(other, values, 4) ||
           MXNDArrayFree(other);
}

/* Another process changes what this one reads; under sanitizers, which do not go on in a forked child, another mapping
 * of this one. */
static void test_shared_memory(void **state) {
    (void)state;
    const uint32_t dims[] = {2, 2};
    NDArrayHandle array, other;
    int pid, id, type, device, status;
    assert_mx(MXNDArrayCreateEx(dims, 2, 5, 0, 0, 0, &array));
    assert_mx(MXNDArrayGetContext(array, &type, &device));
    assert_int_equal(type, 5);
    const float zeros[4] = {0};
    assert_mx(MXNDArraySyncCopyFromCPU(array, zeros, 4));
    assert_mx(MXNDArrayGetSharedMemHandle(array, &pid, &id));
    if (TEST_SANITIZED) {
        assert_int_equal(write_shared(pid, id), 0);
    } else {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(write_shared(pid, id));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    assert_float_equal(front_at(array, 3), 4, 0);
    const int large[] = {4096, 4096};
    assert_mx_fails(MXNDArrayCreateFromSharedMemEx(pid, id, large, 2, 0, &other), "expected 67108864");
    MXNDArrayFree(array);
}

/* In NumPy's shapes a scalar has no axes, and 0 is a length. */
static void test_numpy_shapes(void **state) {
    (void)state;
    NDArrayHandle array;
    const int64_t *shape;
    int before, ndim, now;
    assert_mx(MXSetIsNumpyShape(1, &before));
    assert_int_equal(before, 0);
    assert_mx(MXIsNumpyShape(&now));
    assert_int_equal(now, 1);
    assert_mx(MXNDArrayCreateEx64(NULL, 0, 1, 0, 0, 0, &array));
    assert_mx(MXNDArrayGetShapeEx64(array, &ndim, &shape));
    assert_int_equal(ndim, 0);
    float one = 1;
    assert_mx(MXNDArraySyncCopyFromCPU(array, &one, 1));
    MXNDArrayFree(array);
    assert_mx(MXNDArrayCreateNone(&array));
    assert_mx(MXNDArrayGetShapeEx64(array, &ndim, &shape));
    assert_int_equal(ndim, -1);
    MXNDArrayFree(array);
    assert_mx(MXSetIsNumpyShape(before, NULL));
    assert_mx_fails(MXSetIsNumpyShape(3, NULL), "3 is not");
}

static void test_dlpack(void **state) {
    (void)state;
    const float values[] = {1, 2, 3, 4};
    NDArrayHandle array = front_array(2, 2, values), same;
    DLManagedTensorHandle tensor;
    const float nine[] = {9, 9, 9, 9};
    assert_mx(MXNDArrayToDLPack(array, &tensor));
    assert_mx(MXNDArrayFromDLPackEx(tensor, false, &same));
    assert_mx(MXNDArraySyncCopyFromCPU(same, nine, 4));
    assert_float_equal(front_at(array, 0), 9, 0);
    MXNDArrayFree(same);
    assert_mx(MXNDArrayToDLPack(array, &tensor));
    assert_mx(MXNDArrayCallDLPackDeleter(tensor));
    MXNDArrayFree(array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_mistakes_are_reported),
        cmocka_unit_test(test_views_share_memory),
        cmocka_unit_test(test_reshape_codes),
        cmocka_unit_test(test_raw_bytes),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_numpy_shapes),
        cmocka_unit_test(test_dlpack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

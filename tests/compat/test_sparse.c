/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse arrays through MXNet's interface: made of parts and split into them, types of results, rows. */
#include <mxc/mxc.h>

#include "front.h"

enum { ROW_SPARSE = 1, CSR = 2 };

static NDArrayHandle sparse_zeros(int type, uint32_t rows, uint32_t columns) {
    const uint32_t shape[2] = {rows, columns};
    NDArrayHandle array;
    assert_mx(MXNDArrayCreateSparseEx(type, shape, 2, 1, 0, 0, 0, 0, NULL, NULL, NULL, &array));
    return array;
}

static NDArrayHandle indices_of(uint32_t n, const int64_t *values) {
    NDArrayHandle array;
    assert_mx(MXNDArrayCreateEx(&n, 1, 1, 0, 0, MXC_I64, &array));
    assert_mx(MXNDArraySyncCopyFromCPU(array, values, n));
    return array;
}

static NDArrayHandle numbers_of(uint32_t n, const float *values) {
    NDArrayHandle array;
    assert_mx(MXNDArrayCreateEx(&n, 1, 1, 0, 0, MXC_F32, &array));
    assert_mx(MXNDArraySyncCopyFromCPU(array, values, n));
    return array;
}

/* Sets a part and frees it. */
static void set_part(NDArrayHandle array, NDArrayHandle part, int i) {
    assert_mx(MXNDArraySyncCopyFromNDArray(array, part, i));
    MXNDArrayFree(part);
}

/* 3 rows of 4: (0,1,0,2), (0,0,0,0), (3,0,4,5), of the given type. */
static NDArrayHandle example(int type) {
    NDArrayHandle array = sparse_zeros(type, 3, 4);
    if (type == CSR) {
        set_part(array, numbers_of(5, (float[]){1, 2, 3, 4, 5}), -1);
        set_part(array, indices_of(4, (int64_t[]){0, 2, 2, 5}), 0);
        set_part(array, indices_of(5, (int64_t[]){1, 3, 0, 2, 3}), 1);
    } else {
        set_part(array, front_array(2, 4, (float[]){0, 1, 0, 2, 3, 0, 4, 5}), -1);
        set_part(array, indices_of(2, (int64_t[]){0, 2}), 0);
    }
    return array;
}

static void assert_storage(NDArrayHandle array, int expected) {
    int storage;
    assert_mx(MXNDArrayGetStorageType(array, &storage));
    assert_int_equal(storage, expected);
}

static void assert_indices(NDArrayHandle array, uint32_t i, int64_t n, const int64_t *expected) {
    NDArrayHandle part;
    const int64_t *shape;
    int64_t values[8];
    int ndim, type;
    assert_mx(MXNDArrayGetAuxType(array, i, &type));
    assert_int_equal(type, MXC_I64);
    assert_mx(MXNDArrayGetAuxNDArray(array, i, &part));
    assert_mx(MXNDArrayGetShapeEx64(part, &ndim, &shape));
    assert_int_equal(ndim, 1);
    assert_int_equal(shape[0], n);
    assert_mx(MXNDArraySyncCopyToCPU(part, values, (size_t)n));
    for (int64_t k = 0; k < n; k++)
        assert_int_equal(values[k], expected[k]);
    MXNDArrayFree(part);
}

static void test_parts(void **state) {
    (void)state;
    const float dense[12] = {0, 1, 0, 2, 0, 0, 0, 0, 3, 0, 4, 5};
    for (int type = ROW_SPARSE; type <= CSR; type++) {
        NDArrayHandle array = example(type), data;
        assert_storage(array, type);
        for (size_t i = 0; i < 12; i++)
            assert_float_equal(front_at(array, i), dense[i], 0);
        assert_mx(MXNDArraySyncCheckFormat(array, true));
        assert_mx(MXNDArrayGetDataNDArray(array, &data));
        assert_storage(data, 0);
        assert_float_equal(front_at(data, 4), type == CSR ? 5 : 3, 0);
        MXNDArrayFree(data);
        if (type == CSR) {
            assert_indices(array, 0, 4, (int64_t[]){0, 2, 2, 5});
            assert_indices(array, 1, 5, (int64_t[]){1, 3, 0, 2, 3});
        } else {
            assert_indices(array, 0, 2, (int64_t[]){0, 2});
        }
        MXNDArrayFree(array);
    }
}

/* Parts that do not fit leave the array 0, and are reported when the front end checks it. */
static void test_malformed_parts(void **state) {
    (void)state;
    static const struct {
        int64_t pointers[3], columns[2];
        const char *fault;
    } cases[] = {
        {{0, 1, 2}, {1, 9}, "out of range"}, {{0, 1, 2}, {-1, 1}, "out of range"}, {{0, 2, 2}, {1, 1}, "ascending"},
        {{0, 5, 2}, {0, 1}, "ascending"},    {{1, 1, 2}, {0, 1}, "indptr"},
    };
    NDArrayHandle array;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        array = sparse_zeros(CSR, 2, 3);
        set_part(array, numbers_of(2, (float[]){1, 2}), -1);
        set_part(array, indices_of(3, cases[i].pointers), 0);
        set_part(array, indices_of(2, cases[i].columns), 1);
        assert_mx_fails(MXNDArraySyncCheckFormat(array, true), cases[i].fault);
        assert_float_equal(front_at(array, 0), 0, 0);
        MXNDArrayFree(array);
    }
    array = sparse_zeros(ROW_SPARSE, 2, 3);
    set_part(array, front_filled(2, 3, 1), -1);
    set_part(array, indices_of(1, (int64_t[]){1}), 0);
    assert_mx_fails(MXNDArraySyncCheckFormat(array, true), "as many rows");
    set_part(array, front_filled(1, 2, 1), -1);
    assert_mx_fails(MXNDArraySyncCheckFormat(array, true), "shape");
    set_part(array, front_filled(1, 3, 1), -1);
    assert_mx(MXNDArraySyncCheckFormat(array, true));
    assert_float_equal(front_at(array, 3), 1, 0);
    MXNDArrayFree(array);
}

static void test_mistakes_are_reported(void **state) {
    (void)state;
    const uint32_t dims[9] = {2, 2, 2, 1, 1, 1, 1, 1, 1};
    NDArrayHandle array = NULL, dense = front_filled(2, 2, 1), part;
    int type;
    assert_mx_fails(MXNDArrayCreateSparseEx(3, dims, 2, 1, 0, 0, 0, 0, NULL, NULL, NULL, &array), "storage type 3");
    assert_mx_fails(MXNDArrayCreateSparseEx(CSR, dims, 3, 1, 0, 0, 0, 0, NULL, NULL, NULL, &array), "3 axes");
    assert_mx_fails(MXNDArrayCreateSparseEx(ROW_SPARSE, dims, 9, 1, 0, 0, 0, 0, NULL, NULL, NULL, &array), "9 axes");
    assert_mx_fails(MXNDArrayGetDataNDArray(dense, &part), "no part");
    assert_mx_fails(MXNDArrayGetAuxType(dense, 0, &type), "no part");
    assert_mx_fails(MXNDArraySyncCopyFromNDArray(dense, dense, 0), "dense");
    array = example(ROW_SPARSE);
    assert_mx_fails(MXNDArrayGetAuxNDArray(array, 1, &part), "no part");
    assert_mx_fails(MXNDArraySyncCopyFromNDArray(array, dense, 1), "no part");
    assert_mx_fails(MXNDArrayGetDataNDArray(NULL, &part), "NULL");
    MXNDArrayFree(array);
    MXNDArrayFree(dense);
}

/* Calls an operator of new outputs; the storage type of the first is returned, the array too unless out is NULL. */
static int call(const char *op, int n_in, NDArrayHandle *in, const char *key, const char *value, NDArrayHandle *out) {
    OpHandle creator;
    NDArrayHandle *outputs = NULL;
    const int *types;
    int n = 0, type;
    assert_mx(NNGetOpHandle(op, &creator));
    assert_mx(MXImperativeInvokeEx(creator, n_in, in, &n, &outputs, key ? 1 : 0, &key, &value, &types));
    assert_int_equal(n, 1);
    type = types[0];
    assert_storage(outputs[0], type);
    if (out)
        *out = outputs[0];
    else
        MXNDArrayFree(outputs[0]);
    return type;
}

static void test_types_of_results(void **state) {
    (void)state;
    NDArrayHandle csr = example(CSR), rows = example(ROW_SPARSE), dense = front_filled(3, 4, 2), made;
    NDArrayHandle both_csr[] = {csr, csr}, both_rows[] = {rows, rows}, mixed[] = {csr, dense}, turned[] = {dense, rows};
    assert_int_equal(call("abs", 1, &csr, NULL, NULL, NULL), CSR);
    assert_int_equal(call("abs", 1, &rows, NULL, NULL, NULL), ROW_SPARSE);
    assert_int_equal(call("exp", 1, &rows, NULL, NULL, NULL), 0);
    assert_int_equal(call("abs", 1, &dense, NULL, NULL, NULL), 0);
    assert_int_equal(call("_mul_scalar", 1, &csr, "scalar", "2", NULL), CSR);
    assert_int_equal(call("_plus_scalar", 1, &csr, "scalar", "2", NULL), 0);
    assert_int_equal(call("_greater_scalar", 1, &csr, "scalar", "0.5", NULL), CSR);
    assert_int_equal(call("_greater_scalar", 1, &csr, "scalar", "-0.5", NULL), 0);
    assert_int_equal(call("elemwise_add", 2, both_csr, NULL, NULL, NULL), CSR);
    assert_int_equal(call("elemwise_add", 2, mixed, NULL, NULL, NULL), 0);
    assert_int_equal(call("elemwise_mul", 2, mixed, NULL, NULL, NULL), CSR);
    assert_int_equal(call("elemwise_mul", 2, turned, NULL, NULL, NULL), ROW_SPARSE);
    assert_int_equal(call("add_n", 2, both_rows, NULL, NULL, NULL), ROW_SPARSE);
    assert_int_equal(call("add_n", 2, both_csr, NULL, NULL, NULL), 0);
    assert_int_equal(call("dot", 2, mixed, "transpose_a", "True", NULL), ROW_SPARSE);
    assert_int_equal(call("dot", 2, mixed, "transpose_b", "True", NULL), 0);
    assert_int_equal(call("cast_storage", 1, &csr, "stype", "default", NULL), 0);
    assert_int_equal(call("cast_storage", 1, &dense, "stype", "csr", &made), CSR);
    assert_float_equal(front_at(made, 11), 2, 0);
    MXNDArrayFree(made);
    NDArrayHandle all[] = {csr, rows, dense};
    for (int i = 0; i < 3; i++)
        MXNDArrayFree(all[i]);
}

static void test_retained_rows(void **state) {
    (void)state;
    NDArrayHandle rows = example(ROW_SPARSE), wanted = indices_of(2, (int64_t[]){2, 1}), made;
    NDArrayHandle in[] = {rows, wanted}, beyond[] = {rows, indices_of(1, (int64_t[]){3})};
    NDArrayHandle *outputs = NULL;
    OpHandle creator;
    int n = 0;
    assert_int_equal(call("_sparse_retain", 2, in, NULL, NULL, &made), ROW_SPARSE);
    assert_float_equal(front_at(made, 1), 0, 0);
    assert_float_equal(front_at(made, 8), 3, 0);
    assert_mx(NNGetOpHandle("_sparse_retain", &creator));
    assert_mx_fails(MXImperativeInvoke(creator, 2, beyond, &n, &outputs, 0, NULL, NULL), "row 3");
    assert_mx_fails(MXImperativeInvoke(creator, 1, in, &n, &outputs, 0, NULL, NULL), "2 arrays");
    NDArrayHandle all[] = {rows, wanted, made, beyond[1]};
    for (int i = 0; i < 4; i++)
        MXNDArrayFree(all[i]);
}

/* weight -= 0.1 (grad + weight) in the rows of the gradient, or with lazy_update=False in all. */
static void test_lazy_updates(void **state) {
    (void)state;
    const char *keys[] = {"lr", "wd", "lazy_update"};
    OpHandle creator;
    assert_mx(NNGetOpHandle("sgd_update", &creator));
    for (int lazy = 0; lazy <= 1; lazy++) {
        NDArrayHandle weight = front_filled(3, 4, 1), grad = example(ROW_SPARSE);
        NDArrayHandle in[] = {weight, grad}, *out = &weight;
        const char *values[] = {"0.1", "1", lazy ? "True" : "False"};
        int n = 1;
        assert_mx(MXImperativeInvoke(creator, 2, in, &n, &out, 3, keys, values));
        assert_float_equal(front_at(weight, 1), 0.8f, 1e-6f);
        assert_float_equal(front_at(weight, 5), lazy ? 1 : 0.9f, 1e-6f);
        MXNDArrayFree(weight);
        MXNDArrayFree(grad);
    }
}

static void test_stored_rows_are_pulled(void **state) {
    (void)state;
    const char *key = "w";
    KVStoreHandle store;
    NDArrayHandle value = front_filled(3, 4, 7), out = sparse_zeros(ROW_SPARSE, 3, 4);
    NDArrayHandle wanted = indices_of(2, (int64_t[]){1, 1});
    assert_mx(MXKVStoreCreate("local", &store));
    assert_mx(MXKVStoreInitEx(store, 1, &key, &value));
    assert_mx(MXKVStorePullRowSparseEx(store, 1, &key, &out, &wanted, 0));
    assert_float_equal(front_at(out, 3), 0, 0);
    assert_float_equal(front_at(out, 4), 7, 0);
    assert_mx_fails(MXKVStorePullRowSparseEx(store, 1, &key, &value, &wanted, 0), "row_sparse only");
    MXKVStoreFree(store);
    NDArrayHandle all[] = {value, out, wanted};
    for (int i = 0; i < 3; i++)
        MXNDArrayFree(all[i]);
}

/* The front end gets a gradient of the type that it has attached. */
static void test_types_of_gradients(void **state) {
    (void)state;
    NDArrayHandle weight = front_filled(3, 4, 1), grad = sparse_zeros(ROW_SPARSE, 3, 4), found;
    const uint32_t write = 1;
    assert_mx(MXAutogradMarkVariables(1, &weight, &write, &grad));
    assert_mx(MXNDArrayGetGrad(weight, &found));
    assert_storage(found, ROW_SPARSE);
    NDArrayHandle all[] = {weight, grad, found};
    for (int i = 0; i < 3; i++)
        MXNDArrayFree(all[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_malformed_parts),
        cmocka_unit_test(test_mistakes_are_reported),
        cmocka_unit_test(test_types_of_results),
        cmocka_unit_test(test_retained_rows),
        cmocka_unit_test(test_lazy_updates),
        cmocka_unit_test(test_stored_rows_are_pulled),
        cmocka_unit_test(test_types_of_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

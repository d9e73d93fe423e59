/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributed stores over MPI. Run by itself it is one worker; under mpirun each process runs every test, and is right
 * only if all of them are.
 */
#include <math.h>

#include "base/sys.h"
#include "kvstore/kvstore.h"
#include "support.h"

static mxc_ndarray *filled(int64_t n, mxc_dtype dtype, double value) {
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_create(1, &n, dtype, mxc_cpu(0), &array));
    assert_ok(mxc_ndarray_fill(array, value));
    return array;
}

static mxc_kvstore *open_store(const char *setting, const char *value) {
    mxc_kvstore *store;
    assert_ok(mxc_kvstore_create_with("dist_sync", setting != NULL, &setting, &value, &store));
    return store;
}

/* Every worker has this value. */
static void expect_same(mxc_kvstore *store, int64_t value) {
    int64_t least = value, most = -value;
    assert_ok(mxci_kvstore_allreduce_min(store, "the least", &least));
    assert_ok(mxci_kvstore_allreduce_min(store, "the most", &most));
    assert_int_equal(least, value);
    assert_int_equal(-most, value);
}

/* Integers of every dtype are summed exactly, in one piece and in many. */
static void test_sums(void **state) {
    static const mxc_dtype dtypes[] = {MXC_F32, MXC_F64, MXC_F16, MXC_BF16, MXC_I32, MXC_I64};
    static const int64_t sizes[] = {1, 3, 1000, 70000};
    (void)state;
    mxc_kvstore *store = open_store("piece_bytes", "4096");
    int rank = mxc_kvstore_rank(store), size = mxc_kvstore_group_size(store);
    for (int d = 0; d < 6; d++)
        for (int s = 0; s < 4; s++) {
            char name[32];
            const char *key = name;
            float sum = (float)(size * (size + 1) / 2);
            mxc_ndarray *value = filled(sizes[s], dtypes[d], rank + 1), *found = filled(sizes[s], MXC_F32, 0);
            snprintf(name, sizeof name, "%s of %d", mxc_dtype_name(dtypes[d]), (int)sizes[s]);
            assert_ok(mxc_kvstore_init(store, 1, &key, &value));
            assert_ok(mxc_kvstore_pushpull(store, 1, &key, &value, &value, 0));
            assert_ok(mxc_ndarray_copy_to(value, found, 0));
            float *data = malloc((size_t)sizes[s] * sizeof *data);
            assert_ok(mxc_ndarray_get(found, data, (size_t)sizes[s] * sizeof *data));
            for (int64_t i = 0; i < sizes[s]; i++)
                assert_true(data[i] == sum);
            free(data);
            mxc_ndarray_release(value);
            mxc_ndarray_release(found);
        }
    mxc_kvstore_destroy(store);
}

static int64_t hash_of(mxc_ndarray *array) {
    size_t bytes = mxc_ndarray_bytes(array);
    unsigned char *data = malloc(bytes);
    uint64_t hash = 14695981039346656037u;
    assert_ok(mxc_ndarray_get(array, data, bytes));
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    free(data);
    return (int64_t)(hash >> 2);
}

/* Random gradients: the workers' weights have the same bits after every step, whatever the order in which gradients
 * become ready. */
static void train(const char *setting, const char *value) {
    enum { KEYS = 6, STEPS = 20 };
    static const int64_t sizes[KEYS] = {10, 300000, 64, 1, 4097, 50000};
    const char *names[] = {"momentum"}, *values[] = {"0.9"};
    mxc_kvstore *store = open_store(setting, value);
    mxc_optimizer *optimizer;
    mxc_ndarray *weights[KEYS], *grads[KEYS];
    const char *keys[KEYS] = {"a", "b", "c", "d", "e", "f"};
    assert_ok(mxc_optimizer_create("sgd", 1, names, values, &optimizer));
    assert_ok(mxc_kvstore_set_optimizer(store, optimizer));
    mxc_random_seed(7 + (uint64_t)mxc_kvstore_rank(store));
    for (int i = 0; i < KEYS; i++) {
        weights[i] = filled(sizes[i], MXC_F32, 0);
        grads[i] = filled(sizes[i], MXC_F32, 0);
        assert_ok(mxc_ndarray_fill_normal(weights[i], 0, 1));
    }
    assert_ok(mxc_kvstore_init(store, KEYS, keys, weights));
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < KEYS; i++)
            assert_ok(mxc_ndarray_fill_normal(grads[i], 0, 1));
        for (int i = KEYS - 2; i >= 0; i -= 2)
            assert_ok(mxc_kvstore_push(store, 2, &keys[i], &grads[i], -i));
        for (int i = KEYS - 1; i >= 0; i--)
            assert_ok(mxc_kvstore_pull(store, 1, &keys[i], &weights[i], -i));
        if (step % 5 == 4)
            for (int i = 0; i < KEYS; i++)
                expect_same(store, hash_of(weights[i]));
    }
    for (int i = 0; i < KEYS; i++) {
        mxc_ndarray_release(weights[i]);
        mxc_ndarray_release(grads[i]);
    }
    mxc_kvstore_destroy(store);
    mxc_optimizer_destroy(optimizer);
}

static void test_same_bits(void **state) {
    (void)state;
    train(NULL, NULL);
    train("piece_bytes", "16384");
    train("compression", "float16");
    train("compression", "bfloat16");
    train("compression", "2bit");
    train("shard", "true");
}

/* Several stores at a time; each goes its own way. */
static void test_two_stores(void **state) {
    (void)state;
    mxc_kvstore *a = open_store(NULL, NULL), *b = open_store(NULL, NULL);
    for (int i = 0; i < 20; i++) {
        assert_ok(mxc_kvstore_barrier(i % 3 ? a : b));
        expect_same(b, i);
    }
    mxc_kvstore_destroy(a);
    expect_same(b, 5);
    mxc_kvstore_destroy(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_two_stores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local store: sums in order, updaters and optimizers, several contexts, and every refusal. Covers
 * kvstore/kvstore.c and key.c.
 */
#include <mxc/op.h>

#include "base/sys.h"
#include "kvstore/fail_each.h"
#include "kvstore/kvstore.h"
#include "support.h"

enum { N = 4 };

static mxc_ndarray *filled(double value, mxc_context context) {
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_create(1, (int64_t[]){N}, MXC_F32, context, &array));
    assert_ok(mxc_ndarray_fill(array, value));
    return array;
}

static void expect_filled(mxc_ndarray *array, float expected) {
    float found[N];
    assert_ok(mxc_ndarray_get(array, found, sizeof found));
    for (int i = 0; i < N; i++)
        assert_true(found[i] == expected);
}

static mxc_kvstore *store_with(const char *key, double value) {
    mxc_kvstore *store;
    mxc_ndarray *array = filled(value, mxc_cpu(0));
    assert_ok(mxc_kvstore_create("local", &store));
    assert_ok(mxc_kvstore_init(store, 1, &key, &array));
    mxc_ndarray_release(array);
    return store;
}

static void pull_and_expect(mxc_kvstore *store, const char *key, float expected) {
    mxc_ndarray *out = filled(-1, mxc_cpu(0));
    assert_ok(mxc_kvstore_pull(store, 1, &key, &out, 0));
    expect_filled(out, expected);
    mxc_ndarray_release(out);
}

static void test_init_copies(void **state) {
    mxc_kvstore *store;
    mxc_ndarray *array = filled(3, mxc_cpu(2));
    const char *key = "w";
    (void)state;
    assert_ok(mxc_kvstore_create("local", &store));
    assert_ok(mxc_kvstore_init(store, 1, &key, &array));
    assert_ok(mxc_ndarray_fill(array, 9));
    pull_and_expect(store, "w", 3);
    assert_fails(mxc_kvstore_init(store, 1, &key, &array), MXC_EEXIST, "key \"w\"");
    assert_string_equal(mxc_kvstore_type(store), "local");
    assert_int_equal(mxc_kvstore_rank(store), 0);
    assert_int_equal(mxc_kvstore_group_size(store), 1);
    assert_ok(mxc_kvstore_barrier(store));
    mxc_kvstore_destroy(store);
    mxc_ndarray_release(array);
}

/* Values of one key are summed wherever they live, other keys between them. */
static void test_push_sums(void **state) {
    mxc_kvstore *store = store_with("a", 0);
    const char *keys[] = {"a", "b", "a", "a", "b"};
    mxc_ndarray *values[5], *outs[5];
    mxc_ndarray *first = filled(7, mxc_cpu(0));
    (void)state;
    assert_ok(mxc_kvstore_init(store, 1, &keys[1], &first));
    for (int i = 0; i < 5; i++) {
        values[i] = filled(1 << i, mxc_cpu(i % 3));
        outs[i] = filled(-1, mxc_cpu(i % 3));
    }
    for (int round = 0; round < 3; round++) {
        assert_ok(mxc_kvstore_push(store, 5, keys, values, 0));
        assert_ok(mxc_kvstore_pull(store, 5, keys, outs, 0));
        for (int i = 0; i < 5; i++)
            expect_filled(outs[i], i == 1 || i == 4 ? 2 + 16 : 1 + 4 + 8);
    }
    assert_ok(mxc_kvstore_push(store, 2, keys, values, 0)); /* one each now */
    pull_and_expect(store, "a", 1);
    pull_and_expect(store, "b", 2);
    assert_ok(mxc_kvstore_push(store, 0, NULL, NULL, 0));
    for (int i = 0; i < 5; i++) {
        mxc_ndarray_release(values[i]);
        mxc_ndarray_release(outs[i]);
    }
    mxc_ndarray_release(first);
    mxc_kvstore_destroy(store);
}

/* A sum's bits depend on the order of the values, never on timing. */
static void test_sum_order_is_fixed(void **state) {
    mxc_kvstore *store = store_with("w", 0);
    const char *keys[8];
    mxc_ndarray *values[8];
    float expected = 0;
    (void)state;
    for (int i = 0; i < 8; i++) {
        float v = 1.0f / (float)(3 + 7 * i) * (i % 2 ? 1e4f : 1e-3f);
        keys[i] = "w";
        values[i] = filled((double)v, mxc_cpu(i));
        expected += v;
    }
    for (int round = 0; round < TEST_SCALE(200); round++) {
        assert_ok(mxc_kvstore_push(store, 8, keys, values, 0));
        pull_and_expect(store, "w", expected);
    }
    for (int i = 0; i < 8; i++)
        mxc_ndarray_release(values[i]);
    mxc_kvstore_destroy(store);
}

static mxc_status add_twice(const char *key, mxc_ndarray *sum, mxc_ndarray *stored, void *user) {
    (void)sum;
    *(int *)user += 1;
    if (strcmp(key, "bad") == 0)
        return MXC_FAIL(MXC_EUSER, "mine: no such thing");
    mxc_ndarray *in[2] = {stored, sum};
    const char *num = "num_args", *two = "2";
    return mxc_invoke_into("add_n", 2, in, 1, &num, &two, 1, &stored);
}

static void test_updater(void **state) {
    mxc_kvstore *store = store_with("w", 10), *bad = store_with("bad", 1);
    const char *keys[] = {"w", "w"}, *bad_key = "bad";
    mxc_ndarray *values[2] = {filled(1, mxc_cpu(0)), filled(2, mxc_cpu(0))};
    int calls = 0;
    (void)state;
    mxc_kvstore_set_updater(store, add_twice, &calls);
    assert_ok(mxc_kvstore_push(store, 2, keys, values, 0));
    assert_ok(mxc_kvstore_push(store, 1, keys, values, 0));
    assert_int_equal(calls, 2);
    pull_and_expect(store, "w", 14);
    mxc_kvstore_set_updater(store, NULL, NULL);
    assert_ok(mxc_kvstore_push(store, 1, keys, values, 0));
    pull_and_expect(store, "w", 1);
    mxc_kvstore_set_updater(bad, add_twice, &calls);
    assert_fails(mxc_kvstore_push(bad, 1, &bad_key, values, 0), MXC_EUSER, "mine: no such thing");
    pull_and_expect(bad, "bad", 1);
    mxc_ndarray_release(values[0]);
    mxc_ndarray_release(values[1]);
    mxc_kvstore_destroy(store);
    mxc_kvstore_destroy(bad);
}

static void test_optimizer_and_adoption(void **state) {
    const char *key = "w", *rate = "learning_rate", *half = "0.5";
    mxc_kvstore *store;
    mxc_optimizer *optimizer;
    mxc_ndarray *weight = filled(10, mxc_cpu(0)), *grad = filled(4, mxc_cpu(1));
    (void)state;
    assert_ok(mxc_kvstore_create("local", &store));
    assert_ok(mxc_optimizer_create("sgd", 1, &rate, &half, &optimizer));
    assert_ok(mxci_kvstore_adopt(store, key, weight));
    assert_status(mxci_kvstore_adopt(store, key, weight), MXC_EEXIST);
    assert_ok(mxc_kvstore_set_optimizer(store, optimizer));
    assert_ok(mxc_kvstore_push(store, 1, &key, &grad, 0));
    expect_filled(weight, 8);
    assert_ok(mxc_kvstore_pull(store, 1, &key, &weight, 0));
    expect_filled(weight, 8);
    pull_and_expect(store, "w", 8);
    mxc_kvstore_destroy(store);
    mxc_optimizer_destroy(optimizer);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(grad);
}

static void test_refusals(void **state) {
    mxc_kvstore *store = store_with("w", 1), *none;
    const char *key = "w", *absent = "v", *null_key = NULL;
    mxc_ndarray *good = filled(5, mxc_cpu(0)), *small, *doubles, *null_array = NULL;
    (void)state;
    assert_ok(mxc_ndarray_create(1, (int64_t[]){2}, MXC_F32, mxc_cpu(0), &small));
    assert_ok(mxc_ndarray_create(1, (int64_t[]){N}, MXC_F64, mxc_cpu(0), &doubles));
    assert_fails(mxc_kvstore_create("dist_cync", &none), MXC_ENOTFOUND, "there are local, device, dist_sync");
    assert_null(none);
    assert_fails(mxc_kvstore_push(store, 1, &absent, &good, 0), MXC_ENOTFOUND, "key \"v\" was not initialised");
    assert_fails(mxc_kvstore_pull(store, 1, &absent, &good, 0), MXC_ENOTFOUND, "key \"v\"");
    assert_fails(mxc_kvstore_push(store, 1, &null_key, &good, 0), MXC_ENOTFOUND, "(null)");
    assert_fails(mxc_kvstore_push(store, 1, &key, &small, 0), MXC_ESHAPE, "has shape (4,), given (2,)");
    assert_fails(mxc_kvstore_pull(store, 1, &key, &small, 0), MXC_ESHAPE, "has shape (4,), given (2,)");
    assert_fails(mxc_kvstore_push(store, 1, &key, &doubles, 0), MXC_EDTYPE, "is float32, given float64");
    assert_fails(mxc_kvstore_push(store, 1, &key, &null_array, 0), MXC_EINVAL, "NULL");
    assert_fails(mxc_kvstore_push(store, 1, NULL, &good, 0), MXC_EINVAL, "keys");
    assert_fails(mxc_kvstore_push(NULL, 1, &key, &good, 0), MXC_EINVAL, "store");
    assert_fails(mxc_kvstore_init(store, 1, &null_key, &good), MXC_EINVAL, "NULL");
    assert_fails(mxc_kvstore_init(store, -1, &key, &good), MXC_EINVAL, "n is -1");
    assert_fails(mxc_kvstore_barrier(NULL), MXC_EINVAL, "store");
    /* a push that names one bad key changes nothing */
    const char *both[] = {"w", "v"};
    mxc_ndarray *values[] = {good, good};
    assert_status(mxc_kvstore_push(store, 2, both, values, 0), MXC_ENOTFOUND);
    pull_and_expect(store, "w", 1);
    mxc_kvstore_set_updater(NULL, NULL, NULL);
    assert_status(mxc_kvstore_set_optimizer(NULL, NULL), MXC_EINVAL);
    mxc_kvstore_destroy(NULL);
    mxc_ndarray_release(good);
    mxc_ndarray_release(small);
    mxc_ndarray_release(doubles);
    mxc_kvstore_destroy(store);
}

/* A failure in queued work shows where the pulled array is waited for, and goes with the next good push. */
static mxc_status failing(const mxc_run *run, void *arg) {
    (void)run;
    (void)arg;
    return MXC_FAIL(MXC_EUSER, "mine: broken sum");
}

static void test_failure_travels(void **state) {
    mxc_kvstore *store = store_with("w", 1);
    const char *key = "w";
    mxc_ndarray *value = filled(5, mxc_cpu(0)), *out = filled(0, mxc_cpu(0));
    mxc_task task = MXC_TASK_INIT;
    mxc_var *var = mxc_ndarray_var(value);
    (void)state;
    task.fn = failing;
    assert_ok(mxc_ndarray_wait_to_write(value));
    MXC_IGNORE(mxc_engine_push(mxc_var_engine(var), &task, 0, NULL, 1, &var, 0));
    assert_ok(mxc_kvstore_push(store, 1, &key, &value, 0));
    assert_ok(mxc_kvstore_pull(store, 1, &key, &out, 0));
    assert_fails(mxc_ndarray_wait_to_read(out), MXC_EUSER, "mine: broken sum");
    assert_ok(mxc_ndarray_fill(value, 6));
    assert_ok(mxc_kvstore_push(store, 1, &key, &value, 0));
    assert_ok(mxc_kvstore_pull(store, 1, &key, &out, 0));
    expect_filled(out, 6);
    mxc_kvstore_destroy(store);
    mxc_ndarray_release(value);
    mxc_ndarray_release(out);
}

static void test_every_allocation_failing(void **state) {
    (void)state;
    fail_each_allocation("local", mxc_cpu(0), mxc_cpu(1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_init_copies),
        cmocka_unit_test(test_push_sums),
        cmocka_unit_test(test_sum_order_is_fixed),
        cmocka_unit_test(test_updater),
        cmocka_unit_test(test_optimizer_and_adoption),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_failure_travels),
        cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

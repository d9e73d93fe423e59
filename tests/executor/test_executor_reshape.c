/* SPDX-License-Identifier: Apache-2.0 */
/* Reshaping and shared memory: executors of several shapes over one set of parameters and one arena. */
#include "executor/nets.h"

#include <mxc/storage.h>

static const char *const inputs[] = {"data", "softmax_label"};

static mxc_executor *reshape(mxc_executor *e, int64_t batch, int up) {
    mxc_shape shapes[2] = {net_shape(2, batch, 12, 0, 0), net_shape(1, batch, 0, 0, 0)};
    mxc_executor *out;
    assert_ok(mxc_executor_reshape(e, 0, up, 2, inputs, shapes, &out));
    return out;
}

static void train(mxc_executor *e) {
    net_fill(mxc_executor_find_arg(e, "data"), 4, -1, 1);
    net_fill_labels(mxc_executor_find_arg(e, "softmax_label"), 10);
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_executor_backward(e, 0, NULL));
}

static mxc_executor *fresh(mxc_symbol *s, int64_t batch) {
    mxc_shape shape = net_shape(2, batch, 12, 0, 0);
    mxc_executor *e = net_bind(s, NULL, &shape, 1);
    net_fill_all(e, 9, 10);
    return e;
}

static void assert_same_step(mxc_executor *a, mxc_executor *b) {
    train(a);
    train(b);
    assert_same_bits(mxc_executor_output(a, 0), mxc_executor_output(b, 0));
    assert_same_bits(mxc_executor_find_grad(a, "fc1_weight"), mxc_executor_find_grad(b, "fc1_weight"));
}

static void test_reshape(void **state) {
    mxc_symbol *s = net_mlp(32, 10);
    mxc_executor *e = fresh(s, 8), *small = reshape(e, 4, 0), *large = reshape(e, 64, 1);
    mxc_executor *plain_small = fresh(s, 4), *plain_large = fresh(s, 64), *plain = fresh(s, 8);
    (void)state;
    assert_ptr_equal(mxc_executor_find_arg(e, "fc1_weight"), mxc_executor_find_arg(small, "fc1_weight"));
    assert_ptr_equal(mxc_executor_find_grad(e, "fc2_bias"), mxc_executor_find_grad(large, "fc2_bias"));
    for (int round = 0; round < 3; round++) { /* the arena has grown under the first two */
        assert_same_step(e, plain);
        assert_same_step(small, plain_small);
        assert_same_step(large, plain_large);
    }
    mxc_executor_destroy(e); /* the others live on */
    assert_same_step(small, plain_small);
    mxc_executor_destroy(small);
    mxc_executor_destroy(large);
    mxc_executor_destroy(plain);
    mxc_executor_destroy(plain_small);
    mxc_executor_destroy(plain_large);
    mxc_symbol_release(s);
}

static void test_refused(void **state) {
    static const char *const absent[] = {"absent"};
    mxc_symbol *s = net_mlp(32, 10);
    mxc_executor *e = fresh(s, 8), *out;
    mxc_shape larger[2] = {net_shape(2, 16, 12, 0, 0), net_shape(1, 16, 0, 0, 0)};
    mxc_shape wider[2] = {net_shape(2, 8, 6, 0, 0), net_shape(1, 8, 0, 0, 0)};
    (void)state;
    assert_fails(mxc_executor_reshape(e, 0, 0, 2, inputs, larger, &out), MXC_ESHAPE, "(16,12)");
    assert_null(out);
    assert_fails(mxc_executor_reshape(e, 0, 1, 1, absent, larger, &out), MXC_ENOTFOUND, "absent");
    assert_fails(mxc_executor_reshape(e, 0, 0, 2, inputs, wider, &out), MXC_ESHAPE, "fc1_weight");
    assert_ok(mxc_executor_reshape(e, 1, 0, 2, inputs, wider, &out));
    assert_int_equal(mxc_ndarray_shape(mxc_executor_find_arg(out, "fc1_weight"))->dim[1], 6);
    train(out);
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_find_grad(out, "fc1_weight")));
    mxc_executor_destroy(out);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

/* The growing arena keeps what forward left for backward. */
static void test_growth_between_passes(void **state) {
    mxc_symbol *s = net_mlp(32, 10);
    mxc_executor *e = fresh(s, 8), *plain = fresh(s, 8), *large;
    (void)state;
    train(plain);
    net_fill(mxc_executor_find_arg(e, "data"), 4, -1, 1);
    net_fill_labels(mxc_executor_find_arg(e, "softmax_label"), 10);
    assert_ok(mxc_executor_forward(e, 1));
    large = reshape(e, 64, 1);
    assert_ok(mxc_executor_backward(e, 0, NULL));
    assert_same_bits(mxc_executor_find_grad(e, "fc1_weight"), mxc_executor_find_grad(plain, "fc1_weight"));
    mxc_executor_destroy(large);
    mxc_executor_destroy(e);
    mxc_executor_destroy(plain);
    mxc_symbol_release(s);
}

/* Buckets: other symbols over the same arguments, memory taken once. */
static void test_buckets(void **state) {
    mxc_symbol *s = net_mlp(32, 10);
    mxc_executor *first = fresh(s, 64), *buckets[4];
    mxc_storage_stats before, after;
    mxc_memory_report report;
    (void)state;
    assert_ok(mxc_executor_get_report(first, &report));
    assert_ok(mxc_storage_get_stats(mxc_cpu(0), &before));
    for (int i = 0; i < 4; i++)
        buckets[i] = reshape(first, 64 - 8 * (i + 1), 0);
    assert_ok(mxc_storage_get_stats(mxc_cpu(0), &after));
    assert_true(after.bytes_in_use - before.bytes_in_use < report.internal_planned);
    for (int i = 0; i < 4; i++) {
        mxc_executor *plain = fresh(s, 64 - 8 * (i + 1));
        assert_same_step(buckets[i], plain);
        mxc_executor_destroy(plain);
        mxc_executor_destroy(buckets[i]);
    }
    mxc_executor_destroy(first);
    mxc_symbol_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reshape),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_growth_between_passes),
        cmocka_unit_test(test_buckets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

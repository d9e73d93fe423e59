/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of create, bind, train and destroy fails once: clean errors, nothing leaks, and the process goes on.
 */
#include "executor/nets.h"

#include "base/sys.h"

static mxc_status train_once(mxc_symbol *s, const mxc_bind_options *options) {
    static const char *const inputs[] = {"data", "softmax_label"};
    mxc_shape shapes[2] = {net_shape(2, 4, 6, 0, 0), net_shape(1, 4, 0, 0, 0)};
    mxc_executor *e = NULL, *small = NULL;
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 2, .names = inputs, .shapes = shapes, .req = MXC_REQ_WRITE};
    mxc_status status = mxc_executor_simple_bind(s, options, &spec, &e);
    shapes[0].dim[0] = shapes[1].dim[0] = 2;
    if (status == MXC_OK)
        status = mxc_executor_reshape(e, 0, 0, 2, inputs, shapes, &small);
    if (status == MXC_OK)
        status = mxc_executor_forward(small, 1);
    if (status == MXC_OK)
        status = mxc_executor_backward(small, 0, NULL);
    if (status == MXC_OK)
        status = mxc_ndarray_wait_to_read(mxc_executor_find_grad(small, "fc1_weight"));
    if (small)
        MXC_IGNORE(mxc_ndarray_wait_to_write(mxc_executor_output(small, 0)));
    mxc_executor_destroy(small);
    mxc_executor_destroy(e);
    return status;
}

static void settle(void) {
    mxc_engine *engine;
    assert_ok(mxc_engine_default(&engine));
    MXC_IGNORE(mxc_wait_all(engine));
}

static void fail_each(mxc_symbol *s, const mxc_bind_options *options) {
    int64_t n, live;
    int failed = 0;
    assert_ok(train_once(s, options)); /* what is made once for the process */
    settle();
    n = mxci_alloc_count();
    assert_ok(train_once(s, options));
    settle();
    n = mxci_alloc_count() - n;
    live = mxci_alloc_live();
    for (int64_t at = 1; at <= n; at++) {
        mxc_status status;
        mxci_test_fail_alloc(at, 0);
        status = train_once(s, options);
        settle();
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        failed += status != MXC_OK;
    }
    assert_true(failed > n / 2); /* some blocks are only for speed */
    assert_ok(train_once(s, options));
    settle();
    assert_in_range(mxci_alloc_live(), live - 64, live + 64); /* pools and the engine keep some blocks for reuse */
    mxc_symbol_release(s);
}

static void test_plain(void **state) {
    (void)state;
    fail_each(net_mlp(8, 3), NULL);
}

static void test_groups(void **state) {
    static const char *const names[] = {"left", "right"};
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_symbol *s = net_mlp(8, 3), *all, *layer;
    (void)state;
    assert_ok(mxc_symbol_internals(s, &all));
    assert_ok(mxc_symbol_find_output(all, "fc2_output", &layer));
    assert_ok(mxc_symbol_set_attr(layer, "ctx_group", "right"));
    mxc_symbol_release(layer);
    mxc_symbol_release(all);
    options.n_groups = 2;
    options.group_names = names;
    options.group_contexts = contexts;
    fail_each(s, &options);
}

static void test_recompute(void **state) {
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    (void)state;
    options.recompute = MXC_RECOMPUTE_ALL;
    fail_each(net_mlp(8, 3), &options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_recompute),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

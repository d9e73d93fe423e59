/* SPDX-License-Identifier: Apache-2.0 */
/* Memory plans: what they promise for the two nets that the project is measured by, and that options do what they say.
 */
#include "executor/nets.h"

static void check_order(const mxc_memory_report *r) {
    assert_true(r->internal_unplanned >= r->internal_inplace);
    assert_true(r->internal_inplace >= r->internal_planned);
    assert_true(r->internal_planned > 0 && r->n_nodes > 0 && r->n_internal_arrays > 0);
}

static void test_lenet(void **state) {
    mxc_symbol *s = net_lenet();
    mxc_shape data = net_shape(4, 64, 1, 28, 28);
    mxc_memory_report train = net_plan(s, NULL, &data, 1), predict = net_plan(s, NULL, &data, 0);
    (void)state;
    check_order(&train);
    check_order(&predict);
    assert_true(train.internal_planned * 2 <= train.internal_unplanned);
    assert_true(predict.internal_planned * 4 <= predict.internal_unplanned);
    assert_int_equal(train.gradients, train.arguments - 64 * 28 * 28 * 4 - 64 * 4);
    assert_int_equal(predict.gradients, 0);
    assert_int_equal(train.outputs, 64 * 10 * 4);
    mxc_symbol_release(s);
}

static void test_resnet20(void **state) {
    mxc_symbol *s = net_resnet20();
    mxc_shape data = net_shape(4, 32, 3, 32, 32);
    mxc_memory_report train = net_plan(s, NULL, &data, 1), predict = net_plan(s, NULL, &data, 0);
    mxc_bind_options cheap = MXC_BIND_OPTIONS_INIT, all = MXC_BIND_OPTIONS_INIT;
    mxc_memory_report train_cheap, train_all;
    (void)state;
    cheap.recompute = MXC_RECOMPUTE_CHEAP;
    all.recompute = MXC_RECOMPUTE_ALL;
    train_cheap = net_plan(s, &cheap, &data, 1);
    train_all = net_plan(s, &all, &data, 1);
    check_order(&train);
    assert_true(train.internal_planned * 2 <= train.internal_unplanned);
    assert_true(predict.internal_planned * 4 <= predict.internal_unplanned);
    assert_true(train_cheap.internal_planned * 4 <= train.internal_planned * 3);
    assert_true(train_all.internal_planned < train_cheap.internal_planned);
    assert_true(train_all.n_nodes > train.n_nodes);
    mxc_symbol_release(s);
}

static void test_options(void **state) {
    mxc_symbol *s = net_mlp(64, 10);
    mxc_shape data = net_shape(2, 32, 100, 0, 0);
    mxc_bind_options apart = MXC_BIND_OPTIONS_INIT;
    mxc_memory_report r;
    (void)state;
    apart.no_inplace = apart.no_sharing = 1;
    r = net_plan(s, &apart, &data, 1);
    assert_int_equal(r.internal_planned, r.internal_inplace);
    apart.no_inplace = 0;
    r = net_plan(s, &apart, &data, 1);
    assert_true(r.internal_inplace < r.internal_unplanned);
    assert_int_equal(r.internal_planned, r.internal_inplace);
    mxc_symbol_release(s);
}

/* The plan is what binding allocates. */
static void test_plan_is_bound(void **state) {
    mxc_symbol *s = net_mlp(64, 10);
    mxc_shape data = net_shape(2, 32, 100, 0, 0);
    mxc_memory_report planned = net_plan(s, NULL, &data, 1), bound;
    mxc_executor *e = net_bind(s, NULL, &data, 1);
    char *text;
    (void)state;
    assert_ok(mxc_executor_get_report(e, &bound));
    assert_memory_equal(&planned, &bound, sizeof bound);
    assert_ok(mxc_memory_report_print(&bound, &text));
    assert_non_null(strstr(text, "in place and shared"));
    mxc_free(text);
    assert_ok(mxc_executor_print(e, &text));
    assert_non_null(strstr(text, "fc2_backward"));
    assert_non_null(strstr(text, "MiB allocated"));
    mxc_free(text);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

/* A plan takes no longer for more rows, also if their number has no divisors. */
static void test_many_rows(void **state) {
    mxc_symbol *s = net_lenet();
    mxc_shape data = net_shape(4, 1000000000039, 1, 28, 28);
    mxc_memory_report predict = net_plan(s, NULL, &data, 0);
    (void)state;
    check_order(&predict);
    mxc_symbol_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lenet),         cmocka_unit_test(test_resnet20),  cmocka_unit_test(test_options),
        cmocka_unit_test(test_plan_is_bound), cmocka_unit_test(test_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

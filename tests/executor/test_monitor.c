/* SPDX-License-Identifier: Apache-2.0 */
/* Monitors see every node's results, by name, and may read them. */
#include "executor/nets.h"

typedef struct seen {
    int n;
    char names[32][64];
    double first[32];
} seen;

static void look(const char *name, mxc_ndarray *array, void *user) {
    seen *s = user;
    float value = 0;
    mxc_ndarray *row = NULL;
    if (s->n == 32)
        return;
    snprintf(s->names[s->n], sizeof s->names[0], "%s", name);
    if (mxc_ndarray_slice(array, 0, 1, &row) == MXC_OK && mxc_ndarray_bytes(row) == sizeof value &&
        mxc_ndarray_get(row, &value, sizeof value) == MXC_OK)
        s->first[s->n] = value;
    mxc_ndarray_release(row);
    s->n++;
}

static int has(const seen *s, const char *name) {
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->names[i], name) == 0)
            return 1;
    return 0;
}

static void test_names(void **state) {
    mxc_symbol *s = net_mlp(8, 3);
    mxc_shape shape = net_shape(2, 4, 5, 0, 0);
    mxc_executor *e = net_bind(s, NULL, &shape, 1);
    seen all = {0};
    (void)state;
    net_fill_all(e, 1, 3);
    assert_ok(mxc_executor_set_monitor(e, look, &all));
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_output(e, 0)));
    assert_int_equal(all.n, 6);
    assert_true(has(&all, "fc1_output") && has(&all, "relu1_output") && has(&all, "fc2_output"));
    assert_true(has(&all, "relu2_output") && has(&all, "fc3_output") && has(&all, "softmax_output"));
    assert_ok(mxc_executor_backward(e, 0, NULL));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_find_grad(e, "fc1_weight")));
    assert_true(has(&all, "fc1_backward_weight") && has(&all, "softmax_backward_data"));
    assert_false(has(&all, "fc1_backward_data"));
    all.n = 0;
    assert_ok(mxc_executor_set_monitor(e, NULL, NULL));
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_output(e, 0)));
    assert_int_equal(all.n, 0);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

/* Inputs are shown before the node changes its states, and hidden outputs where they are asked for. */
static void test_more(void **state) {
    const char *all[] = {"bn_data",       "bn_gamma",  "bn_beta", "bn_moving_mean",
                         "bn_moving_var", "bn_output", "bn_mean", "bn_var"};
    mxc_symbol *s = net_on("BatchNorm", "bn", "momentum=0", net_variable("x"));
    mxc_shape shape = net_shape(2, 2, 3, 0, 0);
    const char *name = "x";
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = &name, .shapes = &shape, .req = MXC_REQ_WRITE};
    mxc_executor *e;
    seen found = {0};
    (void)state;
    assert_ok(mxc_executor_simple_bind(s, NULL, &spec, &e));
    assert_ok(mxc_ndarray_fill(mxc_executor_find_arg(e, "x"), 3));
    assert_ok(mxc_ndarray_fill(mxc_executor_find_aux(e, "bn_moving_mean"), 7));
    assert_ok(mxc_executor_set_monitor(e, look, &found));
    assert_ok(mxc_executor_set_monitored(e, 1, 1));
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_output(e, 0)));
    assert_int_equal(found.n, 8);
    for (int i = 0; i < 8; i++)
        assert_string_equal(found.names[i], all[i]);
    assert_true(found.first[3] == 7 && found.first[6] == 3);
    found.n = 0;
    assert_ok(mxc_executor_set_monitored(e, 0, 0));
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_output(e, 0)));
    assert_int_equal(found.n, 1);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

static void test_values(void **state) {
    mxc_symbol *s =
        net_on("_mul_scalar", "twice", "scalar=2", net_on("_plus_scalar", "more", "scalar=1", net_variable("x")));
    int64_t dims[1] = {2};
    mxc_ndarray *x;
    mxc_executor *e;
    seen all = {0};
    (void)state;
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &x));
    assert_ok(mxc_ndarray_fill(x, 3));
    assert_ok(mxc_executor_bind(s, NULL, &x, NULL, NULL, NULL, &e));
    assert_ok(mxc_executor_set_monitor(e, look, &all));
    assert_ok(mxc_executor_forward(e, 0));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_output(e, 0)));
    assert_int_equal(all.n, 2);
    assert_string_equal(all.names[0], "more_output");
    assert_true(all.first[0] == 4 && all.first[1] == 8);
    mxc_executor_destroy(e);
    mxc_ndarray_release(x);
    mxc_symbol_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_more),
                                       cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

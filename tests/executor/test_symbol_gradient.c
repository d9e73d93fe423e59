/* SPDX-License-Identifier: Apache-2.0 */
/* The gradient of a symbol as a symbol: bound and run, named, kept in a file, refused. */
#include "executor/nets.h"

#include <math.h>

static void assert_close(mxc_ndarray *a, mxc_ndarray *b) {
    double *x = net_read(a), *y = net_read(b);
    assert_int_equal(mxc_ndarray_size(a), mxc_ndarray_size(b));
    for (int64_t i = 0; i < mxc_ndarray_size(a); i++)
        assert_true(fabs(x[i] - y[i]) <= 1e-5 * (1 + fabs(x[i])));
    free(x);
    free(y);
}

/* Bind the gradient to the arrays of e and compare with what backward of e wrote. */
static void compare_with_backward(mxc_symbol *gradient, mxc_executor *e, int n, const char *const *names) {
    mxc_ndarray *args[32];
    mxc_names have;
    mxc_executor *g;
    assert_ok(mxc_symbol_list_arguments(gradient, &have));
    assert_true(have.n <= 32);
    for (int64_t i = 0; i < have.n; i++)
        args[i] = mxc_executor_find_arg(e, have.items[i]);
    assert_ok(mxc_executor_bind(gradient, NULL, args, NULL, NULL, NULL, &g));
    assert_ok(mxc_executor_forward(g, 1));
    for (int64_t i = 0; i < n; i++)
        assert_close(mxc_executor_output(g, i), mxc_executor_find_grad(e, names[i]));
    mxc_executor_destroy(g);
    mxc_names_release(&have);
}

static void test_lenet(void **state) {
    static const char *const names[] = {"fc2_bias", "conv1_weight", "conv2_bias", "fc1_weight"};
    mxc_symbol *s = net_lenet(), *gradient, *again;
    mxc_shape shape = net_shape(4, 4, 1, 28, 28);
    mxc_executor *e = net_bind(s, NULL, &shape, 1);
    mxc_names outputs;
    char *json;
    (void)state;
    net_fill_all(e, 3, 10);
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_executor_backward(e, 0, NULL));
    assert_ok(mxc_symbol_grad(s, 4, names, &gradient));
    assert_ok(mxc_symbol_list_outputs(gradient, &outputs));
    assert_int_equal(outputs.n, 4);
    assert_string_equal(outputs.items[1], "conv1_backward_weight_grad");
    mxc_names_release(&outputs);
    compare_with_backward(gradient, e, 4, names);
    assert_ok(mxc_symbol_to_json(gradient, &json));
    assert_ok(mxc_symbol_from_json(json, strlen(json), &again));
    compare_with_backward(again, e, 4, names);
    mxc_free(json);
    mxc_symbol_release(again);
    mxc_symbol_release(gradient);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

/* An argument that no gradient reaches has zeros. */
static void test_zero(void **state) {
    static const char *const names[] = {"x", "y"};
    mxc_symbol *x = net_variable("x"), *y = net_variable("y"), *s, *gradient;
    int64_t dims[1] = {3};
    mxc_ndarray *args[2];
    mxc_executor *e;
    double *dx, *dy;
    (void)state;
    x = net_on("_mul_scalar", "twice", "scalar=2", x);
    s = net_on2("elemwise_add", "sum", "", x, net_on("BlockGrad", "b", "", y));
    assert_ok(mxc_symbol_grad(s, 2, names, &gradient));
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &args[0]));
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &args[1]));
    assert_ok(mxc_ndarray_fill(args[0], 1));
    assert_ok(mxc_ndarray_fill(args[1], 1));
    assert_ok(mxc_executor_bind(gradient, NULL, args, NULL, NULL, NULL, &e));
    assert_ok(mxc_executor_forward(e, 0));
    dx = net_read(mxc_executor_output(e, 0));
    dy = net_read(mxc_executor_output(e, 1));
    assert_true(dx[0] == 2 && dx[2] == 2 && dy[0] == 0 && dy[2] == 0);
    free(dx);
    free(dy);
    mxc_executor_destroy(e);
    mxc_ndarray_release(args[0]);
    mxc_ndarray_release(args[1]);
    mxc_symbol_release(gradient);
    mxc_symbol_release(s);
}

static void test_refused(void **state) {
    static const char *const names[] = {"x", "absent"};
    mxc_symbol *s = net_on("tanh", "y", "", net_variable("x")), *gradient, *second;
    (void)state;
    assert_fails(mxc_symbol_grad(s, 2, names, &gradient), MXC_ENOTFOUND, "absent");
    assert_null(gradient);
    assert_fails(mxc_symbol_grad(s, 0, names, &gradient), MXC_EINVAL, "found 0");
    assert_ok(mxc_symbol_grad(s, 1, names, &gradient));
    assert_fails(mxc_symbol_grad(gradient, 1, names, &second), MXC_EUNSUPPORTED, "tanh");
    mxc_symbol_release(gradient);
    mxc_symbol_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lenet),
        cmocka_unit_test(test_zero),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a hostile or careless caller may bind: senseless parameters, deep and wide graphs, one name twice, NULL. */
#include "executor/nets.h"

static const char *const data_name[] = {"data"};

/* A file with one operator on data (2,3,8,8), by itself: read, bound and run if that is possible. The message of what
 * failed; NULL if nothing did. */
static const char *try_op(const char *op, const char *attrs) {
    char json[1024];
    mxc_shape shape = net_shape(4, 2, 3, 8, 8);
    mxc_symbol *s;
    mxc_executor *e = NULL;
    mxc_status status;
    int weights = strcmp(op, "Convolution") == 0 || strcmp(op, "FullyConnected") == 0;
    snprintf(json, sizeof json,
             "{\"nodes\":[{\"op\":\"null\",\"name\":\"data\",\"inputs\":[]},"
             "{\"op\":\"null\",\"name\":\"w\",\"inputs\":[]},{\"op\":\"null\",\"name\":\"b\",\"inputs\":[]},"
             "{\"op\":\"%s\",\"name\":\"node\",\"attrs\":{%s},"
             "\"inputs\":[[0,0]%s]}],\"heads\":[[3,0]]}",
             op, attrs, weights ? ",[1,0],[2,0]" : "");
    status = mxc_symbol_from_json(json, strlen(json), &s);
    if (status == MXC_OK)
        status = mxc_executor_simple_bind(
            s, NULL, NET_SPEC(.n = 1, .names = data_name, .shapes = &shape, .req = MXC_REQ_WRITE), &e);
    if (status == MXC_OK)
        status = mxc_executor_forward(e, 1);
    if (status == MXC_OK)
        status = mxc_ndarray_wait_to_read(mxc_executor_output(e, 0));
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
    return status == MXC_OK ? NULL : mxc_last_error();
}

#define KERNEL "\"num_filter\":\"4\",\"kernel\":"

/* Each must be refused, and the message must hold the text. */
static const struct senseless {
    const char *op, *attrs, *text;
} senseless[] = {
    {"Convolution", KERNEL "\"(0,0)\"", "kernel"},
    {"Convolution", KERNEL "\"(-1,2)\"", "kernel"},
    {"Convolution", KERNEL "\"(2,2,2,2,2,2,2)\"", "kernel"},
    {"Convolution", KERNEL "\"(9,9)\"", "kernel"},
    {"Convolution", KERNEL "\"(3,3)\",\"stride\":\"(0,1)\"", "stride"},
    {"Convolution", KERNEL "\"(3,3)\",\"dilate\":\"(0,1)\"", "dilate"},
    {"Convolution", KERNEL "\"(3,3)\",\"dilate\":\"(2147483647,2147483647)\"", "node"},
    {"Convolution", KERNEL "\"(3,3)\",\"pad\":\"(2147483647,2147483647)\"", "larger than memory"},
    {"Convolution", KERNEL "\"(3,3)\",\"pad\":\"(-1,0)\"", "pad"},
    {"Convolution", KERNEL "\"(3,3)\",\"num_group\":\"2\"", "num_group"},
    {"Convolution", KERNEL "\"(3,3)\",\"num_group\":\"0\"", "num_group"},
    {"Convolution", KERNEL "\"(3,3)\",\"stride\":\"(1,1,1)\"", "stride"},
    {"Convolution", "\"kernel\":\"(3,3)\",\"num_filter\":\"0\"", "num_filter"},
    {"Convolution", "\"kernel\":\"(3,3)\",\"num_filter\":\"4611686018427387904\"", "num_filter"},
    {"Convolution", "\"kernel\":\"(3,3)\"", "num_filter"},
    {"Pooling", "\"kernel\":\"(0,0)\",\"pool_type\":\"max\"", "kernel"},
    {"Pooling", "\"kernel\":\"(2,2)\",\"stride\":\"(0,0)\",\"pool_type\":\"max\"", "stride"},
    {"Pooling", "\"kernel\":\"(2,2)\",\"pool_type\":\"least\"", "pool_type"},
    {"Pooling", "\"kernel\":\"(2,2)\",\"pad\":\"(-1,0)\",\"pool_type\":\"max\"", "pad"},
    {"FullyConnected", "\"num_hidden\":\"0\"", "num_hidden"},
    {"FullyConnected", "\"num_hidden\":\"4611686018427387904\"", "num_hidden"},
    {"FullyConnected", "\"num_hidden\":\"1e3\"", "num_hidden"},
    {"Reshape", "\"shape\":\"(-1,-1)\"", "shape"},
    {"Reshape", "\"shape\":\"(5,7)\"", "node"},
    {"Dropout", "\"p\":\"1.5\"", "p"},
    {"Dropout", "\"p\":\"nan\"", "p"},
    {"Concat", "\"num_args\":\"-1\"", "num_args"},
    {"Concat", "\"num_args\":\"999999999\"", "num_args"},
    {"Concat", "\"num_args\":\"1\",\"dim\":\"9\"", "dim"},
    {"Cast", "\"dtype\":\"complex\"", "dtype"},
};

static void test_senseless_parameters(void **state) {
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++) {
        const char *message = try_op(senseless[i].op, senseless[i].attrs);
        if (message && strstr(message, senseless[i].text))
            continue;
        wrong++;
        print_error("%s with %s: %s\n", senseless[i].op, senseless[i].attrs, message ? message : "accepted");
    }
    assert_int_equal(wrong, 0);
    assert_null(try_op("Convolution", KERNEL "\"(3,3)\"")); /* and the process goes on */
}

/* ---- large graphs ----------------------------------------------------------------------------------------------- */

static mxc_ndarray *new_vector(double value) {
    int64_t dims[1] = {2};
    mxc_ndarray *x;
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &x));
    assert_ok(mxc_ndarray_fill(x, value));
    return x;
}

/* Bind, run forward and backward; the first element of the output and of x's gradient. */
static void run_on_vector(mxc_symbol *s, float *y, float *dx) {
    mxc_ndarray *x = new_vector(1), *grad = new_vector(0), *head = new_vector(1);
    mxc_executor *e;
    float pair[2];
    assert_ok(mxc_executor_bind(s, NULL, &x, &grad, NULL, NULL, &e));
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_executor_backward(e, 1, &head));
    assert_ok(mxc_ndarray_get(mxc_executor_output(e, 0), pair, sizeof pair));
    *y = pair[0];
    assert_ok(mxc_ndarray_get(grad, pair, sizeof pair));
    *dx = pair[0];
    mxc_executor_destroy(e);
    mxc_ndarray_release(x);
    mxc_ndarray_release(grad);
    mxc_ndarray_release(head);
}

/* No recursion, and memory that does not grow with the depth. */
static void test_deep(void **state) {
    int n = TEST_SCALE(20000);
    mxc_symbol *s = net_variable("x");
    float y, dx;
    (void)state;
    for (int i = 0; i < n; i++)
        s = net_on("negative", NULL, "", s);
    run_on_vector(s, &y, &dx);
    assert_true(y == (n % 2 ? -1 : 1) && dx == y);
    mxc_symbol_release(s);
}

/* One operator with many inputs, one variable with as many users. */
static void test_wide(void **state) {
    enum { MOST = 5000 };
    int n = TEST_SCALE(MOST);
    mxc_symbol *x = net_variable("x"), **in = malloc(sizeof *in * MOST), *sum;
    float y, dx;
    (void)state;
    for (int i = 0; i < n; i++)
        in[i] = net_on("_mul_scalar", NULL, "scalar=2", mxc_symbol_retain(x));
    assert_ok(mxc_symbol_op("add_n", "sum", 0, NULL, NULL, n, NULL, in, &sum));
    run_on_vector(sum, &y, &dx);
    assert_true(y == 2 * (float)n && dx == 2 * (float)n);
    for (int i = 0; i < n; i++)
        mxc_symbol_release(in[i]);
    free(in);
    mxc_symbol_release(sum);
    mxc_symbol_release(x);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* Two variables of one name are two arguments; what is said of the name goes for both. */
static void test_one_name_twice(void **state) {
    mxc_symbol *s = net_on2("dot", "y", "", net_variable("data"), net_variable("data"));
    mxc_shape square = net_shape(2, 3, 3, 0, 0), oblong = net_shape(2, 3, 4, 0, 0);
    mxc_executor *e, *smaller;
    (void)state;
    assert_ok(mxc_executor_simple_bind(
        s, NULL, NET_SPEC(.n = 1, .names = data_name, .shapes = &square, .req = MXC_REQ_WRITE), &e));
    assert_int_equal(mxc_executor_arg_names(e)->n, 2);
    assert_ptr_not_equal(mxc_executor_arg(e, 0), mxc_executor_arg(e, 1));
    assert_null(mxc_executor_grad(e, 1));
    assert_ok(mxc_executor_forward(e, 0));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_output(e, 0)));
    assert_ok(mxc_executor_reshape(e, 1, 0, 0, NULL, NULL, &smaller));
    mxc_executor_destroy(smaller);
    mxc_executor_destroy(e);
    assert_status(mxc_executor_simple_bind(
                      s, NULL, NET_SPEC(.n = 1, .names = data_name, .shapes = &oblong, .req = MXC_REQ_WRITE), &e),
                  MXC_ESHAPE);
    mxc_symbol_release(s);
}

/* ---- misuse ----------------------------------------------------------------------------------------------------- */

static void test_null(void **state) {
    mxc_symbol *s = net_mlp(8, 3), *gradient;
    mxc_shape shape = net_shape(2, 4, 5, 0, 0);
    mxc_executor *e = net_bind(s, NULL, &shape, 1), *out;
    mxc_memory_report report;
    int64_t left;
    char *text;
    (void)state;
    assert_fails(mxc_executor_bind(NULL, NULL, NULL, NULL, NULL, NULL, &out), MXC_EINVAL, "symbol");
    assert_status(mxc_executor_bind(s, NULL, NULL, NULL, NULL, NULL, NULL), MXC_EINVAL);
    assert_status(mxc_executor_simple_bind(s, NULL, NET_SPEC(.n = 1, .shapes = &shape), &out), MXC_EINVAL);
    assert_status(
        mxc_executor_simple_bind(s, NULL, NET_SPEC(.n = 1, .names = data_name, .shapes = &shape, .n_no_grad = 1), &out),
        MXC_EINVAL);
    assert_status(mxc_executor_plan(NULL, NULL, NULL, &report), MXC_EINVAL);
    assert_status(mxc_memory_report_print(NULL, &text), MXC_EINVAL);
    assert_status(mxc_executor_forward(NULL, 0), MXC_EINVAL);
    assert_status(mxc_executor_partial_forward(e, 0, 0, NULL), MXC_EINVAL);
    assert_status(mxc_executor_partial_forward(NULL, 0, 0, &left), MXC_EINVAL);
    assert_status(mxc_executor_backward(NULL, 0, NULL), MXC_EINVAL);
    assert_status(mxc_executor_backward(e, 1, NULL), MXC_EINVAL);
    assert_status(mxc_executor_set_monitor(NULL, NULL, NULL), MXC_EINVAL);
    assert_status(mxc_executor_reshape(e, 0, 0, 1, NULL, &shape, &out), MXC_EINVAL);
    assert_status(mxc_executor_get_report(NULL, &report), MXC_EINVAL);
    assert_status(mxc_executor_print(e, NULL), MXC_EINVAL);
    assert_status(mxc_symbol_grad(s, 1, NULL, &gradient), MXC_EINVAL);
    assert_null(mxc_executor_arg(NULL, 0));
    assert_null(mxc_executor_find_arg(e, NULL));
    assert_null(mxc_executor_find_grad(NULL, "data"));
    assert_null(mxc_executor_arg_names(NULL));
    assert_null(mxc_executor_symbol(NULL));
    mxc_executor_destroy(NULL);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_senseless_parameters), cmocka_unit_test(test_deep), cmocka_unit_test(test_wide),
        cmocka_unit_test(test_one_name_twice),       cmocka_unit_test(test_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

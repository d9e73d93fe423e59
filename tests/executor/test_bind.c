/* SPDX-License-Identifier: Apache-2.0 */
/* Binding: what is made, what is refused and with which words. */
#include "executor/nets.h"

#include "base/sys.h"

static const char *const names[] = {"data", "softmax_label", "fc2_weight"};

static mxc_ndarray *array(int ndim, int64_t a, int64_t b, mxc_dtype dtype, mxc_context context) {
    int64_t dims[2] = {a, b};
    mxc_ndarray *out;
    assert_ok(mxc_ndarray_create(ndim, dims, dtype, context, &out));
    return out;
}

/* y = fc(x): arguments x (4,3), fc_weight (2,3), fc_bias (2). */
typedef struct layer {
    mxc_symbol *symbol;
    mxc_ndarray *args[3], *grads[3];
    mxc_executor *executor;
} layer;

static void make_layer(layer *l) {
    l->symbol = net_on("FullyConnected", "fc", "num_hidden=2", net_variable("x"));
    l->args[0] = array(2, 4, 3, MXC_F32, mxc_cpu(0));
    l->args[1] = array(2, 2, 3, MXC_F32, mxc_cpu(0));
    l->args[2] = array(1, 2, 0, MXC_F32, mxc_cpu(0));
    l->grads[0] = array(2, 4, 3, MXC_F32, mxc_cpu(0));
    l->grads[1] = array(2, 2, 3, MXC_F32, mxc_cpu(0));
    l->grads[2] = array(1, 2, 0, MXC_F32, mxc_cpu(0));
    l->executor = NULL;
}

static void free_layer(layer *l) {
    mxc_executor_destroy(l->executor);
    for (int i = 0; i < 3; i++) {
        mxc_ndarray_release(l->args[i]);
        mxc_ndarray_release(l->grads[i]);
    }
    mxc_symbol_release(l->symbol);
}

static void replace(mxc_ndarray **slot, mxc_ndarray *with) {
    mxc_ndarray_release(*slot);
    *slot = with;
}

static void test_wrong_shape(void **state) {
    layer l;
    (void)state;
    make_layer(&l);
    replace(&l.args[1], array(2, 2, 5, MXC_F32, mxc_cpu(0)));
    l.executor = (mxc_executor *)&l;
    assert_fails(mxc_executor_bind(l.symbol, NULL, l.args, NULL, NULL, NULL, &l.executor), MXC_ESHAPE,
                 "FullyConnected");
    assert_null(l.executor);
    assert_non_null(strstr(mxc_last_error(), "fc"));
    assert_non_null(strstr(mxc_last_error(), "weight"));
    assert_non_null(strstr(mxc_last_error(), "(2,3)"));
    assert_non_null(strstr(mxc_last_error(), "(2,5)"));
    free_layer(&l);
}

static void test_wrong_arrays(void **state) {
    layer l;
    mxc_ndarray *kept;
    mxc_req reqs[3] = {MXC_REQ_WRITE, MXC_REQ_INPLACE, MXC_REQ_NULL};
    (void)state;
    make_layer(&l);
    kept = l.args[2];
    l.args[2] = NULL;
    assert_fails(mxc_executor_bind(l.symbol, NULL, l.args, NULL, NULL, NULL, &l.executor), MXC_EINVAL, "fc_bias");
    assert_fails(mxc_executor_bind(l.symbol, NULL, NULL, NULL, NULL, NULL, &l.executor), MXC_EINVAL, "3 arguments");
    l.args[2] = kept;
    assert_fails(mxc_executor_bind(l.symbol, NULL, l.args, l.grads, reqs, NULL, &l.executor), MXC_EINVAL, "fc_weight");
    replace(&l.grads[1], NULL);
    reqs[1] = MXC_REQ_ADD;
    assert_fails(mxc_executor_bind(l.symbol, NULL, l.args, l.grads, reqs, NULL, &l.executor), MXC_EINVAL, "fc_weight");
    replace(&l.grads[1], array(2, 3, 2, MXC_F32, mxc_cpu(0)));
    assert_fails(mxc_executor_bind(l.symbol, NULL, l.args, l.grads, NULL, NULL, &l.executor), MXC_ESHAPE, "(3,2)");
    replace(&l.grads[1], array(2, 2, 3, MXC_F64, mxc_cpu(0)));
    assert_fails(mxc_executor_bind(l.symbol, NULL, l.args, l.grads, NULL, NULL, &l.executor), MXC_EDTYPE, "float64");
    replace(&l.grads[1], array(2, 2, 3, MXC_F32, mxc_cpu(1)));
    assert_fails(mxc_executor_bind(l.symbol, NULL, l.args, l.grads, NULL, NULL, &l.executor), MXC_EDEVICE, "cpu(1)");
    replace(&l.args[0], array(2, 4, 3, MXC_F64, mxc_cpu(0)));
    assert_status(mxc_executor_bind(l.symbol, NULL, l.args, NULL, NULL, NULL, &l.executor), MXC_EDTYPE);
    assert_null(l.executor);
    free_layer(&l);
}

static void test_options_refused(void **state) {
    layer l;
    mxc_bind_options o = MXC_BIND_OPTIONS_INIT;
    (void)state;
    make_layer(&l);
    o.size = 0;
    assert_fails(mxc_executor_bind(l.symbol, &o, l.args, NULL, NULL, NULL, &l.executor), MXC_EINVAL,
                 "mxc_bind_options_init");
    o.size = sizeof o;
    o.bulk_nodes = -1;
    assert_fails(mxc_executor_bind(l.symbol, &o, l.args, NULL, NULL, NULL, &l.executor), MXC_EINVAL, "bulk_nodes");
    o.bulk_nodes = 0;
    o.n_groups = 1;
    assert_fails(mxc_executor_bind(l.symbol, &o, l.args, NULL, NULL, NULL, &l.executor), MXC_EINVAL, "groups");
    o.n_groups = 0;
    o.recompute = (mxc_recompute)3;
    assert_fails(mxc_executor_bind(l.symbol, &o, l.args, NULL, NULL, NULL, &l.executor), MXC_EINVAL, "recompute");
    o.recompute = MXC_RECOMPUTE_NONE;
    o.size = offsetof(mxc_bind_options, shared); /* a caller built against an older header */
    assert_ok(mxc_executor_bind(l.symbol, &o, l.args, NULL, NULL, NULL, &l.executor));
    free_layer(&l);
}

static void test_simple_bind(void **state) {
    mxc_symbol *s = net_mlp(8, 3);
    mxc_shape shapes[2] = {net_shape(2, 5, 4, 0, 0), net_shape(1, 5, 0, 0, 0)};
    mxc_dtype types[2] = {MXC_F64, MXC_F64};
    mxc_executor *e;
    (void)state;
    assert_ok(mxc_executor_simple_bind(s, NULL,
                                       NET_SPEC(.n = 2, .names = names, .shapes = shapes, .types = types,
                                                .req = MXC_REQ_WRITE, .n_no_grad = 1, .no_grad = names + 2),
                                       &e));
    assert_int_equal(mxc_executor_arg_names(e)->n, 8);
    assert_ptr_equal(mxc_executor_symbol(e), s);
    assert_int_equal(mxc_ndarray_shape(mxc_executor_find_arg(e, "fc1_weight"))->dim[1], 4);
    assert_int_equal(mxc_ndarray_dtype(mxc_executor_find_arg(e, "fc3_bias")), MXC_F64);
    assert_non_null(mxc_executor_find_grad(e, "fc1_weight"));
    assert_null(mxc_executor_find_grad(e, "fc2_weight"));
    assert_null(mxc_executor_find_grad(e, "data"));
    assert_null(mxc_executor_find_arg(e, "absent"));
    assert_null(mxc_executor_arg(e, 8));
    assert_null(mxc_executor_arg(e, -1));
    assert_null(mxc_executor_aux(e, 0));
    assert_null(mxc_executor_output(e, 1));
    assert_int_equal(mxc_ndarray_shape(mxc_executor_output(e, 0))->dim[1], 3);
    mxc_executor_destroy(e);
    assert_ok(mxc_executor_simple_bind(s, NULL, NET_SPEC(.n = 1, .names = names, .shapes = shapes), &e));
    assert_int_equal(mxc_ndarray_dtype(mxc_executor_find_arg(e, "fc1_weight")), MXC_F32);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

static void test_simple_bind_refused(void **state) {
    static const char *const absent[] = {"absent"};
    mxc_symbol *s = net_mlp(8, 3);
    mxc_shape shapes[2] = {net_shape(2, 5, 4, 0, 0), net_shape(1, 6, 0, 0, 0)};
    mxc_executor *e;
    (void)state;
    assert_fails(mxc_executor_simple_bind(s, NULL, &(mxc_bind_spec){.n = 1}, &e), MXC_EINVAL, "mxc_bind_spec_init");
    assert_fails(mxc_executor_simple_bind(s, NULL, NULL, &e), MXC_ESHAPE, "data");
    assert_non_null(strstr(mxc_last_error(), "fc1_weight"));
    assert_null(e);
    assert_status(mxc_executor_simple_bind(s, NULL, NET_SPEC(.n = 1, .names = absent, .shapes = shapes), &e),
                  MXC_ENOTFOUND);
    assert_status(mxc_executor_simple_bind(s, NULL,
                                           NET_SPEC(.n = 1, .names = names, .shapes = shapes, .req = MXC_REQ_WRITE,
                                                    .n_no_grad = 1, .no_grad = absent),
                                           &e),
                  MXC_ENOTFOUND);
    assert_fails(mxc_executor_simple_bind(s, NULL, NET_SPEC(.n = 2, .names = names, .shapes = shapes), &e), MXC_ESHAPE,
                 "label");
    mxc_symbol_release(s);
}

/* Outputs that are arguments, and one output twice. */
static void test_output_is_argument(void **state) {
    mxc_symbol *x = net_variable("x"), *y = net_on("tanh", "y", "", mxc_symbol_retain(x)), *s;
    mxc_symbol *parts[3] = {x, y, y};
    mxc_ndarray *arg = array(2, 2, 2, MXC_F32, mxc_cpu(0)), *grad = array(2, 2, 2, MXC_F32, mxc_cpu(0)), *heads[3];
    mxc_executor *e;
    double *g, *h;
    (void)state;
    assert_ok(mxc_symbol_group(3, parts, &s));
    net_fill(arg, 3, -1, 1);
    assert_ok(mxc_executor_bind(s, NULL, &arg, &grad, NULL, NULL, &e));
    assert_ptr_equal(mxc_executor_output(e, 0), arg);
    assert_ptr_equal(mxc_executor_output(e, 1), mxc_executor_output(e, 2));
    for (int i = 0; i < 3; i++) {
        heads[i] = array(2, 2, 2, MXC_F32, mxc_cpu(0));
        net_fill(heads[i], 10, i ? 0 : 2, i ? 0 : 2);
    }
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_executor_backward(e, 3, heads));
    g = net_read(grad);
    h = net_read(heads[0]);
    for (int i = 0; i < 4; i++)
        assert_true(g[i] == h[i]); /* the argument's own head passes through, the others are zero */
    free(g);
    free(h);
    for (int i = 0; i < 3; i++)
        mxc_ndarray_release(heads[i]);
    mxc_executor_destroy(e);
    mxc_ndarray_release(arg);
    mxc_ndarray_release(grad);
    mxc_symbol_release(s);
    mxc_symbol_release(x);
    mxc_symbol_release(y);
}

/* No argument shape matters to an empty batch. */
static void test_empty_batch(void **state) {
    mxc_symbol *s = net_mlp(8, 3);
    mxc_shape data = net_shape(2, 0, 4, 0, 0);
    mxc_executor *e = net_bind(s, NULL, &data, 1);
    (void)state;
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_executor_backward(e, 0, NULL));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_find_grad(e, "fc1_weight")));
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_shape),         cmocka_unit_test(test_wrong_arrays),
        cmocka_unit_test(test_options_refused),     cmocka_unit_test(test_simple_bind),
        cmocka_unit_test(test_simple_bind_refused), cmocka_unit_test(test_output_is_argument),
        cmocka_unit_test(test_empty_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

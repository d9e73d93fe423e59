/* SPDX-License-Identifier: Apache-2.0 */
/* Device groups: parts of a net on two contexts, cpu(0) and cpu(1) unless the command names others, with copies between
 * them. */
#include "executor/nets.h"

#include <math.h>

static mxc_symbol *grouped(const char *group, const char *op, const char *name, const char *params, mxc_symbol *in) {
    static const char *const key[] = {"ctx_group"};
    mxc_symbol *s;
    assert_ok(mxc_attr_scope_enter(1, key, &group));
    s = net_on(op, name, params, in);
    mxc_attr_scope_leave();
    return s;
}

static mxc_context contexts[2] = {{MXC_CPU, 0}, {MXC_CPU, 1}};

/* Two groups in turn, and an input that both use. */
static mxc_symbol *make_net(void) {
    mxc_symbol *x = net_variable("data"), *a, *b;
    a = grouped("one", "FullyConnected", "fc1", "num_hidden=16", mxc_symbol_retain(x));
    a = grouped("one", "Activation", "act1", "act_type=tanh", a);
    b = grouped("two", "FullyConnected", "fc2", "num_hidden=16", mxc_symbol_retain(a));
    b = grouped("two", "Activation", "act2", "act_type=relu", b);
    a = net_on2("elemwise_add", "sum", "", a, b);
    mxc_symbol_release(x);
    a = grouped("two", "FullyConnected", "fc3", "num_hidden=5", a);
    return net_on("SoftmaxOutput", "softmax", "", a);
}

/* Terms of a gradient's sum may arrive in another order. */
static void assert_close(mxc_ndarray *a, mxc_ndarray *b) {
    double *x = net_read(a), *y = net_read(b);
    for (int64_t i = 0; i < mxc_ndarray_size(a); i++)
        assert_true(fabs(x[i] - y[i]) <= 1e-5 * (1 + fabs(x[i])));
    free(x);
    free(y);
}

static void assert_same(mxc_ndarray *a, mxc_ndarray *b) {
    if (contexts[0].device == MXC_CPU && contexts[1].device == MXC_CPU)
        assert_same_bits(a, b);
    else
        assert_close(a, b);
}

static const char *const groups[] = {"one", "two"};

static void options_for(mxc_bind_options *o) {
    *o = (mxc_bind_options)MXC_BIND_OPTIONS_INIT;
    o->n_groups = 2;
    o->group_names = groups;
    o->group_contexts = contexts;
}

static void test_groups(void **state) {
    mxc_bind_options options;
    mxc_symbol *s = make_net();
    mxc_shape shape = net_shape(2, 8, 6, 0, 0);
    mxc_executor *one = net_bind(s, NULL, &shape, 1), *two;
    const mxc_names *names = mxc_executor_arg_names(one);
    (void)state;
    options_for(&options);
    two = net_bind(s, &options, &shape, 1);
    assert_true(mxc_context_equal(mxc_ndarray_context(mxc_executor_find_arg(two, "fc1_weight")), contexts[0]));
    assert_true(mxc_context_equal(mxc_ndarray_context(mxc_executor_find_arg(two, "fc2_weight")), contexts[1]));
    assert_true(mxc_context_equal(mxc_ndarray_context(mxc_executor_find_grad(two, "fc3_bias")), contexts[1]));
    net_fill_all(one, 3, 5);
    net_fill_all(two, 3, 5);
    for (int round = 0; round < 20; round++) {
        assert_ok(mxc_executor_forward(one, 1));
        assert_ok(mxc_executor_forward(two, 1));
        assert_ok(mxc_executor_backward(one, 0, NULL));
        assert_ok(mxc_executor_backward(two, 0, NULL));
    }
    assert_same(mxc_executor_output(one, 0), mxc_executor_output(two, 0));
    for (int64_t i = 0; i < names->n; i++)
        if (mxc_executor_grad(one, i))
            assert_close(mxc_executor_grad(one, i), mxc_executor_grad(two, i));
    mxc_executor_destroy(one);
    mxc_executor_destroy(two);
    mxc_symbol_release(s);
}

/* Auxiliary states live where the operator that changes them runs. */
static void test_auxiliary_states(void **state) {
    mxc_bind_options options;
    mxc_shape shape = net_shape(4, 6, 3, 5, 5);
    mxc_symbol *s = net_variable("data");
    mxc_executor *one, *two;
    (void)state;
    options_for(&options);
    s = grouped("one", "Convolution", "conv", "kernel=(3,3) num_filter=4", s);
    s = grouped("two", "BatchNorm", "bn", "fix_gamma=False", s);
    s = net_on("SoftmaxOutput", "softmax", "", grouped("one", "FullyConnected", "fc", "num_hidden=5", s));
    one = net_bind(s, NULL, &shape, 1);
    two = net_bind(s, &options, &shape, 1);
    assert_true(mxc_context_equal(mxc_ndarray_context(mxc_executor_find_aux(two, "bn_moving_var")), contexts[1]));
    assert_true(mxc_context_equal(mxc_ndarray_context(mxc_executor_find_arg(two, "bn_gamma")), contexts[1]));
    net_fill_all(one, 3, 5);
    net_fill_all(two, 3, 5);
    for (int round = 0; round < 3; round++) {
        assert_ok(mxc_executor_forward(one, 1));
        assert_ok(mxc_executor_forward(two, 1));
        assert_ok(mxc_executor_backward(one, 0, NULL));
        assert_ok(mxc_executor_backward(two, 0, NULL));
    }
    assert_same(mxc_executor_aux(one, 0), mxc_executor_aux(two, 0));
    assert_same(mxc_executor_aux(one, 1), mxc_executor_aux(two, 1));
    assert_close(mxc_executor_find_grad(one, "conv_weight"), mxc_executor_find_grad(two, "conv_weight"));
    mxc_executor_destroy(one);
    mxc_executor_destroy(two);
    mxc_symbol_release(s);
}

static void test_wrong_context(void **state) {
    mxc_bind_options options;
    mxc_symbol *s = make_net();
    mxc_shape shape = net_shape(2, 8, 6, 0, 0);
    mxc_executor *one = net_bind(s, NULL, &shape, 0), *out;
    mxc_ndarray *args[16];
    char text[32];
    (void)state;
    options_for(&options);
    for (int64_t i = 0; i < mxc_executor_arg_names(one)->n; i++)
        args[i] = mxc_executor_arg(one, i);
    assert_fails(mxc_executor_bind(s, &options, args, NULL, NULL, NULL, &out), MXC_EDEVICE,
                 mxc_context_format(contexts[contexts[0].device == MXC_CPU], text, sizeof text));
    assert_non_null(strstr(mxc_last_error(), contexts[0].device == MXC_CPU ? "fc2_weight" : "data"));
    mxc_executor_destroy(one);
    mxc_symbol_release(s);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_auxiliary_states),
        cmocka_unit_test(test_wrong_context),
    };
    for (int i = 0; i < 2 && i + 1 < argc; i++)
        if (mxc_context_parse(argv[i + 1], &contexts[i]) != MXC_OK)
            return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters by name: loaded into an executor, and bound with. */
#include "executor/nets.h"

enum { MOST = 6 };

/* A convolution and a BatchNorm: arguments data, conv_weight, conv_bias, bn_gamma, bn_beta; states bn_moving_mean,
 * bn_moving_var. */
static mxc_symbol *net(void) {
    return net_on("BatchNorm", "bn", "fix_gamma=0",
                  net_on("Convolution", "conv", "kernel=(1,1) num_filter=2", net_variable("data")));
}

/* Parameters of that net, named as MXNet's files name them ("arg:", "aux:") or plainly; array i holds i + 1. */
typedef struct given {
    mxc_ndarray *arrays[MOST + 1];
    char *names[MOST + 1];
    mxc_ndarray_list list;
} given;

static mxc_ndarray *array(int ndim, const int64_t *dims, mxc_dtype dtype, double value) {
    mxc_ndarray *out;
    assert_ok(mxc_ndarray_create(ndim, dims, dtype, mxc_cpu(0), &out));
    assert_ok(mxc_ndarray_fill(out, value));
    return out;
}

static void open_given(given *g, int plain, int64_t channels) {
    static char *names[2][MOST] = {
        {"arg:conv_weight", "arg:conv_bias", "arg:bn_gamma", "arg:bn_beta", "aux:bn_moving_mean", "aux:bn_moving_var"},
        {"conv_weight", "conv_bias", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"},
    };
    for (int i = 0; i < MOST; i++) {
        const int64_t weight[4] = {2, channels, 1, 1};
        g->arrays[i] = array(i == 0 ? 4 : 1, weight, MXC_F32, i + 1);
        g->names[i] = names[plain][i];
    }
    g->list = (mxc_ndarray_list){MOST, g->arrays, g->names};
}

static void close_given(given *g) {
    for (int i = 0; i < MOST; i++)
        mxc_ndarray_release(g->arrays[i]);
}

static const char *const input = "data";

static mxc_executor *bind(mxc_symbol *symbol) {
    mxc_shape shape = {.ndim = 4, .dim = {1, 3, 2, 2}};
    mxc_executor *out;
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = &input, .shapes = &shape};
    assert_ok(mxc_executor_simple_bind(symbol, NULL, &spec, &out));
    return out;
}

static float first_of(mxc_ndarray *a) {
    float all[64];
    assert_non_null(a);
    assert_ok(mxc_ndarray_get(a, all, (size_t)mxc_shape_size(mxc_ndarray_shape(a)) * sizeof(float)));
    return all[0];
}

static void expect_loaded(const mxc_executor *e) {
    assert_true(first_of(mxc_executor_find_arg(e, "conv_weight")) == 1);
    assert_true(first_of(mxc_executor_find_arg(e, "bn_beta")) == 4);
    assert_true(first_of(mxc_executor_find_aux(e, "bn_moving_mean")) == 5);
    assert_true(first_of(mxc_executor_find_aux(e, "bn_moving_var")) == 6);
}

static void test_both_ways_of_naming(void **state) {
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        given g;
        mxc_symbol *symbol = net();
        mxc_executor *e = bind(symbol);
        open_given(&g, plain, 3);
        assert_ok(mxc_executor_load_params(e, &g.list, 0, 1, &input));
        expect_loaded(e);
        mxc_executor_destroy(e);
        close_given(&g);
        mxc_symbol_release(symbol);
    }
}

/* Nothing is copied where anything is wrong. */
static void expect_refused(mxc_executor *e, given *g, unsigned flags, mxc_status code, const char *text) {
    assert_fails(mxc_executor_load_params(e, &g->list, flags, 1, &input), code, text);
    assert_true(first_of(mxc_executor_find_arg(e, "conv_weight")) == 0);
    assert_true(first_of(mxc_executor_find_aux(e, "bn_moving_var")) == 0);
}

static void test_missing_and_extra(void **state) {
    given g;
    mxc_symbol *symbol = net();
    mxc_executor *e = bind(symbol);
    (void)state;
    open_given(&g, 0, 3);
    g.names[3] = "arg:bn0_beta";
    expect_refused(e, &g, 0, MXC_ENOTFOUND, "1 missing: bn_beta; not of this network: \"arg:bn0_beta\"");
    expect_refused(e, &g, MXC_PARAMS_ALLOW_MISSING, MXC_EINVAL, "1 not of this network: \"arg:bn0_beta\"");
    expect_refused(e, &g, MXC_PARAMS_ALLOW_EXTRA, MXC_ENOTFOUND, "1 missing: bn_beta");
    g.names[4] = "arg:bn_moving_mean"; /* it is no argument */
    expect_refused(e, &g, 0, MXC_ENOTFOUND, "bn_moving_mean (auxiliary state)");
    assert_ok(mxc_executor_load_params(e, &g.list, MXC_PARAMS_ALLOW_MISSING | MXC_PARAMS_ALLOW_EXTRA, 1, &input));
    assert_true(first_of(mxc_executor_find_arg(e, "bn_gamma")) == 3);
    assert_true(first_of(mxc_executor_find_arg(e, "bn_beta")) == 0);
    assert_fails(mxc_executor_load_params(e, &g.list, 0, 0, NULL), MXC_ENOTFOUND, "data");
    assert_fails(mxc_executor_load_params(e, &g.list, 0, 1, (const char *[]){"image"}), MXC_ENOTFOUND, "image");
    close_given(&g);
    mxc_executor_destroy(e);
    mxc_symbol_release(symbol);
}

static void test_names_that_are_not_clear(void **state) {
    given g;
    mxc_symbol *symbol = net();
    mxc_executor *e = bind(symbol);
    (void)state;
    open_given(&g, 0, 3);
    g.names[MOST] = "bn_beta";
    g.arrays[MOST] = g.arrays[3];
    g.list.n = MOST + 1;
    expect_refused(e, &g, 0, MXC_EEXIST, "both \"arg:bn_beta\" and \"bn_beta\"");
    g.names[MOST] = "arg:bn_beta";
    expect_refused(e, &g, 0, MXC_EEXIST, "\"arg:bn_beta\" is in the list twice");
    g.names[MOST] = "none";
    g.arrays[MOST] = NULL;
    expect_refused(e, &g, MXC_PARAMS_ALLOW_EXTRA, MXC_EINVAL, "no array");
    g.list.names = NULL;
    expect_refused(e, &g, 0, MXC_EINVAL, "no names");
    assert_fails(mxc_executor_load_params(e, NULL, 0, 0, NULL), MXC_EINVAL, "params");
    close_given(&g);
    mxc_executor_destroy(e);
    mxc_symbol_release(symbol);
}

static void test_shapes_and_dtypes(void **state) {
    given g;
    mxc_symbol *symbol = net();
    mxc_executor *e = bind(symbol);
    (void)state;
    open_given(&g, 0, 4);
    expect_refused(e, &g, 0, MXC_ESHAPE, "\"arg:conv_weight\": expected shape (2,3,1,1), found (2,4,1,1)");
    close_given(&g);
    open_given(&g, 0, 3);
    mxc_ndarray_release(g.arrays[5]);
    g.arrays[5] = array(1, (int64_t[]){2}, MXC_F16, 6);
    expect_refused(e, &g, 0, MXC_EDTYPE, "\"aux:bn_moving_var\": expected dtype float32, found float16");
    assert_ok(mxc_executor_load_params(e, &g.list, MXC_PARAMS_CONVERT, 1, &input));
    expect_loaded(e);
    close_given(&g);
    mxc_executor_destroy(e);
    mxc_symbol_release(symbol);
}

/* The input's shape is not needed where the parameters say enough, and a contradiction names the parameter. */
static void test_binding(void **state) {
    given g;
    mxc_symbol *symbol = net();
    mxc_shape shape = {.ndim = 4, .dim = {1, 3, 2, 2}}, wide = {.ndim = 4, .dim = {1, 5, 2, 2}};
    mxc_executor *e = (mxc_executor *)&g;
    (void)state;
    open_given(&g, 1, 3);
    assert_ok(
        mxc_executor_bind_params(symbol, NULL, NET_SPEC(.n = 1, .names = &input, .shapes = &shape), &g.list, 0, &e));
    expect_loaded(e);
    mxc_executor_destroy(e);
    assert_fails(
        mxc_executor_bind_params(symbol, NULL, NET_SPEC(.n = 1, .names = &input, .shapes = &wide), &g.list, 0, &e),
        MXC_ESHAPE, "\"conv_weight\": expected shape (2,5,1,1), found (2,3,1,1)");
    assert_null(e);
    assert_fails(mxc_executor_bind_params(symbol, NULL,
                                          NET_SPEC(.n = 1, .names = &input, .shapes = &shape, .req = MXC_REQ_WRITE),
                                          &g.list, 0, &e),
                 MXC_EINVAL, "without gradients");
    g.list.n--;
    assert_fails(
        mxc_executor_bind_params(symbol, NULL, NET_SPEC(.n = 1, .names = &input, .shapes = &shape), &g.list, 0, &e),
        MXC_ENOTFOUND, "bn_moving_var (auxiliary state)");
    assert_ok(mxc_executor_bind_params(symbol, NULL, NET_SPEC(.n = 1, .names = &input, .shapes = &shape), &g.list,
                                       MXC_PARAMS_ALLOW_MISSING, &e));
    mxc_executor_destroy(e);
    close_given(&g);
    mxc_symbol_release(symbol);
}

/* A network of 16 bits is bound as such. */
static void test_binding_takes_dtypes(void **state) {
    mxc_symbol *symbol = net_on("FullyConnected", "fc", "num_hidden=2 no_bias=1", net_variable("data"));
    mxc_ndarray *weight = array(2, (int64_t[]){2, 3}, MXC_F16, 1);
    char *name = "fc_weight";
    mxc_ndarray_list list = {1, &weight, &name};
    mxc_shape shape = {.ndim = 2, .dim = {1, 3}};
    mxc_dtype f32 = MXC_F32;
    mxc_executor *e;
    (void)state;
    assert_ok(
        mxc_executor_bind_params(symbol, NULL, NET_SPEC(.n = 1, .names = &input, .shapes = &shape), &list, 0, &e));
    assert_int_equal(mxc_ndarray_dtype(mxc_executor_find_arg(e, "data")), MXC_F16);
    mxc_executor_destroy(e);
    assert_fails(mxc_executor_bind_params(
                     symbol, NULL, NET_SPEC(.n = 1, .names = &input, .shapes = &shape, .types = &f32), &list, 0, &e),
                 MXC_EDTYPE, "\"fc_weight\": expected dtype float32, found float16");
    assert_ok(mxc_executor_bind_params(symbol, NULL, NET_SPEC(.n = 1, .names = &input, .shapes = &shape, .types = &f32),
                                       &list, MXC_PARAMS_CONVERT, &e));
    assert_true(first_of(mxc_executor_find_arg(e, "fc_weight")) == 1);
    mxc_executor_destroy(e);
    mxc_ndarray_release(weight);
    mxc_symbol_release(symbol);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways_of_naming),
        cmocka_unit_test(test_missing_and_extra),
        cmocka_unit_test(test_names_that_are_not_clear),
        cmocka_unit_test(test_shapes_and_dtypes),
        cmocka_unit_test(test_binding),
        cmocka_unit_test(test_binding_takes_dtypes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Training that begins with the parameters of another network, some of which are frozen. */
#include <math.h>

#include "base/sys.h"
#include "train/toy.h"

static test_path folder, prefix;
static mxc_ndarray_list given; /* of the network of the toy */

static int set_up(void **state) {
    toy t;
    (void)state;
    test_temp_dir(folder);
    test_join(prefix, folder, "run");
    assert_ok(toy_open(&t, "8"));
    t.options.epochs = 1;
    assert_ok(mxc_fit(&t.options, NULL, &given));
    toy_close(&t);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    mxc_ndarray_list_release(&given);
    test_remove_dir(folder);
    return 0;
}

static const char *const begin[] = {"fc1_*", "bn_?????"};

/* The toy's network with another last layer, which begins with the given parameters. */
static void open_tuning(toy *t) {
    mxc_symbol *x;
    assert_ok(toy_open(t, "8"));
    mxc_symbol_release(t->net);
    assert_ok(mxc_symbol_variable("data", &x));
    assert_ok(toy_layer("FullyConnected", "fc1", "num_hidden", "8", &x));
    assert_ok(toy_layer("BatchNorm", "bn", "fix_gamma", "false", &x));
    assert_ok(toy_layer("Activation", "act", "act_type", "tanh", &x));
    assert_ok(toy_layer("FullyConnected", "fc_new", "num_hidden", "3", &x));
    assert_ok(toy_layer("SoftmaxOutput", "softmax", NULL, NULL, &x));
    t->net = t->options.symbol = x;
    t->options.initial_params = &given;
    t->options.initial_params_flags = MXC_PARAMS_ALLOW_MISSING | MXC_PARAMS_ALLOW_EXTRA;
    t->options.n_frozen = 1;
    t->options.frozen = begin;
}

static int is_same(const mxc_ndarray_list *a, const mxc_ndarray_list *b, const char *name) {
    mxc_ndarray *x = mxc_ndarray_list_find(a, name), *y = mxc_ndarray_list_find(b, name);
    float p[64], q[64];
    assert_non_null(x);
    assert_non_null(y);
    assert_int_equal(mxc_ndarray_bytes(x), mxc_ndarray_bytes(y));
    assert_ok(mxc_ndarray_get(x, p, mxc_ndarray_bytes(x)));
    assert_ok(mxc_ndarray_get(y, q, mxc_ndarray_bytes(x)));
    return memcmp(p, q, mxc_ndarray_bytes(x)) == 0;
}

static void test_frozen_parameters_stay(void **state) {
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    (void)state;
    for (int n = 1; n <= 2; n++)
        for (int n_frozen = 1; n_frozen <= 2; n_frozen++) {
            toy t;
            mxc_ndarray_list params;
            mxc_fit_progress result;
            open_tuning(&t);
            t.options.n_contexts = n;
            t.options.contexts = contexts;
            t.options.n_frozen = n_frozen;
            t.options.epochs = 10;
            assert_ok(mxc_fit(&t.options, &result, &params));
            assert_int_equal(params.n, 6 + 2);
            assert_true(is_same(&given, &params, "arg:fc1_weight"));
            assert_true(is_same(&given, &params, "arg:fc1_bias"));
            assert_int_equal(is_same(&given, &params, "arg:bn_gamma"), n_frozen == 2); /* "bn_?????" */
            assert_false(is_same(&given, &params, "arg:bn_beta"));
            assert_non_null(mxc_ndarray_list_find(&params, "arg:fc_new_weight"));
            assert_true(result.valid_accuracy > 0.8);
            mxc_ndarray_list_release(&params);
            toy_close(&t);
        }
}

/* 16-bit copies of frozen parameters are saved in float32 like the others. */
static void test_in_16_bits(void **state) {
    toy t;
    mxc_ndarray_list params;
    float before[48], after[48];
    (void)state;
    open_tuning(&t);
    t.options.dtype = "bfloat16";
    assert_ok(mxc_fit(&t.options, NULL, &params));
    assert_int_equal(mxc_ndarray_dtype(mxc_ndarray_list_find(&params, "arg:fc1_weight")), MXC_F32);
    assert_ok(mxc_ndarray_get(mxc_ndarray_list_find(&params, "arg:fc1_weight"), after, sizeof after));
    assert_ok(mxc_ndarray_get(mxc_ndarray_list_find(&given, "arg:fc1_weight"), before, sizeof before));
    for (int i = 0; i < 48; i++)
        assert_true(fabsf(after[i] - before[i]) <= fabsf(before[i]) / 256);
    mxc_ndarray_list_release(&params);
    toy_close(&t);
}

static mxc_status stop_at_17(const mxc_fit_progress *p, int epoch_end, void *user) {
    (void)epoch_end;
    *(int *)user = p->updates == 17;
    return MXC_OK;
}

/* The state has optimizer states of trained parameters only, and continues bit for bit. */
static void test_resumed(void **state) {
    test_path path;
    mxc_ndarray_list expected, params, saved;
    int stop = 0;
    toy t;
    (void)state;
    open_tuning(&t);
    assert_ok(mxc_fit(&t.options, NULL, &expected));
    toy_close(&t);
    for (int i = 0; i < 2; i++) {
        open_tuning(&t);
        t.options.checkpoint = prefix;
        t.options.resume = 1;
        t.options.stop = &stop;
        t.options.callback = i == 0 ? stop_at_17 : NULL;
        t.options.user = &stop;
        assert_ok(mxc_fit(&t.options, NULL, &params));
        if (i == 0)
            mxc_ndarray_list_release(&params);
        stop = 0;
        toy_close(&t);
    }
    toy_expect_same(&expected, &params);
    snprintf(path, sizeof path, "%.480s.state0", prefix);
    assert_ok(mxc_ndarray_load(path, &saved));
    assert_non_null(mxc_ndarray_list_find(&saved, "optimizer:fc_new_weight:momentum"));
    assert_null(mxc_ndarray_list_find(&saved, "optimizer:fc1_weight:momentum"));
    mxc_ndarray_list_release(&saved);
    mxc_ndarray_list_release(&expected);
    mxc_ndarray_list_release(&params);
}

static void refuse(unsigned flags, int n_frozen, const char *const *frozen, mxc_status code, const char *text) {
    toy t;
    open_tuning(&t);
    t.options.initial_params_flags = flags;
    t.options.n_frozen = n_frozen;
    t.options.frozen = frozen;
    assert_fails(mxc_fit(&t.options, NULL, NULL), code, text);
    toy_close(&t);
}

static void test_refusals(void **state) {
    static const char *const all[] = {"*"}, *const wrong[] = {"fc1_*", "conv*"}, *const label[] = {"softmax_label"},
                             *const aux[] = {"bn_moving_*"}, *const none[] = {NULL};
    const unsigned missing = MXC_PARAMS_ALLOW_MISSING, extra = MXC_PARAMS_ALLOW_EXTRA;
    (void)state;
    refuse(extra, 0, NULL, MXC_ENOTFOUND, "fc_new_weight");
    refuse(missing, 0, NULL, MXC_EINVAL, "fc2_weight");
    refuse(8, 0, NULL, MXC_EINVAL, "initial_params_flags 8");
    refuse(missing | extra, 1, all, MXC_EINVAL, "all parameters are frozen");
    refuse(missing | extra, 2, wrong, MXC_ENOTFOUND, "frozen[1], \"conv*\", matches no parameter");
    refuse(missing | extra, 1, label, MXC_ENOTFOUND, "matches no parameter");
    refuse(missing | extra, 1, aux, MXC_ENOTFOUND, "matches no parameter");
    refuse(missing | extra, 1, none, MXC_EINVAL, "frozen must not be NULL");
    refuse(missing | extra, 1, NULL, MXC_EINVAL, "n_frozen 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frozen_parameters_stay),
        cmocka_unit_test(test_in_16_bits),
        cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

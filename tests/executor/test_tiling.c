/* SPDX-License-Identifier: Apache-2.0 */
/* Inference slice by slice: random nets give what they give with whole arrays, and take less memory. */
#include "executor/nets.h"

#include <math.h>

enum { BATCH = 12, CHANNELS = 8, SIDE = 24, MOST = 16 };

static int64_t below(uint64_t *seed, int64_t n) {
    return (int64_t)((net_random(seed) + 1) / 2 * (double)n);
}

/* One more layer of the shape there is; joins read an earlier layer whole. */
static mxc_symbol *grow(uint64_t *seed, mxc_symbol *const *made, int n) {
    mxc_symbol *top = mxc_symbol_retain(made[n - 1]);
    char name[32];
    snprintf(name, sizeof name, "layer%d", n);
    switch (below(seed, 7)) {
    case 0:
    case 1:
        return net_on("Convolution", name, "kernel=(3,3) pad=(1,1) num_filter=8", top);
    case 2:
        return net_on("Pooling", name, "kernel=(3,3) pad=(1,1) pool_type=max", top);
    case 3:
        return net_on("BatchNorm", name, "fix_gamma=False", top);
    case 4:
        return net_on2("elemwise_add", name, "", top, mxc_symbol_retain(made[below(seed, n)]));
    default:
        return net_on("Activation", name, below(seed, 2) ? "act_type=tanh" : "act_type=relu", top);
    }
}

/* The last layer flattened, and one from the middle, which must stay whole. */
static mxc_symbol *make_net(uint64_t seed) {
    mxc_symbol *made[MOST], *outputs[2], *group;
    int n, size = 5 + (int)below(&seed, MOST - 5);
    made[0] = net_variable("data");
    for (n = 1; n < size; n++)
        made[n] = grow(&seed, made, n);
    outputs[0] = net_on("FullyConnected", "fc", "num_hidden=5", mxc_symbol_retain(made[n - 1]));
    outputs[1] = made[1 + below(&seed, n - 1)];
    assert_ok(mxc_symbol_group(1 + (int)below(&seed, 2), outputs, &group));
    mxc_symbol_release(outputs[0]);
    for (int i = 0; i < n; i++)
        mxc_symbol_release(made[i]);
    return group;
}

static mxc_executor *bind(mxc_symbol *s, int whole) {
    static const char *const names[] = {"data"};
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_shape shape = net_shape(4, BATCH, CHANNELS, SIDE, SIDE);
    mxc_executor *e;
    options.no_sharing = whole;
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = names, .shapes = &shape};
    assert_ok(mxc_executor_simple_bind(s, &options, &spec, &e));
    net_fill_all(e, 7, 5);
    return e;
}

static int is_tiled(mxc_executor *e) {
    char *text;
    int tiled;
    assert_ok(mxc_executor_print(e, &text));
    tiled = strstr(text, "rows at a time") != NULL;
    mxc_free(text);
    return tiled;
}

static void assert_close(mxc_ndarray *a, mxc_ndarray *b) {
    double *x = net_read(a), *y = net_read(b);
    for (int64_t i = 0; i < mxc_ndarray_size(a); i++)
        assert_true(fabs(x[i] - y[i]) <= 1e-4 * (1 + fabs(x[i])));
    free(x);
    free(y);
}

static void test_random_nets(void **state) {
    int tiled = 0, n = TEST_SCALE(60);
    (void)state;
    for (int round = 0; round < n; round++) {
        mxc_symbol *s = make_net((uint64_t)round * 31 + 5);
        mxc_executor *a = bind(s, 0), *b = bind(s, 1);
        tiled += is_tiled(a);
        assert_false(is_tiled(b));
        for (int run = 0; run < 2; run++) {
            assert_ok(mxc_executor_forward(a, 0));
            assert_ok(mxc_executor_forward(b, 0));
            for (int64_t i = 0; i < mxc_symbol_n_outputs(s); i++)
                assert_close(mxc_executor_output(a, i), mxc_executor_output(b, i));
        }
        mxc_executor_destroy(a);
        mxc_executor_destroy(b);
        mxc_symbol_release(s);
    }
    assert_true(tiled >= n / 2);
}

/* What looks at single steps makes the executor leave its tiles. */
static void test_parts_run_whole(void **state) {
    mxc_symbol *s = net_lenet();
    mxc_shape shape = net_shape(4, 64, 1, 28, 28);
    mxc_executor *e = net_bind(s, NULL, &shape, 0);
    int64_t left = 1;
    double *before, *after;
    (void)state;
    assert_true(is_tiled(e));
    net_fill_all(e, 1, 10);
    assert_ok(mxc_executor_forward(e, 0));
    before = net_read(mxc_executor_output(e, 0));
    for (int64_t at = 0; left; at++)
        assert_ok(mxc_executor_partial_forward(e, 0, at, &left));
    assert_false(is_tiled(e));
    after = net_read(mxc_executor_output(e, 0));
    for (int64_t at = 0; at < mxc_ndarray_size(mxc_executor_output(e, 0)); at++)
        assert_true(fabs(before[at] - after[at]) <= 1e-5);
    free(before);
    free(after);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_nets),
        cmocka_unit_test(test_parts_run_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

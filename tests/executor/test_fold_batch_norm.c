/* SPDX-License-Identifier: Apache-2.0 */
/* Norms moved into the layers before them: the same results, whatever changes after binding; not in training, not where
 * the layer or the statistics are seen. */
#include "executor/nets.h"

#include <math.h>

enum { BATCH = 4, CHANNELS = 4, SIDE = 8, MOST = 14 };

static int64_t below(uint64_t *seed, int64_t n) {
    return (int64_t)((net_random(seed) + 1) / 2 * (double)n);
}

static const char *either(uint64_t *seed, const char *a, const char *b) {
    return below(seed, 2) ? a : b;
}

/* One more layer: norms mostly, behind layers of every sort, some of which are read by others too. */
static mxc_symbol *grow(uint64_t *seed, mxc_symbol *const *made, int n) {
    mxc_symbol *top = mxc_symbol_retain(made[n - 1]);
    char name[32];
    snprintf(name, sizeof name, "layer%d", n);
    switch (below(seed, 7)) {
    case 0:
        return net_on("Convolution", name, "kernel=(3,3) pad=(1,1) num_filter=4 no_bias=True", top);
    case 1:
        return net_on("Convolution", name,
                      either(seed, "kernel=(1,1) num_filter=4",
                             "kernel=(3,3) pad=(1,1) "
                             "num_group=2 num_filter=4"),
                      top);
    case 2:
        return net_on2("elemwise_add", name, "", top, mxc_symbol_retain(made[below(seed, n)]));
    case 3:
        return net_on("Activation", name, "act_type=tanh", top);
    default:
        return net_on("BatchNorm", name, either(seed, "fix_gamma=False eps=0.01", "use_global_stats=True"), top);
    }
}

/* The last layer flattened, with a norm behind, and one from the middle. */
static mxc_symbol *make_net(uint64_t seed) {
    mxc_symbol *made[MOST], *outputs[2], *group;
    int n, size = 4 + (int)below(&seed, MOST - 4);
    made[0] = net_variable("data");
    for (n = 1; n < size; n++)
        made[n] = grow(&seed, made, n);
    outputs[0] = net_on("FullyConnected", "fc", either(&seed, "num_hidden=5", "num_hidden=5 no_bias=True"),
                        mxc_symbol_retain(made[n - 1]));
    outputs[0] = net_on("BatchNorm", "end", "fix_gamma=False", outputs[0]);
    outputs[1] = made[1 + below(&seed, n - 1)];
    assert_ok(mxc_symbol_group(1 + (int)below(&seed, 2), outputs, &group));
    mxc_symbol_release(outputs[0]);
    for (int i = 0; i < n; i++)
        mxc_symbol_release(made[i]);
    return group;
}

static mxc_executor *bind(mxc_symbol *s, mxc_req req) {
    static const char *const names[] = {"data"};
    mxc_shape shape = net_shape(4, BATCH, CHANNELS, SIDE, SIDE);
    mxc_executor *e;
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = names, .shapes = &shape, .req = req};
    assert_ok(mxc_executor_simple_bind(s, NULL, &spec, &e));
    return e;
}

static void fill(mxc_executor *e, uint64_t seed) {
    const mxc_names *aux = mxc_executor_aux_names(e);
    net_fill_all(e, seed, 5);
    for (int64_t i = 0; i < aux->n; i++)
        net_fill(mxc_executor_aux(e, i), seed + 3 + (uint64_t)i, strstr(aux->items[i], "var") ? 0.5 : -1, 2);
}

static int count_folded(mxc_executor *e) {
    char *text, *at;
    int n = 0;
    assert_ok(mxc_executor_print(e, &text));
    for (at = text; (at = strstr(at, "_fold_norm")) != NULL; at++)
        n++;
    mxc_free(text);
    return n;
}

static void assert_close(mxc_ndarray *a, mxc_ndarray *b) {
    double *x = net_read(a), *y = net_read(b);
    for (int64_t i = 0; i < mxc_ndarray_size(a); i++)
        assert_true(fabs(x[i] - y[i]) <= 2e-4 * (1 + fabs(x[i])));
    free(x);
    free(y);
}

static void compare_outputs(mxc_executor *a, mxc_executor *b) {
    for (int64_t i = 0; mxc_executor_output(a, i); i++)
        assert_close(mxc_executor_output(a, i), mxc_executor_output(b, i));
}

/* An executor with gradients runs what is written. Parameters change between runs, by operators and behind the
 * library's back. */
static void test_random_nets(void **state) {
    int folded = 0, n = TEST_SCALE(60);
    (void)state;
    for (int round = 0; round < n; round++) {
        mxc_symbol *s = make_net((uint64_t)round * 37 + 3);
        mxc_executor *a = bind(s, MXC_REQ_NULL), *b = bind(s, MXC_REQ_WRITE);
        folded += count_folded(a);
        assert_int_equal(count_folded(b), 0);
        for (int run = 0; run < 3; run++) {
            void *x, *y;
            fill(a, 7 + (uint64_t)run / 2);
            fill(b, 7 + (uint64_t)run / 2);
            assert_ok(mxc_ndarray_data(mxc_executor_arg(a, 1), &x));
            assert_ok(mxc_ndarray_data(mxc_executor_arg(b, 1), &y));
            *(float *)x = *(float *)y = (float)run;
            assert_ok(mxc_executor_forward(a, 0));
            assert_ok(mxc_executor_forward(b, 0));
            compare_outputs(a, b);
        }
        mxc_executor_destroy(a);
        mxc_executor_destroy(b);
        mxc_symbol_release(s);
    }
    assert_true(folded > n / 2);
}

/* A training run uses the batch's statistics, and moves those that are kept; then nothing is folded any more. */
static void test_training_run(void **state) {
    mxc_symbol *s =
        net_on("BatchNorm", "bn", "", net_on("Convolution", "conv", "kernel=(3,3) num_filter=4", net_variable("data")));
    mxc_executor *a = bind(s, MXC_REQ_NULL), *b = bind(s, MXC_REQ_WRITE);
    (void)state;
    assert_int_equal(count_folded(a), 1);
    fill(a, 1);
    fill(b, 1);
    for (int run = 0; run < 2; run++) {
        assert_ok(mxc_executor_forward(a, run == 0));
        assert_ok(mxc_executor_forward(b, run == 0));
        compare_outputs(a, b);
        assert_same_bits(mxc_executor_aux(a, 0), mxc_executor_aux(b, 0));
    }
    assert_int_equal(count_folded(a), 0);
    mxc_executor_destroy(a);
    mxc_executor_destroy(b);
    mxc_symbol_release(s);
}

static void count_norms(const char *name, mxc_ndarray *array, void *user) {
    (void)array;
    *(int *)user += strcmp(name, "bn_output") == 0;
}

/* A monitor sees the norm's output and the layer's. */
static void test_monitor(void **state) {
    mxc_symbol *s =
        net_on("BatchNorm", "bn", "", net_on("Convolution", "conv", "kernel=(3,3) num_filter=4", net_variable("data")));
    mxc_executor *e = bind(s, MXC_REQ_NULL);
    int seen = 0;
    (void)state;
    fill(e, 1);
    assert_ok(mxc_executor_set_monitor(e, count_norms, &seen));
    assert_ok(mxc_executor_forward(e, 0));
    assert_ok(mxc_ndarray_wait_to_read(mxc_executor_output(e, 0)));
    assert_ok(mxc_executor_set_monitor(e, NULL, NULL));
    assert_int_equal(seen, 1);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

/* Of a weight that is larger than the output nothing is gained. */
static void test_large_weight(void **state) {
    mxc_symbol *s =
        net_on("BatchNorm", "bn", "", net_on("FullyConnected", "fc", "num_hidden=64", net_variable("data")));
    mxc_executor *e = bind(s, MXC_REQ_NULL);
    (void)state;
    assert_int_equal(count_folded(e), 0);
    mxc_executor_destroy(e);
    mxc_symbol_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_nets),
        cmocka_unit_test(test_training_run),
        cmocka_unit_test(test_monitor),
        cmocka_unit_test(test_large_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

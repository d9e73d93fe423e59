/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded segments: from the second run on a bound net is queued as a whole, with the same results, also when its
 * arrays' memory has moved and where each run draws other random numbers. */
#include "support.h"

#include <math.h>

#include <mxc/mxc.h>

#include "executor/run/addresses.h"

enum { ROWS = 5, WIDTH = 7, HIDDEN = 3, MOST = 256 }; /* MOST: elements of an array */

static mxc_symbol *layer_of(const char *op, const char *name, int n, const char *const *keys, const char *const *values,
                            mxc_symbol *in) {
    mxc_symbol *out;
    assert_ok(mxc_symbol_op(op, name, n, keys, values, 1, NULL, &in, &out));
    mxc_symbol_release(in);
    return out;
}

static mxc_symbol *layer(const char *op, const char *name, const char *key, const char *value, mxc_symbol *in) {
    return layer_of(op, name, key ? 1 : 0, &key, &value, in);
}

/* relu(data weight^T + bias), with another layer behind it unless that is NULL. */
static mxc_symbol *make_net(const char *op) {
    mxc_symbol *net;
    assert_ok(mxc_symbol_variable("data", &net));
    net = layer("FullyConnected", "fc", "num_hidden", "3", net);
    net = layer("relu", "act", NULL, NULL, net);
    return op ? layer(op, "last", NULL, NULL, net) : net;
}

/* The same with a convolution along each row before it, whose first run a library measures. */
static mxc_symbol *make_conv_net(void) {
    const char *keys[] = {"kernel", "num_filter"}, *values[] = {"(3)", "1"};
    mxc_symbol *net;
    assert_ok(mxc_symbol_variable("data", &net));
    net = layer("Reshape", "rows", "shape", "(0,1,-1)", net);
    net = layer_of("Convolution", "conv", 2, keys, values, net);
    net = layer("FullyConnected", "fc", "num_hidden", "3", net);
    return layer("relu", "act", NULL, NULL, net);
}

/* All that draws random numbers: dropout within an LSTM and by itself, random slopes, a source. */
static mxc_symbol *make_random_net(void) {
    const char *rnn[] = {"state_size", "num_layers", "mode", "p"}, *values[] = {"3", "2", "lstm", "0.4"};
    const char *shape = "(5,3)", *key = "shape";
    mxc_symbol *net, *noise, *sum;
    assert_ok(mxc_symbol_variable("data", &net));
    net = layer("Dropout", "some", "p", "0.3", net);
    net = layer("Reshape", "steps", "shape", "(0,1,-1)", net);
    net = layer_of("RNN", "rnn", 4, rnn, values, net);
    net = layer("Reshape", "rows", "shape", "(0,-1)", net);
    net = layer("LeakyReLU", "act", "act_type", "rrelu", net);
    assert_ok(mxc_symbol_op("random_normal", "noise", 1, &key, &shape, 0, NULL, NULL, &noise));
    assert_ok(mxc_symbol_op("elemwise_add", "sum", 0, NULL, NULL, 2, NULL, (mxc_symbol *[]){net, noise}, &sum));
    mxc_symbol_release(net);
    mxc_symbol_release(noise);
    return layer("Dropout", "last", NULL, NULL, sum);
}

static mxc_executor *bind(mxc_symbol *net, mxc_context context) {
    const char *name = "data";
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_executor *e;
    mxc_shape shape;
    options.context = context;
    assert_ok(mxc_shape_set(&shape, 2, (int64_t[]){ROWS, WIDTH}));
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 1, .names = &name, .shapes = &shape, .req = MXC_REQ_WRITE};
    assert_ok(mxc_executor_simple_bind(net, &options, &spec, &e));
    return e;
}

static void set_all(mxc_executor *e, int round) {
    const mxc_names *names = mxc_executor_arg_names(e);
    for (int64_t i = 0; i < names->n; i++) {
        float values[MOST];
        mxc_ndarray *array = mxc_executor_arg(e, i);
        for (int64_t k = 0; k < mxc_ndarray_size(array); k++)
            values[k] = (float)((k * 7 + i * 5 + round * 3) % 11) / 8 - 0.625f;
        assert_ok(mxc_ndarray_set(array, values, mxc_ndarray_bytes(array)));
    }
}

static void expect_same(mxc_ndarray *a, mxc_ndarray *b) {
    float x[MOST], y[MOST];
    assert_ok(mxc_ndarray_get(a, x, mxc_ndarray_bytes(a)));
    assert_ok(mxc_ndarray_get(b, y, mxc_ndarray_bytes(b)));
    for (int64_t k = 0; k < mxc_ndarray_size(a); k++)
        if (!(fabsf(x[k] - y[k]) <= 1e-5f * (1 + fabsf(y[k]))))
            fail_msg("element %lld: %g and %g", (long long)k, x[k], y[k]);
}

static void step(mxc_executor *e, int round) {
    mxc_ndarray *head = NULL;
    assert_ok(mxc_ndarray_create(2, (int64_t[]){ROWS, HIDDEN}, MXC_F32, mxc_ndarray_context(mxc_executor_output(e, 0)),
                                 &head));
    assert_ok(mxc_ndarray_fill(head, round + 1));
    assert_ok(mxc_executor_forward(e, 1));
    assert_ok(mxc_executor_backward(e, 1, &head));
    mxc_ndarray_release(head);
}

static void run(mxc_executor *e, int round) {
    set_all(e, round);
    step(e, round);
}

static int recorded(const mxc_executor *e) {
    int n = 0;
    for (int32_t i = 0; i < e->bound->bulk.n; i++)
        n += e->bound->bulk.items[i].captured[1] != NULL;
    return n;
}

static void compare(mxc_executor *gpu, mxc_executor *cpu) {
    const mxc_names *names = mxc_executor_arg_names(cpu);
    expect_same(mxc_executor_output(gpu, 0), mxc_executor_output(cpu, 0));
    for (int64_t i = 0; i < names->n; i++)
        if (mxc_executor_grad(cpu, i))
            expect_same(mxc_executor_grad(gpu, i), mxc_executor_grad(cpu, i));
}

static void run_alike(mxc_executor *gpu, mxc_executor *cpu, int begin, int end) {
    for (int round = begin; round < end; round++) {
        run(gpu, round);
        run(cpu, round);
        compare(gpu, cpu);
    }
}

static void check_repeats(mxc_symbol *net) {
    mxc_executor *gpu = bind(net, mxc_gpu(0)), *cpu = bind(net, mxc_cpu(0));
    for (int round = 0; round < 6; round++) {
        run(gpu, round);
        run(cpu, round);
        compare(gpu, cpu);
        assert_int_equal(recorded(gpu) > 0, round > 0);
    }
    mxci_addresses_fill(gpu, gpu->bound); /* as after its memory has moved */
    assert_int_equal(recorded(gpu), 0);
    run_alike(gpu, cpu, 6, 9);
    assert_true(recorded(gpu) > 0);
    mxc_executor_destroy(gpu);
    mxc_executor_destroy(cpu);
    mxc_symbol_release(net);
}

static int prints(const mxc_executor *e, const char *words, const char *others) {
    char *text;
    int found;
    assert_ok(mxc_executor_print(e, &text));
    found = strstr(text, words) && !strstr(text, others);
    mxc_free(text);
    return found;
}

static void test_repeats(void **state) {
    (void)state;
    check_repeats(make_net(NULL));
}

/* What runs of make_net, with the product as a second output or not. */
static int runs(mxc_context context, int shows_product, const char *words, const char *others) {
    mxc_symbol *net = make_net(NULL), *inside, *shown[2] = {net}, *group;
    mxc_executor *e;
    int found;
    assert_ok(mxc_symbol_internals(net, &inside));
    assert_ok(mxc_symbol_find_output(inside, "fc_output", &shown[1]));
    assert_ok(mxc_symbol_group(1 + shows_product, shown, &group));
    e = bind(group, context);
    found = prints(e, words, others);
    mxc_executor_destroy(e);
    mxc_symbol_release(group);
    mxc_symbol_release(inside);
    mxc_symbol_release(shown[1]);
    mxc_symbol_release(net);
    return found;
}

/* On a GPU the relu is taken with the product, unless that is read by others too. */
static void test_epilogue(void **state) {
    (void)state;
    assert_true(runs(mxc_gpu(0), 0, "_fc_relu act", "FullyConnected fc on"));
    assert_true(runs(mxc_gpu(0), 1, "FullyConnected fc on", "_fc_relu"));
    assert_true(runs(mxc_cpu(0), 0, "FullyConnected fc on", "_fc_relu"));
}

static void test_convolution_repeats(void **state) {
    (void)state;
    check_repeats(make_conv_net());
}

/* Other numbers each time, the CPU's; also of another seed. */
static void test_random(void **state) {
    mxc_symbol *net = make_random_net();
    mxc_executor *gpu = bind(net, mxc_gpu(0)), *cpu = bind(net, mxc_cpu(0));
    (void)state;
    for (int round = 0; round < 8; round++) {
        if (round % 5 == 0)
            mxc_random_seed(1 + (uint64_t)round);
        run_alike(gpu, cpu, round, round + 1);
    }
    assert_int_equal(recorded(gpu), gpu->bound->bulk.n);
    mxc_executor_destroy(gpu);
    mxc_executor_destroy(cpu);
    mxc_symbol_release(net);
}

static void update_weights(mxc_executor *e) {
    const char *key = "lr", *rate = "0.1";
    for (int64_t i = 0; i < mxc_executor_arg_names(e)->n; i++) {
        mxc_ndarray *weight = mxc_executor_arg(e, i), *grad = mxc_executor_grad(e, i);
        if (grad)
            assert_ok(mxc_invoke_into("sgd_update", 2, (mxc_ndarray *[]){weight, grad}, 1, &key, &rate, 1, &weight));
    }
}

/* Train for some steps, among which one without training; the arrays, one behind the other, are left in weights. */
static void train(mxc_executor *e, float *weights) {
    mxc_random_seed(9);
    set_all(e, 0);
    for (int round = 0; round < 6; round++) {
        step(e, round);
        update_weights(e);
        assert_ok(mxc_executor_forward(e, 0));
    }
    for (int64_t i = 0; i < mxc_executor_arg_names(e)->n; i++) {
        mxc_ndarray *weight = mxc_executor_arg(e, i);
        assert_ok(mxc_ndarray_get(weight, weights, mxc_ndarray_bytes(weight)));
        weights += mxc_ndarray_size(weight);
    }
}

/* Recorded or, while a trace is taken, not: the same bits. */
static void test_random_training(void **state) {
    mxc_symbol *net = make_random_net();
    float found[2 * MOST] = {0}, expected[2 * MOST] = {0};
    for (int traced = 0; traced < 2; traced++) {
        mxc_executor *e = bind(net, mxc_gpu(0));
        if (traced)
            assert_ok(mxc_trace_start());
        train(e, traced ? expected : found);
        mxc_trace_stop();
        assert_int_equal(recorded(e), traced ? 0 : e->bound->bulk.n);
        mxc_executor_destroy(e);
    }
    assert_memory_equal(found, expected, sizeof found);
    mxc_symbol_release(net);
    (void)state;
}

/* fc, tanh(fc), and (2 tanh(fc) - fc) * 0.5 + fc in one pass: the same forward and backward as on the CPU. */
static mxc_symbol *make_chain(void) {
    mxc_symbol *fc = make_net(NULL), *x, *pair[2], *sum;
    x = layer("tanh", "tanh", NULL, NULL, mxc_symbol_retain(fc));
    x = layer("_mul_scalar", "twice", "scalar", "2", x);
    pair[0] = x;
    pair[1] = fc;
    assert_ok(mxc_symbol_op("_sub", "less", 0, NULL, NULL, 2, NULL, pair, &sum));
    mxc_symbol_release(x);
    x = layer("_mul_scalar", "half", "scalar", "0.5", sum);
    pair[0] = x;
    assert_ok(mxc_symbol_op("elemwise_add", "more", 0, NULL, NULL, 2, NULL, pair, &sum));
    mxc_symbol_release(x);
    mxc_symbol_release(fc);
    return sum;
}

static void test_chains(void **state) {
    mxc_symbol *net = make_chain();
    mxc_executor *gpu = bind(net, mxc_gpu(0)), *cpu = bind(net, mxc_cpu(0));
    (void)state;
    assert_true(prints(gpu, "_chain more", "half on"));
    assert_false(prints(cpu, "_chain more", "half on"));
    run_alike(gpu, cpu, 0, 4);
    assert_true(recorded(gpu) > 0);
    mxc_executor_destroy(gpu);
    mxc_executor_destroy(cpu);
    mxc_symbol_release(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_epilogue),
        cmocka_unit_test(test_convolution_repeats),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_random_training),
        cmocka_unit_test(test_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

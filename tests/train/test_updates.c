/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens between gradients and parameters: accumulation over batches, clipping by the global norm, the moving
 * average of the parameters, and what callbacks see of them. Covers parameter_average.c, optimizer/clip_norm.c and
 * parts of fit.c.
 */
#include <math.h>

#include "base/sys.h"
#include "train/toy.h"

enum { OUTPUTS = 3, WEIGHTS = OUTPUTS * TOY_WIDTH };

/* Rows of the toy in batches of a size, which divides 96; the last one is padded. */
static mxc_iter *rows(int64_t batch_size) {
    float x[TOY_SAMPLES * TOY_WIDTH], y[TOY_SAMPLES];
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxc_ndarray *data, *label;
    mxc_iter *iter;
    for (int i = 0; i < TOY_SAMPLES; i++)
        y[i] = (float)(i % 3);
    for (int i = 0; i < TOY_SAMPLES * TOY_WIDTH; i++)
        x[i] = toy_noise((uint32_t)i) + (i % TOY_WIDTH % 3 == i / TOY_WIDTH % 3);
    options.batch_size = batch_size;
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){TOY_SAMPLES, TOY_WIDTH}, MXC_F32, x, &data));
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){TOY_SAMPLES}, MXC_F32, y, &label));
    assert_ok(mxc_iter_from_arrays(&options, 1, &data, 1, &label, NULL, &iter));
    mxc_ndarray_release(data);
    mxc_ndarray_release(label);
    return iter;
}

/* A linear classifier, without layers that compute with the batch. */
static void open_linear(toy *t, int64_t batch_size) {
    assert_ok(toy_open(t, "8"));
    mxc_symbol_release(t->net);
    mxc_iter_destroy(t->train);
    assert_ok(mxc_symbol_variable("data", &t->net));
    assert_ok(toy_layer("FullyConnected", "fc", "num_hidden", "3", &t->net));
    assert_ok(toy_layer("SoftmaxOutput", "softmax", NULL, NULL, &t->net));
    t->train = rows(batch_size);
    t->options.symbol = t->net;
    t->options.train = t->train;
    t->options.schedule = (mxc_schedule){0};
}

static void get_weights(const mxc_ndarray_list *params, float *out) {
    assert_ok(mxc_ndarray_get(mxc_ndarray_list_find(params, "arg:fc_weight"), out, WEIGHTS * sizeof *out));
    assert_ok(mxc_ndarray_get(mxc_ndarray_list_find(params, "arg:fc_bias"), out + WEIGHTS, OUTPUTS * sizeof *out));
}

/* ---- accumulation ------------------------------------------------------------------------------------------------ */

static void train_accumulated(int64_t batch_size, int64_t accumulate, int n_contexts, float *out, int64_t *updates) {
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    mxc_ndarray_list params;
    mxc_fit_progress result;
    toy t;
    open_linear(&t, batch_size);
    t.options.accumulate = accumulate;
    t.options.n_contexts = n_contexts;
    t.options.contexts = contexts;
    assert_ok(mxc_fit(&t.options, &result, &params));
    get_weights(&params, out);
    *updates = result.updates;
    mxc_ndarray_list_release(&params);
    toy_close(&t);
}

static void test_accumulation(void **state) {
    float expected[WEIGHTS + OUTPUTS], found[WEIGHTS + OUTPUTS];
    int64_t updates, expected_updates;
    (void)state;
    train_accumulated(48, 0, 1, expected, &expected_updates);
    assert_int_equal(expected_updates, 4 * 2);
    for (int64_t k = 2; k <= 6; k++)
        for (int n_contexts = 1; 48 % k == 0 && 48 / k % n_contexts == 0 && n_contexts <= 2; n_contexts++) {
            train_accumulated(48 / k, k, n_contexts, found, &updates);
            assert_int_equal(updates, expected_updates);
            for (int i = 0; i < WEIGHTS + OUTPUTS; i++)
                assert_true(fabsf(found[i] - expected[i]) < 1e-5f);
        }
    train_accumulated(8, 5, 1, found, &updates); /* 12 batches: the last update of an epoch has two */
    assert_int_equal(updates, 4 * 3);
}

/* ---- clipping ---------------------------------------------------------------------------------------------------- */

/* The norm of the change of all parameters in the first update. */
static double first_step(const char *optimizer, double clip_norm, int n_contexts, const char *dtype,
                         const char *loss_scale) {
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    float before[WEIGHTS + OUTPUTS], after[WEIGHTS + OUTPUTS];
    double sum = 0;
    mxc_ndarray_list given, params;
    toy t;
    open_linear(&t, 96);
    t.options.epochs = 0;
    t.options.dtype = dtype;
    assert_ok(mxc_fit(&t.options, NULL, &given));
    get_weights(&given, before);
    t.options.epochs = 1;
    t.options.n_optimizer_params = 0;
    t.options.initial_params = &given;
    t.options.learning_rate = 0.5;
    t.options.optimizer = optimizer;
    t.options.clip_norm = clip_norm;
    t.options.n_contexts = n_contexts;
    t.options.contexts = contexts;
    t.options.loss_scale = loss_scale;
    assert_ok(mxc_fit(&t.options, NULL, &params));
    get_weights(&params, after);
    for (int i = 0; i < WEIGHTS + OUTPUTS; i++)
        sum += ((double)after[i] - before[i]) * ((double)after[i] - before[i]);
    mxc_ndarray_list_release(&given);
    mxc_ndarray_list_release(&params);
    toy_close(&t);
    return sqrt(sum) / 0.5;
}

/* Operators for each weight, as optimizers of the program and some built-in ones queue them. */
static mxc_status plain_step(const mxc_optimizer_call *call) {
    const char *keys[] = {"lr", "rescale_grad"}, *values[2];
    mxc_ndarray *in[] = {call->weight, call->grad};
    char lr[32], rescale_grad[32];
    snprintf(lr, sizeof lr, "%.17g", call->lr);
    snprintf(rescale_grad, sizeof rescale_grad, "%.17g", call->rescale_grad);
    values[0] = lr;
    values[1] = rescale_grad;
    return mxc_invoke_into("sgd_update", 2, in, 2, keys, values, 1, &call->weight);
}

static const mxc_optimizer_def plain = {.size = sizeof plain, .name = "plain", .update = plain_step};

static void test_clipping(void **state) {
    static const char *const optimizers[] = {"sgd", "plain"};
    (void)state;
    assert_ok(mxc_optimizer_register(&plain));
    double norm = first_step("sgd", 0, 1, NULL, NULL);
    assert_true(norm > 0.05);
    for (int i = 0; i < 4; i++) {
        const char *optimizer = optimizers[i / 2];
        const int n = 1 + i % 2;
        assert_true(fabs(first_step(optimizer, 0, n, NULL, NULL) - norm) < 1e-5);
        assert_true(fabs(first_step(optimizer, 2 * norm, n, NULL, NULL) - norm) < 1e-5);
        assert_true(fabs(first_step(optimizer, norm / 4, n, NULL, NULL) - norm / 4) < 1e-5);
        assert_true(fabs(first_step(optimizer, norm / 4, n, NULL, "1024") - norm / 4) < 1e-5);
        assert_true(fabs(first_step(optimizer, norm / 4, n, "float16", "128") - norm / 4) < 1e-3);
        assert_true(fabs(first_step(optimizer, norm / 4, n, "bfloat16", NULL) - norm / 4) < 1e-2);
    }
}

/* ---- the callback and the average -------------------------------------------------------------------------------- */

typedef struct watch {
    int n_contexts, n, wrong;
    double decay;
    float weights[WEIGHTS]; /* after the update before */
    double average[WEIGHTS];
} watch;

/* Without momentum and decay, the parameters change by -lr / batch times the gradient, which the callback sees. */
static mxc_status on_step(const mxc_fit_progress *p, int epoch_end, void *user) {
    watch *w = user;
    float weights[WEIGHTS], other[WEIGHTS], grad[2][WEIGHTS] = {{0}};
    for (int c = 0; c < w->n_contexts; c++) {
        const mxc_executor *e = mxc_fit_executor(p, c);
        if (!e || !mxc_executor_find_arg(e, "fc_bias") || mxc_executor_find_arg(e, "fc2_bias"))
            return MXC_FAIL(MXC_EUSER, "there is no executor %d", c);
        MXC_TRY(mxc_ndarray_get(mxc_executor_find_arg(e, "fc_weight"), c ? other : weights, sizeof weights));
        MXC_TRY(mxc_ndarray_get(mxc_executor_find_grad(e, "fc_weight"), grad[c], sizeof weights));
        w->wrong += c && memcmp(other, weights, sizeof weights) != 0;
    }
    w->wrong += mxc_fit_executor(p, w->n_contexts) != NULL || mxc_fit_executor(p, -1) != NULL;
    if (epoch_end)
        return MXC_OK;
    for (int i = 0; i < WEIGHTS; i++) {
        double expected = (double)w->weights[i] - 0.05 * ((double)grad[0][i] + grad[1][i]) / 8;
        w->wrong += w->n > 0 && fabs(expected - (double)weights[i]) > 1e-6;
        w->average[i] = w->decay * w->average[i] + (1 - w->decay) * (double)weights[i];
    }
    memcpy(w->weights, weights, sizeof weights);
    w->n++;
    return MXC_OK;
}

static void test_average(void **state) {
    static const double decays[] = {0, 0.5, 0.95};
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    (void)state;
    for (int k = 0; k < 6; k++) {
        watch w = {.n_contexts = 1 + k % 2, .decay = decays[k / 2]};
        float first[WEIGHTS + OUTPUTS], found[WEIGHTS + OUTPUTS];
        mxc_ndarray_list given, params;
        mxc_fit_progress result;
        mxc_metric *loss;
        toy t;
        open_linear(&t, 8);
        t.options.n_optimizer_params = 0;
        t.options.epochs = 0;
        assert_ok(mxc_fit(&t.options, NULL, &given));
        get_weights(&given, first);
        for (int i = 0; i < WEIGHTS; i++)
            w.average[i] = (double)first[i];
        t.options.initial_params = &given;
        t.options.epochs = 2;
        t.options.ema = w.decay;
        t.options.n_contexts = w.n_contexts;
        t.options.contexts = contexts;
        t.options.callback = on_step;
        t.options.user = &w;
        assert_ok(mxc_fit(&t.options, &result, &params));
        assert_int_equal(w.n, 24);
        assert_int_equal(w.wrong, 0);
        assert_null(mxc_fit_executor(&result, 0));
        get_weights(&params, found);
        for (int i = 0; i < WEIGHTS; i++)
            assert_true(fabs((double)found[i] - w.average[i]) < 1e-6);
        assert_ok(mxc_metric_create("ce", 0, NULL, NULL, &loss)); /* validation uses what is returned */
        assert_ok(mxc_evaluate(t.net, &params, t.valid, mxc_cpu(0), 1, &loss));
        assert_true(fabs(mxc_metric_value(loss) - result.valid_loss) < 1e-6);
        mxc_metric_destroy(loss);
        mxc_ndarray_list_release(&given);
        mxc_ndarray_list_release(&params);
        toy_close(&t);
    }
    assert_null(mxc_fit_executor(NULL, 0));
}

typedef struct copies {
    int n;
    double weights[WEIGHTS], average[WEIGHTS];
} copies;

enum { EMA_PERCENT = 90 };

/* The float32 copies by the gradients, and their average. */
static mxc_status follow_copies(const mxc_fit_progress *p, int epoch_end, void *user) {
    copies *c = user;
    float grad[WEIGHTS];
    mxc_ndarray *wide;
    if (epoch_end)
        return MXC_OK;
    MXC_TRY(mxc_ndarray_copy(mxc_executor_find_grad(mxc_fit_executor(p, 0), "fc_weight"), mxc_cpu(0), MXC_F32, &wide));
    mxc_status status = mxc_ndarray_get(wide, grad, sizeof grad);
    mxc_ndarray_release(wide);
    MXC_TRY(status);
    for (int i = 0; i < WEIGHTS; i++) {
        c->weights[i] -= p->lr * (double)grad[i] / 8;
        c->average[i] += (1 - EMA_PERCENT / 100.) * (c->weights[i] - c->average[i]);
    }
    c->n++;
    return MXC_OK;
}

/* In 16 bits the average is that of the float32 copies. Weights of 1 to 2 move by less than half of what bfloat16
 * resolves there, so that an average of the weights in 16 bits would stay where it began. */
static void test_average_in_16_bits(void **state) {
    copies c = {0};
    float first[WEIGHTS], found[WEIGHTS + OUTPUTS];
    double most = 0;
    mxc_ndarray_list given, params;
    toy t;
    (void)state;
    open_linear(&t, 8);
    t.options.n_optimizer_params = 0;
    t.options.epochs = 0;
    assert_ok(mxc_fit(&t.options, NULL, &given));
    for (int i = 0; i < WEIGHTS; i++)
        c.weights[i] = c.average[i] = (double)(first[i] = 1 + (float)(i % 4) / 4);
    assert_ok(mxc_ndarray_set(mxc_ndarray_list_find(&given, "arg:fc_weight"), first, sizeof first));
    t.options.initial_params = &given;
    t.options.epochs = 2;
    t.options.dtype = "bfloat16";
    t.options.learning_rate = 1e-4;
    t.options.ema = EMA_PERCENT / 100.;
    t.options.callback = follow_copies;
    t.options.user = &c;
    assert_ok(mxc_fit(&t.options, NULL, &params));
    assert_int_equal(c.n, 24);
    assert_int_equal(mxc_ndarray_dtype(mxc_ndarray_list_find(&params, "arg:fc_weight")), MXC_F32);
    get_weights(&params, found);
    for (int i = 0; i < WEIGHTS; i++) {
        const double moved = fabs(c.average[i] - (double)first[i]);
        most = moved > most ? moved : most;
        assert_true(fabs((double)found[i] - c.average[i]) < 1e-6);
    }
    assert_true(most > 1e-4 && most < 1. / 512);
    mxc_ndarray_list_release(&given);
    mxc_ndarray_list_release(&params);
    toy_close(&t);
}

static void test_refusals(void **state) {
    toy t;
    (void)state;
    open_linear(&t, 8);
    t.options.ema = 1;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "ema 1");
    t.options.ema = NAN;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "ema nan");
    t.options.ema = 0;
    t.options.clip_norm = -1;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "clip_norm -1");
    t.options.clip_norm = 0;
    t.options.accumulate = -2;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "accumulate -2");
    toy_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accumulation),       cmocka_unit_test(test_clipping), cmocka_unit_test(test_average),
        cmocka_unit_test(test_average_in_16_bits), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

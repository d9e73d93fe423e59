/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training loop: it learns, repeats itself, reports, stops when asked, and refuses what cannot be trained. Covers
 * train/fit.c, trainer.c, fit_metrics.c and feed.c.
 */
#include <math.h>

#include "base/sys.h"
#include "train/toy.h"

enum { BATCHES = (TOY_SAMPLES + TOY_BATCH - 1) / TOY_BATCH };

static void test_learns(void **state) {
    toy t;
    mxc_fit_progress result;
    mxc_ndarray_list params;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    t.options.epochs = 10;
    t.options.schedule.total = 10 * BATCHES;
    assert_ok(mxc_fit(&t.options, &result, &params));
    assert_int_equal(result.epoch, 10);
    assert_int_equal(result.updates, 10 * BATCHES);
    assert_int_equal(result.batches, BATCHES);
    assert_int_equal(result.interrupted, 0);
    assert_true(result.valid_accuracy > 0.95);
    assert_true(result.valid_loss < 0.4);
    assert_int_equal(params.n, 6 + 2);
    assert_non_null(mxc_ndarray_list_find(&params, "arg:fc1_weight"));
    assert_non_null(mxc_ndarray_list_find(&params, "aux:bn_moving_var"));
    assert_null(mxc_ndarray_list_find(&params, "arg:softmax_label"));
    mxc_ndarray_list_release(&params);
    toy_close(&t);
}

/* Train anew with n contexts; seed. */
static void run(int n_contexts, uint64_t seed, mxc_ndarray_list *params, mxc_fit_progress *result) {
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1), mxc_cpu(2), mxc_cpu(3)};
    toy t;
    assert_ok(toy_open(&t, "8"));
    t.options.n_contexts = n_contexts;
    t.options.contexts = contexts;
    t.options.seed = seed;
    assert_ok(mxc_fit(&t.options, result, params));
    toy_close(&t);
}

static void test_repeats_itself(void **state) {
    static const int n_contexts[] = {0, 1, 2, 4};
    (void)state;
    for (int i = 0; i < 4; i++) {
        mxc_ndarray_list a, b, c;
        mxc_fit_progress first, second, other;
        run(n_contexts[i], 1, &a, &first);
        run(n_contexts[i], 1, &b, &second);
        run(n_contexts[i], 2, &c, &other);
        toy_expect_same(&a, &b);
        assert_true(first.loss == second.loss && first.valid_loss == second.valid_loss);
        assert_true(first.loss != other.loss);
        assert_true(first.valid_accuracy > 0.8);
        mxc_ndarray_list_release(&a);
        mxc_ndarray_list_release(&b);
        mxc_ndarray_list_release(&c);
    }
}

/* Without layers that look at the batch, two contexts do what one does, but for rounding. */
static void test_contexts_agree(void **state) {
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    float weights[2][3 * TOY_WIDTH];
    (void)state;
    for (int n = 1; n <= 2; n++) {
        toy t;
        mxc_ndarray_list params;
        mxc_symbol *net;
        assert_ok(toy_open(&t, "8"));
        assert_ok(mxc_symbol_variable("data", &net));
        assert_ok(toy_layer("FullyConnected", "fc", "num_hidden", "3", &net));
        assert_ok(toy_layer("SoftmaxOutput", "softmax", NULL, NULL, &net));
        t.options.symbol = net;
        t.options.n_contexts = n;
        t.options.contexts = contexts;
        assert_ok(mxc_fit(&t.options, NULL, &params));
        assert_ok(mxc_ndarray_get(mxc_ndarray_list_find(&params, "arg:fc_weight"), weights[n - 1], sizeof weights[0]));
        mxc_ndarray_list_release(&params);
        mxc_symbol_release(net);
        toy_close(&t);
    }
    for (int i = 0; i < 3 * TOY_WIDTH; i++)
        assert_true(fabsf(weights[0][i] - weights[1][i]) < 1e-4f);
}

/* ---- callbacks ---------------------------------------------------------------------------------------------- */

typedef struct watch {
    int steps, epochs, fail_at, wrong;
    int stop, stop_at;
    const mxc_schedule *schedule;
    int64_t allocations; /* between the third and the last step of the last epoch */
} watch;

static mxc_status on_step(const mxc_fit_progress *p, int epoch_end, void *user) {
    watch *w = user;
    if (epoch_end) {
        w->epochs++;
        w->wrong += p->epoch != w->epochs - 1 || p->batch != BATCHES || !isfinite(p->valid_loss);
        return MXC_OK;
    }
    w->wrong += p->updates != ++w->steps || p->epoch != (w->steps - 1) / BATCHES;
    w->wrong += p->batch != (w->steps - 1) % BATCHES + 1 || !isfinite(p->loss) || !(p->samples_per_second > 0);
    w->wrong += w->schedule && p->lr != mxc_schedule_lr(w->schedule, 0.05, p->updates - 1);
    if (w->steps == w->stop_at)
        w->stop = 1;
    if (p->epoch == p->epochs - 1 && p->batch == 3)
        w->allocations = -mxci_alloc_count();
    if (p->epoch == p->epochs - 1 && p->batch == BATCHES)
        w->allocations += mxci_alloc_count();
    return w->steps == w->fail_at ? MXC_FAIL(MXC_EUSER, "mine: enough") : MXC_OK;
}

static void test_callback(void **state) {
    toy t;
    watch w = {0};
    mxc_fit_progress result;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    t.options.callback = on_step;
    t.options.user = &w;
    w.schedule = &t.options.schedule;
    assert_ok(mxc_fit(&t.options, NULL, NULL));
    assert_int_equal(w.steps, 4 * BATCHES);
    assert_int_equal(w.epochs, 4);
    assert_int_equal(w.wrong, 0);
    toy_close(&t);
    assert_ok(toy_open(&t, "8"));
    w = (watch){.fail_at = 17};
    t.options.callback = on_step;
    t.options.user = &w;
    assert_fails(mxc_fit(&t.options, &result, NULL), MXC_EUSER, "callback");
    assert_int_equal(w.steps, 17);
    assert_int_equal(result.updates, 17);
    toy_close(&t);
}

static void test_stop(void **state) {
    toy t;
    watch w = {.stop_at = 17};
    mxc_fit_progress result;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    t.options.callback = on_step;
    t.options.user = &w;
    t.options.stop = &w.stop;
    assert_ok(mxc_fit(&t.options, &result, NULL));
    assert_int_equal(result.interrupted, 1);
    assert_int_equal(result.updates, 17);
    toy_close(&t);
}

/* After the first epochs a step takes no memory from the system; with one context. */
static void test_steady_state_allocates_nothing(void **state) {
    toy t;
    watch w = {0};
    (void)state;
    assert_ok(toy_open(&t, "8"));
    t.options.callback = on_step;
    t.options.user = &w;
    assert_ok(mxc_fit(&t.options, NULL, NULL));
    assert_int_equal(w.allocations, 0);
    toy_close(&t);
}

/* ---- what cannot be trained ----------------------------------------------------------------------------------- */

static void refuse(void (*change)(mxc_fit_options *options), mxc_status code, const char *text) {
    toy t;
    mxc_ndarray_list params = {.n = 3};
    assert_ok(toy_open(&t, "8"));
    change(&t.options);
    assert_fails(mxc_fit(&t.options, NULL, &params), code, text);
    assert_int_equal(params.n, 0);
    toy_close(&t);
}

static const mxc_context some_contexts[] = {{MXC_CPU, 0}, {MXC_CPU, 1}, {MXC_CPU, 2}};
static const mxc_context gpu[] = {{MXC_GPU, 0}};
static const char *const odd_keys[] = {"momentun"}, *const odd_values[] = {"0.9"};

static void no_symbol(mxc_fit_options *o) {
    o->symbol = NULL;
}
static void no_data(mxc_fit_options *o) {
    o->train = NULL;
}
static void one_iterator(mxc_fit_options *o) {
    o->valid = o->train;
}
static void wrong_size(mxc_fit_options *o) {
    o->size = 0;
}
static void negative_epochs(mxc_fit_options *o) {
    o->epochs = -1;
}
static void no_contexts(mxc_fit_options *o) {
    o->n_contexts = 2;
}
static void uneven(mxc_fit_options *o) {
    o->n_contexts = 3, o->contexts = some_contexts;
}
static void absent_device(mxc_fit_options *o) {
    o->n_contexts = 1, o->contexts = gpu;
}
static void resume_nothing(mxc_fit_options *o) {
    o->resume = 1;
}
static void no_steps(mxc_fit_options *o) {
    o->schedule = (mxc_schedule){.kind = MXC_SCHEDULE_MULTI_FACTOR, .factor = 0.5, .n_steps = 2};
}
static void odd_optimizer(mxc_fit_options *o) {
    o->optimizer = "no_such_optimizer";
}
static void odd_setting(mxc_fit_options *o) {
    o->n_optimizer_params = 1;
    o->optimizer_keys = odd_keys;
    o->optimizer_values = odd_values;
}
static void odd_initializer(mxc_fit_options *o) {
    o->initializer = "he";
}
static void odd_store(mxc_fit_options *o) {
    o->kvstore = "cluster";
}
static void no_folder(mxc_fit_options *o) {
    o->checkpoint = "/nowhere/at/all";
}
static void no_folder_for_curve(mxc_fit_options *o) {
    o->curve = "/nowhere/at/all.svg";
}

static void test_refusals(void **state) {
    (void)state;
    refuse(no_symbol, MXC_EINVAL, "symbol");
    refuse(no_data, MXC_EINVAL, "train");
    refuse(one_iterator, MXC_EINVAL, "valid");
    refuse(wrong_size, MXC_EINVAL, "size");
    refuse(negative_epochs, MXC_EINVAL, "epochs -1");
    refuse(no_contexts, MXC_EINVAL, "n_contexts 2");
    refuse(uneven, MXC_EINVAL, "does not split evenly over 3");
    refuse(absent_device, MXC_EDEVICE, "gpu");
    refuse(resume_nothing, MXC_EINVAL, "checkpoint");
    refuse(no_steps, MXC_EINVAL, "schedule.n_steps is 2, expected 0 or more, with steps");
    refuse(odd_optimizer, MXC_ENOTFOUND, "no_such_optimizer");
    refuse(odd_setting, MXC_EINVAL, "momentun");
    refuse(odd_initializer, MXC_ENOTFOUND, "he");
    refuse(odd_store, MXC_ENOTFOUND, "cluster");
    refuse(no_folder, MXC_EIO, "/nowhere/at/all");
    refuse(no_folder_for_curve, MXC_EIO, "/nowhere/at/all.svg");
    assert_fails(mxc_fit(NULL, NULL, NULL), MXC_EINVAL, "options");
}

static void test_wrong_network(void **state) {
    const char *keys[] = {"kernel", "pool_type"}, *values[] = {"(2,2)", "max"};
    toy t;
    mxc_symbol *net, *data;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    assert_ok(mxc_symbol_variable("pixels", &net));
    assert_ok(toy_layer("FullyConnected", "fc", "num_hidden", "3", &net));
    t.options.symbol = net;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_ENOTFOUND, "\"data\"");
    mxc_symbol_release(net);
    assert_ok(mxc_symbol_variable("data", &data));
    assert_ok(mxc_symbol_op("Pooling", "pool", 2, keys, values, 1, NULL, &data, &net)); /* wants images, gets rows */
    mxc_symbol_release(data);
    assert_ok(toy_layer("SoftmaxOutput", "softmax", NULL, NULL, &net));
    t.options.symbol = net;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_ESHAPE, "pool");
    mxc_symbol_release(net);
    toy_close(&t);
}

/* Fewer samples than a batch, and what is not full is left out. */
static void test_no_batches(void **state) {
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    const float x[2 * TOY_WIDTH] = {0}, y[2] = {0};
    mxc_ndarray *data, *label;
    mxc_iter *iter;
    toy t;
    (void)state;
    options.batch_size = TOY_BATCH;
    options.last_batch = MXC_LAST_DISCARD;
    assert_ok(toy_open(&t, "8"));
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, TOY_WIDTH}, MXC_F32, x, &data));
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){2}, MXC_F32, y, &label));
    assert_ok(mxc_iter_from_arrays(&options, 1, &data, 1, &label, NULL, &iter));
    t.options.train = iter;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "has no batch");
    mxc_iter_destroy(iter);
    mxc_ndarray_release(data);
    mxc_ndarray_release(label);
    toy_close(&t);
}

/* Regression: the loss is the mean square error, and there is no accuracy. */
static void test_regression(void **state) {
    toy t;
    mxc_symbol *net;
    mxc_fit_progress result;
    mxc_ndarray *data, *target;
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    const char *names[] = {"data", "out_label"};
    float x[32], y[32], w[2];
    mxc_ndarray_list params;
    (void)state;
    for (int i = 0; i < 32; i++) {
        x[i] = (float)i / 32;
        y[i] = 3 * x[i] - 1;
    }
    assert_ok(toy_open(&t, "8"));
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){32, 1}, MXC_F32, x, &data));
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){32, 1}, MXC_F32, y, &target));
    options.batch_size = 8;
    mxc_iter *iter, *valid;
    assert_ok(mxc_iter_from_arrays(&options, 1, &data, 1, &target, names, &iter));
    assert_ok(mxc_iter_from_arrays(&options, 1, &data, 1, &target, names, &valid));
    assert_ok(mxc_symbol_variable("data", &net));
    assert_ok(toy_layer("FullyConnected", "fc", "num_hidden", "1", &net));
    assert_ok(toy_layer("LinearRegressionOutput", "out", NULL, NULL, &net));
    t.options.symbol = net;
    t.options.train = iter;
    t.options.valid = valid;
    t.options.epochs = 200;
    t.options.n_optimizer_params = 0;
    t.options.schedule = (mxc_schedule){0};
    t.options.learning_rate = 0.5;
    assert_ok(mxc_fit(&t.options, &result, &params));
    assert_true(result.loss < 1e-2 && result.valid_loss < 1e-2);
    assert_true(isnan(result.accuracy) && isnan(result.valid_accuracy));
    assert_ok(mxc_ndarray_get(mxc_ndarray_list_find(&params, "arg:fc_weight"), w, sizeof w[0]));
    assert_ok(mxc_ndarray_get(mxc_ndarray_list_find(&params, "arg:fc_bias"), w + 1, sizeof w[0]));
    assert_true(fabsf(w[0] - 3) < 0.05f && fabsf(w[1] + 1) < 0.05f);
    mxc_ndarray_list_release(&params);
    mxc_iter_destroy(iter);
    mxc_iter_destroy(valid);
    mxc_ndarray_release(data);
    mxc_ndarray_release(target);
    mxc_symbol_release(net);
    toy_close(&t);
}

/* Rows of the toy with other data, or other labels, in row 20. */
static mxc_iter *spoilt(float x_value, float label_value) {
    float x[32 * TOY_WIDTH], y[32];
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxc_ndarray *data, *label;
    mxc_iter *iter;
    for (int i = 0; i < 32 * TOY_WIDTH; i++)
        x[i] = toy_noise((uint32_t)i);
    for (int i = 0; i < 32; i++)
        y[i] = (float)(i % 3);
    x[20 * TOY_WIDTH] = isnan(x_value) ? x_value : x[0];
    y[20] = label_value;
    options.batch_size = TOY_BATCH;
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){32, TOY_WIDTH}, MXC_F32, x, &data));
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){32}, MXC_F32, y, &label));
    assert_ok(mxc_iter_from_arrays(&options, 1, &data, 1, &label, NULL, &iter));
    mxc_ndarray_release(data);
    mxc_ndarray_release(label);
    return iter;
}

/* Training stops with the step that spoils it; asked to, it goes on. */
static void test_nan(void **state) {
    toy t;
    mxc_fit_progress result;
    (void)state;
    for (int allowed = 0; allowed < 2; allowed++) {
        mxc_iter *iter = spoilt(NAN, 0);
        assert_ok(toy_open(&t, "8"));
        t.options.train = iter;
        t.options.valid = NULL;
        t.options.allow_nan = allowed;
        if (allowed) {
            assert_ok(mxc_fit(&t.options, &result, NULL));
            assert_true(isnan(result.loss) && result.accuracy == 0);
        } else {
            assert_fails(mxc_fit(&t.options, &result, NULL), MXC_EINVAL,
                         "the predictions are NaN in batch 3 of epoch 1, after 2 updates; the first array with NaN is "
                         "'data' of the batch");
            assert_int_equal(result.updates, 2);
        }
        mxc_iter_destroy(iter);
        toy_close(&t);
    }
}

/* The output of the node that makes it, found with the parameters of the failed step. */
static void test_nan_in_network(void **state) {
    toy t;
    mxc_symbol *net;
    mxc_fit_progress result;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    assert_ok(mxc_symbol_variable("data", &net));
    assert_ok(toy_layer("FullyConnected", "fc", "num_hidden", "3", &net));
    assert_ok(toy_layer("sqrt", "root", NULL, NULL, &net)); /* of negative numbers, too */
    assert_ok(toy_layer("SoftmaxOutput", "softmax", NULL, NULL, &net));
    t.options.symbol = net;
    assert_fails(mxc_fit(&t.options, &result, NULL), MXC_EINVAL,
                 "in batch 1 of epoch 1, after 0 updates; the first array with NaN is output 'root_output'");
    mxc_symbol_release(net);
    toy_close(&t);
}

/* Nodes and predictions of 16 bits. */
static void test_nan_of_16_bits(void **state) {
    static const char *const dtypes[] = {"float16", "bfloat16"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        toy t;
        mxc_symbol *net;
        mxc_fit_progress result;
        assert_ok(toy_open(&t, "8"));
        assert_ok(mxc_symbol_variable("data", &net));
        assert_ok(toy_layer("FullyConnected", "fc", "num_hidden", "3", &net));
        assert_ok(toy_layer("Cast", "low", "dtype", dtypes[i], &net));
        assert_ok(toy_layer("sqrt", "root", NULL, NULL, &net));
        assert_ok(toy_layer("MakeLoss", "loss", NULL, NULL, &net));
        t.options.symbol = net;
        assert_fails(mxc_fit(&t.options, &result, NULL), MXC_EINVAL,
                     "the predictions are NaN in batch 1 of epoch 1, after 0 updates; the first array with NaN is "
                     "output 'root_output'");
        mxc_symbol_release(net);
        toy_close(&t);
    }
}

static void test_labels_outside(void **state) {
    static const float bad[] = {7, -1, NAN};
    toy t;
    mxc_fit_progress result;
    (void)state;
    for (int i = 0; i < 3; i++) {
        mxc_iter *iter = spoilt(0, bad[i]);
        assert_ok(toy_open(&t, "8"));
        t.options.train = iter;
        t.options.valid = NULL;
        assert_fails(mxc_fit(&t.options, &result, NULL), MXC_EINVAL, "in [0, 3)"); /* of whoever sees it first */
        assert_true(result.updates <= 3);
        mxc_iter_destroy(iter);
        toy_close(&t);
    }
}

/* Ignored samples neither count nor are refused. */
static void test_ignored_labels(void **state) {
    const char *key = "use_ignore", *value = "true";
    mxc_iter *iter = spoilt(0, -1), *valid = spoilt(0, -1);
    mxc_symbol *net, *top;
    mxc_fit_progress result;
    toy t;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    assert_ok(mxc_symbol_variable("data", &net));
    assert_ok(toy_layer("FullyConnected", "fc", "num_hidden", "3", &net));
    assert_ok(mxc_symbol_op("SoftmaxOutput", "softmax", 1, &key, &value, 1, NULL, &net, &top));
    t.options.symbol = top;
    t.options.train = iter;
    t.options.valid = valid;
    assert_ok(mxc_fit(&t.options, &result, NULL));
    assert_true(result.loss < 3 && result.valid_loss < 3);
    mxc_symbol_release(net);
    mxc_symbol_release(top);
    mxc_iter_destroy(iter);
    mxc_iter_destroy(valid);
    toy_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_repeats_itself),
        cmocka_unit_test(test_contexts_agree),
        cmocka_unit_test(test_callback),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_steady_state_allocates_nothing),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_wrong_network),
        cmocka_unit_test(test_no_batches),
        cmocka_unit_test(test_regression),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_nan_in_network),
        cmocka_unit_test(test_nan_of_16_bits),
        cmocka_unit_test(test_labels_outside),
        cmocka_unit_test(test_ignored_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

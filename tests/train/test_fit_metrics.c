/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of a training: those that the output decides, those of the options, and where they are shown. */
#include <math.h>

#include "base/sys.h"
#include "train/toy.h"

static test_path folder, path;

static int set_up(void **state) {
    (void)state;
    test_temp_dir(folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

/* The sum of the first predictions, by a program's own function. */
static mxc_status add_first(mxc_ndarray *label, mxc_ndarray *prediction, int64_t pad, double *state, void *user) {
    void *data;
    const mxc_shape *shape = mxc_ndarray_shape(prediction);
    (void)label;
    (void)user;
    MXC_TRY(mxc_ndarray_data(prediction, &data));
    for (int64_t i = 0; i < shape->dim[0] - pad; i++)
        state[0] += (double)((const float *)data)[i * shape->dim[1]];
    state[1] += (double)(shape->dim[0] - pad);
    return MXC_OK;
}

static double mean_first(const double *state, void *user) {
    (void)user;
    return state[1] > 0 ? state[0] / state[1] : NAN;
}

typedef struct seen {
    int n, wrong;
    double top_2; /* of the training data, in the last callback of an epoch */
} seen;

static mxc_status on_epoch(const mxc_fit_progress *p, int epoch_end, void *user) {
    seen *s = user;
    s->n++;
    s->wrong += p->n_metrics != 4 || p->metrics[0].train != p->loss || isnan(p->loss);
    s->wrong += strcmp(p->metrics[0].name, "cross-entropy") != 0 || strcmp(p->metrics[1].name, "top 2") != 0;
    s->wrong += epoch_end && !(p->metrics[1].train >= p->metrics[2].train && p->metrics[1].valid > 0.8);
    s->wrong += epoch_end && fabs(p->metrics[3].valid - 1.0 / 3) > 0.1;
    s->top_2 = p->metrics[1].train;
    return MXC_OK;
}

static void open_metrics(mxc_metric *out[3]) {
    const char *keys[] = {"top_k", "name"}, *values[] = {"2", "top 2"};
    assert_ok(mxc_metric_create("top_k_accuracy", 2, keys, values, &out[0]));
    assert_ok(mxc_metric_create("accuracy", 0, NULL, NULL, &out[1]));
    assert_ok(mxc_metric_create_own("first", 2, add_first, mean_first, NULL, 0, &out[2]));
}

static void test_chosen(void **state) {
    mxc_metric *metrics[3];
    mxc_fit_progress result, usual;
    seen s = {0};
    toy t;
    (void)state;
    open_metrics(metrics);
    assert_ok(toy_open(&t, "8"));
    assert_ok(mxc_fit(&t.options, &usual, NULL));
    toy_close(&t);
    assert_ok(toy_open(&t, "8"));
    test_join(path, folder, "curve.svg");
    t.options.n_metrics = 3;
    t.options.metrics = metrics;
    t.options.callback = on_epoch;
    t.options.user = &s;
    t.options.curve = path;
    assert_ok(mxc_fit(&t.options, &result, NULL));
    assert_true(s.n > 40 && s.wrong == 0);
    assert_true(result.valid_accuracy == usual.valid_accuracy && result.valid_loss == usual.valid_loss);
    assert_true(result.metrics[2].valid == usual.valid_accuracy);
    assert_int_equal(usual.n_metrics, 2);
    assert_true(usual.metrics[1].train == usual.accuracy && usual.metrics[0].valid == usual.valid_loss);
    char *text = test_read_file(path, &(size_t){0});
    assert_non_null(strstr(text, ">top 2<"));
    assert_non_null(strstr(text, ">first<"));
    free(text);
    for (int i = 0; i < 3; i++)
        mxc_metric_destroy(metrics[i]);
    toy_close(&t);
}

/* A metric of the loss's name is the loss. */
static void test_instead_of_the_loss(void **state) {
    const char *key = "eps", *value = "1";
    mxc_metric *ce;
    mxc_fit_progress result;
    toy t;
    (void)state;
    assert_ok(mxc_metric_create("ce", 1, &key, &value, &ce));
    assert_ok(toy_open(&t, "8"));
    t.options.n_metrics = 1;
    t.options.metrics = &ce;
    assert_ok(mxc_fit(&t.options, &result, NULL));
    assert_int_equal(result.n_metrics, 1);
    assert_true(result.loss < 0 && result.loss == result.metrics[0].train); /* -log(p + 1) */
    assert_true(isnan(result.accuracy));
    mxc_metric_destroy(ce);
    toy_close(&t);
}

static void test_refusals(void **state) {
    mxc_metric *metrics[2], *none = NULL;
    toy t;
    (void)state;
    assert_ok(mxc_metric_create("accuracy", 0, NULL, NULL, &metrics[0]));
    assert_ok(mxc_metric_create("acc", 0, NULL, NULL, &metrics[1]));
    assert_ok(toy_open(&t, "8"));
    t.options.n_metrics = 2;
    t.options.metrics = metrics;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "two metrics are called \"accuracy\"");
    t.options.n_metrics = 8;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "n_metrics is 8, expected 0 to 7");
    t.options.n_metrics = 1;
    t.options.metrics = NULL;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "with metrics");
    t.options.metrics = &none;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "metrics[0] is NULL");
    mxc_metric_destroy(metrics[0]);
    assert_ok(mxc_metric_create("mse", 0, NULL, NULL, &metrics[0]));
    t.options.metrics = metrics;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_ESHAPE, "mse: label (8,) does not fit prediction (8,3)");
    mxc_metric_destroy(metrics[0]);
    mxc_metric_destroy(metrics[1]);
    toy_close(&t);
}

/* ---- labels with an axis of their own ---------------------------------------------------------------------------- */

/* Batches of 4 samples with 3 numbers each, and a label for each number. */
typedef struct tokens {
    mxc_ndarray *data, *label;
    int at;
} tokens;

static int one(void *self) {
    (void)self;
    return 1;
}

static const mxc_data_desc *tokens_desc(void *self, int index) {
    static const mxc_data_desc descs[] = {{"data", {.ndim = 2, .dim = {4, 3}}, MXC_F32},
                                          {"softmax_label", {.ndim = 1, .dim = {12}}, MXC_F32}};
    (void)self;
    return index < 2 ? &descs[index] : NULL;
}

static mxc_status tokens_next(void *self, mxc_batch *out) {
    tokens *t = self;
    if (t->at++ % 6 == 5)
        return MXC_OK;
    *out = (mxc_batch){.n_data = 1, .n_label = 1, .data = &t->data, .label = &t->label};
    return MXC_OK;
}

/* The loss is the same on one context and on two. */
static void test_labels_of_tokens(void **state) {
    static const mxc_iter_methods methods = {
        .size = sizeof methods, .n_data = one, .n_label = one, .desc = tokens_desc, .next = tokens_next};
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    float x[12], y[12];
    double loss[2];
    mxc_symbol *net;
    (void)state;
    for (int i = 0; i < 12; i++) {
        y[i] = (float)(i * 5 % 3);
        x[i] = y[i] - 1 + toy_noise((uint32_t)i);
    }
    assert_ok(mxc_symbol_variable("data", &net));
    assert_ok(toy_layer("Reshape", "tokens", "shape", "(-1,1)", &net));
    assert_ok(toy_layer("FullyConnected", "fc", "num_hidden", "3", &net));
    assert_ok(toy_layer("SoftmaxOutput", "softmax", NULL, NULL, &net));
    for (int n = 1; n <= 2; n++) {
        tokens t = {0};
        mxc_iter *iter;
        mxc_fit_options o;
        mxc_fit_progress result;
        assert_ok(mxc_ndarray_from_data(2, (int64_t[]){4, 3}, MXC_F32, x, &t.data));
        assert_ok(mxc_ndarray_from_data(1, (int64_t[]){12}, MXC_F32, y, &t.label));
        assert_ok(mxc_iter_from_methods(&methods, &t, &iter));
        mxc_fit_options_init(&o, sizeof o);
        o.symbol = net;
        o.train = iter;
        o.n_contexts = n;
        o.contexts = contexts;
        o.epochs = 2;
        assert_ok(mxc_fit(&o, &result, NULL));
        assert_true(result.loss > 0 && result.accuracy > 0);
        loss[n - 1] = result.loss;
        mxc_iter_destroy(iter);
        mxc_ndarray_release(t.data);
        mxc_ndarray_release(t.label);
    }
    assert_true(fabs(loss[0] - loss[1]) < 1e-5);
    mxc_symbol_release(net);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

static mxc_status stop_at_17(const mxc_fit_progress *p, int epoch_end, void *user) {
    (void)epoch_end;
    *(int *)user = p->updates == 17;
    return MXC_OK;
}

static void run(const char *checkpoint, int *stop, int n_metrics, mxc_fit_progress *result) {
    mxc_metric *metrics[3];
    toy t;
    open_metrics(metrics);
    assert_ok(toy_open(&t, "8"));
    t.options.n_metrics = n_metrics;
    t.options.metrics = metrics;
    t.options.checkpoint = checkpoint;
    t.options.resume = checkpoint != NULL;
    t.options.stop = stop;
    t.options.callback = stop ? stop_at_17 : NULL;
    t.options.user = stop;
    assert_ok(mxc_fit(&t.options, result, NULL));
    for (int i = 0; i < 3; i++)
        mxc_metric_destroy(metrics[i]);
    toy_close(&t);
}

/* In the middle of an epoch: its metrics go on. */
static void test_resumed(void **state) {
    mxc_fit_progress whole, first, result;
    int stop = 0;
    (void)state;
    test_join(path, folder, "run");
    run(NULL, NULL, 3, &whole);
    run(path, &stop, 3, &first);
    assert_int_equal(first.interrupted, 1);
    run(path, NULL, 3, &result);
    assert_int_equal(result.n_metrics, 4);
    for (int i = 0; i < 4; i++)
        assert_true(result.metrics[i].train == whole.metrics[i].train &&
                    result.metrics[i].valid == whole.metrics[i].valid);
}

/* With other metrics than before: those that are new begin here. */
static void test_resumed_with_others(void **state) {
    mxc_fit_progress whole, result;
    int stop = 0;
    (void)state;
    test_join(path, folder, "others");
    run(NULL, NULL, 0, &whole);
    run(path, &stop, 1, &result);
    run(path, NULL, 3, &result);
    assert_int_equal(result.n_metrics, 4);
    assert_true(result.loss == whole.loss && result.valid_accuracy == whole.valid_accuracy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chosen),   cmocka_unit_test(test_instead_of_the_loss),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_labels_of_tokens),
        cmocka_unit_test(test_resumed),  cmocka_unit_test(test_resumed_with_others),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics by hand-made numbers, over batches, with padding, other dtypes, and labels that are no class. */
#include <math.h>

#include <mxc/train.h>

#include "base/sys.h"
#include "support.h"
#include "train/metric.h"

static const float prediction[12] = {
    0.1f, 0.7f, 0.2f, /* 1, then 2 */
    0.5f, 0.3f, 0.2f, /* 0, then 1 */
    0.2f, 0.2f, 0.6f, /* 2, then 0 and 1 alike */
    0.4f, 0.4f, 0.2f, /* 0 before 1 */
};
static const float label[4] = {1, 1, 2, 0};

static mxc_ndarray *array(int ndim, int64_t rows, int64_t columns, const float *data) {
    mxc_ndarray *out;
    assert_ok(mxc_ndarray_from_data(ndim, (int64_t[]){rows, columns}, MXC_F32, data, &out));
    return out;
}

static mxc_metric *metric(const char *name, const char *key, const char *value) {
    mxc_metric *out;
    assert_ok(mxc_metric_create(name, key != NULL, &key, &value, &out));
    assert_string_equal(mxc_metric_name(out), name);
    assert_true(isnan(mxc_metric_value(out)));
    return out;
}

static void expect(const char *name, const char *key, const char *value, int64_t pad, double expected) {
    mxc_metric *m = metric(name, key, value);
    mxc_ndarray *l = array(1, 4, 0, label), *p = array(2, 4, 3, prediction);
    assert_ok(mxc_metric_update(m, l, p, pad));
    assert_true(fabs(mxc_metric_value(m) - expected) < 1e-6);
    assert_ok(mxc_metric_update(m, l, p, pad)); /* the mean of two equal batches */
    assert_true(fabs(mxc_metric_value(m) - expected) < 1e-6);
    mxc_metric_reset(m);
    assert_true(isnan(mxc_metric_value(m)));
    mxc_metric_destroy(m);
    mxc_ndarray_release(l);
    mxc_ndarray_release(p);
}

static void test_classes(void **state) {
    (void)state;
    expect("accuracy", NULL, NULL, 0, 0.75);
    expect("accuracy", NULL, NULL, 2, 0.5);
    expect("top_k_accuracy", "top_k", "1", 0, 0.75);
    expect("top_k_accuracy", "top_k", "2", 0, 1);
    expect("cross-entropy", NULL, NULL, 0, -(log(0.7) + log(0.3) + log(0.6) + log(0.4)) / 4);
    expect("cross-entropy", NULL, NULL, 3, -log(0.7));
    expect("cross-entropy", "eps", "1", 3, -log(1.7));
}

static void test_regression(void **state) {
    const float target[4] = {1, 2, 3, 4}, guess[4] = {1, 4, 0, 4};
    mxc_metric *mse = metric("mse", NULL, NULL), *mae = metric("mae", NULL, NULL);
    mxc_ndarray *t = array(2, 2, 2, target), *g = array(2, 2, 2, guess);
    (void)state;
    assert_ok(mxc_metric_update(mse, t, g, 0));
    assert_ok(mxc_metric_update(mae, t, g, 0));
    assert_true(fabs(mxc_metric_value(mse) - 13.0 / 4) < 1e-9);
    assert_true(fabs(mxc_metric_value(mae) - 5.0 / 4) < 1e-9);
    mxc_metric_reset(mse);
    assert_ok(mxc_metric_update(mse, t, g, 1)); /* a row has two elements */
    assert_true(fabs(mxc_metric_value(mse) - 4.0 / 2) < 1e-9);
    mxc_metric_destroy(mse);
    mxc_metric_destroy(mae);
    mxc_ndarray_release(t);
    mxc_ndarray_release(g);
}

/* Labels that are no class count as wrong, whatever they are; of likelihood there is none. */
static void test_labels_that_are_none(void **state) {
    const float odd[4] = {-1, 3, NAN, 1e30f};
    static const char *const names[] = {"accuracy", "top_k_accuracy"};
    mxc_ndarray *l = array(1, 4, 0, odd), *p = array(2, 4, 3, prediction);
    (void)state;
    for (int i = 0; i < 2; i++) {
        mxc_metric *m = metric(names[i], NULL, NULL);
        assert_ok(mxc_metric_update(m, l, p, 0));
        assert_true(mxc_metric_value(m) == 0);
        mxc_metric_destroy(m);
    }
    mxc_metric *m = metric("cross-entropy", NULL, NULL);
    assert_fails(mxc_metric_update(m, l, p, 0), MXC_EINVAL,
                 "cross-entropy: label 0 of the batch is -1, expected a class in [0, 3)");
    assert_true(isnan(mxc_metric_value(m)));
    mxc_metric_destroy(m);
    mxc_ndarray_release(l);
    mxc_ndarray_release(p);
}

/* Some labels say that their samples do not count. */
static void test_ignored_labels(void **state) {
    const float some[4] = {1, 255, 2, 255}, all[4] = {255, 255, 255, 255};
    static const char *const names[] = {"accuracy", "top_k_accuracy", "cross-entropy"};
    mxc_ndarray *l = array(1, 4, 0, some), *none = array(1, 4, 0, all), *p = array(2, 4, 3, prediction);
    (void)state;
    for (int i = 0; i < 3; i++) {
        mxc_metric *m = metric(names[i], "ignore_label", "255");
        assert_ok(mxc_metric_update(m, none, p, 0));
        assert_true(isnan(mxc_metric_value(m)));
        assert_ok(mxc_metric_update(m, l, p, 0));
        double expected = i < 2 ? 1 : -(log(0.7) + log(0.6)) / 2;
        assert_true(fabs(mxc_metric_value(m) - expected) < 1e-6);
        mxc_metric_destroy(m);
    }
    mxc_ndarray_release(l);
    mxc_ndarray_release(none);
    mxc_ndarray_release(p);
}

/* Predictions that are no numbers hit nothing, also not class 0. */
static void test_nan_predictions(void **state) {
    const float zeros[4] = {0, 0, 0, 0};
    const float odd[12] = {NAN, NAN, NAN, NAN, 0, 0, 0.9f, NAN, 0, 0.9f, 0, 0};
    mxc_ndarray *l = array(1, 4, 0, zeros), *p = array(2, 4, 3, odd);
    static const char *const names[] = {"accuracy", "top_k_accuracy"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        mxc_metric *m = metric(names[i], NULL, NULL);
        assert_ok(mxc_metric_update(m, l, p, 0));
        assert_true(mxc_metric_value(m) == 0.25);
        mxc_metric_destroy(m);
    }
    mxc_ndarray_release(l);
    mxc_ndarray_release(p);
}

/* The mean of what a loss gives; labels do not matter. */
static void test_loss(void **state) {
    mxc_metric *m = metric("loss", NULL, NULL);
    mxc_ndarray *p = array(2, 4, 3, prediction);
    (void)state;
    assert_ok(mxc_metric_update(m, NULL, p, 0));
    assert_true(fabs(mxc_metric_value(m) - 4.0 / 12) < 1e-6);
    mxc_metric_destroy(m);
    mxc_ndarray_release(p);
}

static void test_other_dtypes_and_contexts(void **state) {
    mxc_metric *m = metric("accuracy", NULL, NULL);
    mxc_ndarray *l = array(1, 4, 0, label), *p = array(2, 4, 3, prediction), *l8, *p16;
    (void)state;
    assert_ok(mxc_ndarray_copy(l, mxc_cpu(1), MXC_U8, &l8));
    assert_ok(mxc_ndarray_copy(p, mxc_cpu(2), MXC_F16, &p16));
    assert_ok(mxc_metric_update(m, l8, p16, 0));
    assert_true(mxc_metric_value(m) == 0.75);
    mxc_metric_destroy(m);
    mxc_ndarray_release(l);
    mxc_ndarray_release(p);
    mxc_ndarray_release(l8);
    mxc_ndarray_release(p16);
}

static void test_state(void **state) {
    mxc_metric *m = metric("cross-entropy", NULL, NULL), *copy;
    mxc_ndarray *l = array(1, 4, 0, label), *p = array(2, 4, 3, prediction);
    const double sums[] = {6, 3};
    int64_t before = mxci_alloc_count();
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_ok(mxc_metric_update(m, l, p, 0));
    assert_int_equal(mxci_alloc_count(), before);
    assert_int_equal(mxci_metric_get_state(m)->n, 2);
    assert_true(mxci_metric_get_state(m)->values[1] == 12);
    assert_ok(mxci_metric_set_state(m, 2, sums));
    assert_true(mxc_metric_value(m) == 2);
    assert_fails(mxci_metric_set_state(m, 1, sums), MXC_EFORMAT, "1 numbers, expected 2");
    assert_fails(mxci_metric_set_state(m, 3, (double[]){6, 3, 0}), MXC_EFORMAT, "3 numbers, expected 2");
    assert_ok(mxci_metric_set_state(m, 2, (double[]){NAN, 3})); /* a sum may be NaN, with allow_nan */
    assert_true(isnan(mxc_metric_value(m)));
    mxc_metric *auc = metric("auc", NULL, NULL);
    assert_fails(mxci_metric_set_state(auc, 4, (double[]){1, 0, NAN, 1}), MXC_EFORMAT,
                 "record 1 of the state has a NaN");
    assert_fails(mxci_metric_set_state(auc, 3, (double[]){1, 0, 2}), MXC_EFORMAT, "expected 2 for each record");
    assert_ok(mxci_metric_set_state(auc, 4, (double[]){1, 0, INFINITY, 1}));
    assert_true(mxc_metric_value(auc) == 1);
    mxc_metric_destroy(auc);
    assert_ok(mxci_metric_clone(m, &copy));
    assert_true(isnan(mxc_metric_value(copy)));
    assert_string_equal(mxc_metric_name(copy), "cross-entropy");
    mxc_metric_destroy(copy);
    mxc_metric_destroy(m);
    mxc_ndarray_release(l);
    mxc_ndarray_release(p);
}

/* Names of MXNet, and names for display. */
static void test_names(void **state) {
    static const char *const aliases[][2] = {{"acc", "accuracy"},      {"top_k_acc", "top_k_accuracy"},
                                             {"ce", "cross-entropy"},  {"negativeloglikelihood", "nll_loss"},
                                             {"nll-loss", "nll_loss"}, {"pearsoncorrelation", "pearsonr"}};
    const char *key = "name", *value = "test accuracy";
    char *text;
    (void)state;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        mxc_metric *m;
        assert_ok(mxc_metric_create(aliases[i][0], 0, NULL, NULL, &m));
        assert_string_equal(mxc_metric_name(m), aliases[i][1]);
        mxc_metric_destroy(m);
    }
    mxc_metric *m;
    assert_ok(mxc_metric_create("accuracy", 1, &key, &value, &m));
    assert_string_equal(mxc_metric_name(m), "test accuracy");
    assert_true(mxc_metric_higher_is_better(m));
    mxc_metric_destroy(m);
    for (int i = 0; mxc_metric_name_at(i); i++) {
        assert_ok(mxc_metric_describe(mxc_metric_name_at(i), &text));
        assert_non_null(strstr(text, "name : string"));
        mxc_free(text);
        assert_ok(mxc_metric_create(mxc_metric_name_at(i), 0, NULL, NULL, &m));
        assert_string_equal(mxc_metric_name(m), mxc_metric_name_at(i));
        assert_true(isnan(mxc_metric_value(m)));
        mxc_metric_destroy(m);
    }
    assert_null(mxc_metric_name_at(-1));
    assert_fails(mxc_metric_describe("f2", &text), MXC_ENOTFOUND, "f1, mcc, auc");
}

/* ---- metrics of the program -------------------------------------------------------------------------------------- */

/* Share of rows whose first prediction is above *user. */
static mxc_status count_high(mxc_ndarray *l, mxc_ndarray *p, int64_t pad, double *state, void *user) {
    const mxc_shape *shape = mxc_ndarray_shape(p);
    void *data;
    (void)l;
    if (shape->ndim != 2)
        return MXC_FAIL(MXC_ESHAPE, "expected rows");
    MXC_TRY(mxc_ndarray_data(p, &data));
    for (int64_t i = 0; i < shape->dim[0] - pad; i++) {
        state[0] += ((const float *)data)[i * shape->dim[1]] > *(const float *)user;
        state[1]++;
    }
    return MXC_OK;
}

static double share_of_high(const double *state, void *user) {
    (void)user;
    return state[1] > 0 ? state[0] / state[1] : NAN;
}

static void test_own(void **state) {
    float limit = 0.3f;
    mxc_metric *m, *copy;
    mxc_ndarray *p = array(2, 4, 3, prediction), *flat = array(1, 4, 0, label);
    char long_name[80];
    (void)state;
    assert_ok(mxc_metric_create_own("high", 2, count_high, share_of_high, &limit, 1, &m));
    assert_string_equal(mxc_metric_name(m), "high");
    assert_true(isnan(mxc_metric_value(m)));
    assert_ok(mxc_metric_update(m, NULL, p, 1));
    assert_true(fabs(mxc_metric_value(m) - 1.0 / 3) < 1e-12);
    assert_ok(mxci_metric_clone(m, &copy));
    assert_true(isnan(mxc_metric_value(copy)));
    assert_ok(mxc_metric_update(copy, NULL, p, 0));
    assert_true(mxc_metric_value(copy) == 0.5);
    assert_fails(mxc_metric_update(m, NULL, flat, 0), MXC_ESHAPE, "metric high: its update failed");
    mxc_metric_reset(m);
    assert_true(isnan(mxc_metric_value(m)));
    mxc_metric_destroy(m);
    mxc_metric_destroy(copy);
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_fails(mxc_metric_create_own(long_name, 2, count_high, share_of_high, &limit, 1, &m), MXC_EINVAL, "63 bytes");
    assert_fails(mxc_metric_create_own("", 2, count_high, share_of_high, &limit, 1, &m), MXC_EINVAL, "name");
    assert_fails(mxc_metric_create_own("a", -1, count_high, share_of_high, &limit, 1, &m), MXC_EINVAL, "n_state -1");
    assert_fails(mxc_metric_create_own("a", 1, NULL, share_of_high, &limit, 1, &m), MXC_EINVAL, "update");
    mxc_ndarray_release(p);
    mxc_ndarray_release(flat);
}

static void test_refusals(void **state) {
    mxc_metric *m = metric("accuracy", NULL, NULL), *none, *mae = metric("mae", NULL, NULL);
    mxc_ndarray *l = array(1, 4, 0, label), *p = array(2, 4, 3, prediction), *empty;
    mxc_ndarray *short_label = array(1, 3, 0, label);
    const char *key = "top_k", *value = "0";
    (void)state;
    assert_ok(mxc_ndarray_create(2, (int64_t[]){4, 0}, MXC_F32, mxc_cpu(0), &empty));
    assert_fails(mxc_metric_create("f2", 0, NULL, NULL, &none), MXC_ENOTFOUND, "accuracy, top_k_accuracy");
    assert_fails(mxc_metric_create("top_k_accuracy", 1, &key, &value, &none), MXC_EINVAL, "top_k");
    assert_fails(mxc_metric_create("accuracy", 1, &key, &value, &none), MXC_EINVAL, "top_k");
    assert_null(none);
    assert_fails(mxc_metric_update(m, short_label, p, 0), MXC_ESHAPE, "label (3,) does not fit prediction (4,3)");
    assert_fails(mxc_metric_update(m, l, empty, 0), MXC_ESHAPE, "does not fit");
    assert_fails(mxc_metric_update(mae, l, p, 0), MXC_ESHAPE, "does not fit");
    assert_fails(mxc_metric_update(m, l, p, 5), MXC_EINVAL, "pad 5");
    assert_fails(mxc_metric_update(m, l, p, -1), MXC_EINVAL, "pad -1");
    assert_fails(mxc_metric_update(m, NULL, p, 0), MXC_EINVAL, "NULL");
    assert_true(isnan(mxc_metric_value(m)));
    assert_true(isnan(mxc_metric_value(NULL)));
    assert_string_equal(mxc_metric_name(NULL), "");
    mxc_metric_reset(NULL);
    mxc_metric_destroy(NULL);
    mxc_metric_destroy(m);
    mxc_metric_destroy(mae);
    mxc_ndarray_release(l);
    mxc_ndarray_release(p);
    mxc_ndarray_release(short_label);
    mxc_ndarray_release(empty);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_regression),
        cmocka_unit_test(test_labels_that_are_none),
        cmocka_unit_test(test_ignored_labels),
        cmocka_unit_test(test_nan_predictions),
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_other_dtypes_and_contexts),
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

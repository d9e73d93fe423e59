/* SPDX-License-Identifier: Apache-2.0 */
/* The best model, the last models, and early stopping, by metrics whose values are known: those of a program. */
#include <math.h>

#include "base/sys.h"
#include "train/toy.h"

static test_path folder, prefix;

static int set_up(void **state) {
    (void)state;
    test_temp_dir(folder);
    test_join(prefix, folder, "run");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove_dir(folder);
    return 0;
}

/* values[epoch], whatever the data. */
typedef struct plan {
    const double *values;
    int epoch;
} plan;

static mxc_status count_batch(mxc_ndarray *label, mxc_ndarray *prediction, int64_t pad, double *state, void *user) {
    (void)label;
    (void)prediction;
    (void)pad;
    (void)user;
    state[0]++;
    return MXC_OK;
}

static double planned_value(const double *state, void *user) {
    const plan *p = user;
    return state[0] > 0 ? p->values[p->epoch] : NAN;
}

static mxc_status on_epoch(const mxc_fit_progress *p, int epoch_end, void *user) {
    if (epoch_end)
        ((plan *)user)->epoch = (int)p->epoch + 1;
    return MXC_OK;
}

enum { EPOCHS = 6 };

typedef struct trial {
    double values[EPOCHS];
    int higher, best_epoch;
    int64_t patience, epochs; /* until the end */
    double min_delta;
} trial;

static int exists(const char *format, int epoch) {
    test_path path;
    int n = snprintf(path, sizeof path, "%.480s", prefix);
    snprintf(path + n, sizeof path - (size_t)n, format, epoch);
    return access(path, F_OK) == 0;
}

static void run_trial(const trial *e, int has_validation, int64_t keep) {
    plan p = {.values = e->values};
    mxc_metric *metric;
    mxc_fit_progress result;
    mxc_ndarray_list best, saved;
    test_path path;
    toy t;
    assert_ok(toy_open(&t, "8"));
    assert_ok(mxc_metric_create_own("planned", 1, count_batch, planned_value, &p, e->higher, &metric));
    t.options.valid = has_validation ? t.valid : NULL;
    t.options.epochs = EPOCHS;
    t.options.n_metrics = 1;
    t.options.metrics = &metric;
    t.options.monitor = "planned";
    t.options.save_best = 1;
    t.options.keep_models = keep;
    t.options.patience = e->patience;
    t.options.min_delta = e->min_delta;
    t.options.checkpoint = prefix;
    t.options.callback = on_epoch;
    t.options.user = &p;
    assert_ok(mxc_fit(&t.options, &result, NULL));
    assert_int_equal(result.epoch, e->epochs);
    assert_int_equal(result.stopped_early, e->epochs < EPOCHS);
    assert_int_equal(result.best_epoch, e->best_epoch);
    for (int epoch = 1; epoch <= EPOCHS; epoch++)
        assert_int_equal(exists("-%04d.params", epoch), epoch <= e->epochs && (keep == 0 || epoch > e->epochs - keep));
    assert_int_equal(exists("-best.params", 0), e->best_epoch > 0);
    if (e->best_epoch > 0) {
        assert_true(result.best == e->values[e->best_epoch - 1]);
        snprintf(path, sizeof path, "%.480s-best.params", prefix);
        assert_ok(mxc_ndarray_load(path, &best));
        if (keep == 0) {
            assert_ok(mxc_model_load(prefix, e->best_epoch, NULL, &saved));
            toy_expect_same(&saved, &best);
            mxc_ndarray_list_release(&saved);
        }
        mxc_ndarray_list_release(&best);
    } else {
        assert_true(isnan(result.best));
    }
    t.options.resume = 1; /* it has ended */
    p.epoch = 0;
    assert_ok(mxc_fit(&t.options, &result, NULL));
    assert_int_equal(result.epoch, e->epochs);
    assert_int_equal(result.stopped_early, e->epochs < EPOCHS);
    mxc_metric_destroy(metric);
    toy_close(&t);
    test_remove_dir(folder);
    set_up(NULL);
}

static void test_trials(void **state) {
    static const trial trials[] = {
        {{3, 2, 1, 2, 3, 4}, 0, 3, 0, 6, 0},           {{3, 2, 1, 2, 3, 4}, 1, 6, 0, 6, 0},
        {{3, 2, 1, 2, 3, 4}, 0, 3, 2, 5, 0},           {{3, 2, 2.5, 1, 3, 4}, 0, 4, 2, 6, 0},
        {{3, 2.9, 2.8, 2.7, 2.6, 2.5}, 0, 1, 2, 3, 1}, {{3, 2.9, 2.8, 1.9, 2.6, 2.5}, 0, 4, 3, 6, 1},
        {{NAN, NAN, 5, NAN, 6, 1}, 1, 5, 3, 6, 0},     {{NAN, NAN, NAN, NAN, NAN, NAN}, 1, 0, 4, 4, 0},
        {{1, 1, 1, 1, 1, 1}, 1, 1, 1, 2, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        run_trial(&trials[i], i % 2 == 0, i % 3);
}

/* By default the loss, of the validation data. */
static void test_default(void **state) {
    mxc_fit_progress result;
    toy t;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    t.options.patience = 3;
    assert_ok(mxc_fit(&t.options, &result, NULL));
    assert_true(result.best <= result.valid_loss && result.best > 0 && result.best_epoch > 0);
    t.options.monitor = "loss";
    assert_ok(mxc_fit(&t.options, &result, NULL));
    assert_true(result.best <= result.valid_loss);
    t.options.monitor = "accuracy";
    assert_ok(mxc_fit(&t.options, &result, NULL));
    assert_true(result.best >= result.valid_accuracy && result.best <= 1);
    toy_close(&t);
}

static mxc_status on_epoch_of_both(const mxc_fit_progress *p, int epoch_end, void *user) {
    plan *both = user;
    if (epoch_end)
        both[0].epoch = both[1].epoch = (int)p->epoch + 1;
    return MXC_OK;
}

/* The epochs until the given one, from the checkpoint if there is one; the lower of both metrics' values are better. */
static void run_until(int64_t epochs, const char *monitor, int64_t patience, mxc_fit_progress *result) {
    static const double first[EPOCHS] = {1, 0.5, 2, 3, 4, 5}, second[EPOCHS] = {9, 8, 9, 5, 4, 6};
    plan plans[2] = {{.values = first}, {.values = second}};
    mxc_metric *metrics[2];
    toy t;
    assert_ok(toy_open(&t, "8"));
    assert_ok(mxc_metric_create_own("first", 1, count_batch, planned_value, &plans[0], 0, &metrics[0]));
    assert_ok(mxc_metric_create_own("second", 1, count_batch, planned_value, &plans[1], 0, &metrics[1]));
    plans[0].epoch = plans[1].epoch = epochs > 3 ? 3 : 0;
    t.options.valid = NULL;
    t.options.epochs = epochs;
    t.options.n_metrics = 2;
    t.options.metrics = metrics;
    t.options.monitor = monitor;
    t.options.patience = patience;
    t.options.save_best = monitor != NULL;
    t.options.checkpoint = prefix;
    t.options.resume = 1;
    t.options.callback = on_epoch_of_both;
    t.options.user = plans;
    assert_ok(mxc_fit(&t.options, result, NULL));
    mxc_metric_destroy(metrics[0]);
    mxc_metric_destroy(metrics[1]);
    toy_close(&t);
}

/* Best values of no metric, or of another one, do not count. */
static void test_resumed_with_another_monitor(void **state) {
    static const char *const before[] = {NULL, "first", "second"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        mxc_fit_progress result;
        run_until(3, before[i], 0, &result);
        assert_int_equal(result.best_epoch, i == 0 ? 0 : 2);
        run_until(EPOCHS, "second", 2, &result);
        assert_int_equal(result.epoch, EPOCHS);
        assert_int_equal(result.stopped_early, 0);
        assert_int_equal(result.best_epoch, 5);
        assert_true(result.best == 4);
        tear_down(NULL);
        set_up(NULL);
    }
    mxc_fit_progress result;
    run_until(3, "second", 0, &result); /* now no later epoch is better than the second one */
    run_until(EPOCHS, "first", 2, &result);
    assert_int_equal(result.epoch, EPOCHS);
    assert_int_equal(result.best_epoch, 4);
    assert_true(result.best == 3);
}

static void test_refusals(void **state) {
    test_path path;
    toy t;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    t.options.monitor = "f1";
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_ENOTFOUND,
                 "metric \"f1\" to choose models by; there are: "
                 "cross-entropy, accuracy");
    t.options.monitor = NULL;
    t.options.save_best = 1;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "save_best needs a checkpoint prefix");
    t.options.save_best = 0;
    t.options.patience = -1;
    t.options.monitor = "loss";
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "patience -1");
    t.options.patience = 0;
    t.options.keep_models = -1;
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "keep_models -1");
    t.options.keep_models = 0;
    t.options.save_best = 1; /* a file that another training wrote */
    t.options.checkpoint = prefix;
    snprintf(path, sizeof path, "%.480s-best.params", prefix);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EEXIST, "-best.params exists");
    toy_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_trials, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_default, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_resumed_with_another_monitor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

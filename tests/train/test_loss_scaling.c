/* SPDX-License-Identifier: Apache-2.0 */
/* Training in 16 bits: it learns as in f32, and steps with infinite gradients are skipped. */
#include <math.h>

#include "base/sys.h"
#include "rewrite/mixed_precision.h"
#include "train/toy.h"

/* ---- training ---------------------------------------------------------------------------------------------------- */

static void fit(const char *dtype, const char *scale, int n_contexts, mxc_fit_progress *result,
                mxc_ndarray_list *params) {
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    toy t;
    assert_ok(toy_open(&t, "8"));
    t.options.epochs = 10;
    t.options.schedule.total = 120;
    t.options.dtype = dtype;
    t.options.loss_scale = scale;
    t.options.n_contexts = n_contexts;
    t.options.contexts = contexts;
    assert_ok(mxc_fit(&t.options, result, params));
    toy_close(&t);
}

static void test_learns(void **state) {
    static const char *const dtypes[] = {"float32", "float16", "bfloat16"};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int contexts = 1; contexts <= 2; contexts++) {
            mxc_fit_progress result;
            mxc_ndarray_list params;
            fit(dtypes[i], NULL, contexts, &result, &params);
            assert_true(result.valid_accuracy > 0.95);
            assert_true(result.valid_loss < 0.4);
            assert_true(i == 1 ? result.loss_scale >= 1024 && result.loss_scale < 65536 : result.loss_scale == 0);
            assert_int_equal(params.n, 6 + 2);
            assert_int_equal(mxc_ndarray_dtype(mxc_ndarray_list_find(&params, "arg:fc1_weight")), MXC_F32);
            mxc_ndarray_list_release(&params);
        }
}

/* A power of two changes no bit of f32. */
static void test_scale_leaves_f32(void **state) {
    mxc_fit_progress plain, scaled;
    mxc_ndarray_list a, b;
    (void)state;
    fit(NULL, NULL, 1, &plain, &a);
    fit("float32", "1024", 1, &scaled, &b);
    assert_true(plain.loss == scaled.loss && scaled.loss_scale == 1024);
    toy_expect_same(&a, &b);
    mxc_ndarray_list_release(&a);
    mxc_ndarray_list_release(&b);
}

typedef struct watch {
    const mxc_fit_options *options;
    int steps;
} watch;

static mxc_status stop_after(const mxc_fit_progress *progress, int epoch_end, void *user) {
    watch *w = user;
    (void)progress;
    if (!epoch_end && --w->steps == 0)
        *w->options->stop = 1;
    return MXC_OK;
}

/* Gradients of 16 bits times this are too large: no step is made. */
static void test_skips(void **state) {
    static const char *const keys[] = {"momentum"}, *const values[] = {"0.9"};
    volatile int stop = 0;
    mxc_fit_progress result;
    mxc_ndarray_list first, later;
    toy t;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    watch w = {&t.options, 1};
    t.options.dtype = "float16";
    t.options.loss_scale = "1e7"; /* more than 65504, whatever the gradient is */
    t.options.n_optimizer_params = 1;
    t.options.optimizer_keys = keys;
    t.options.optimizer_values = values;
    t.options.stop = &stop;
    t.options.callback = stop_after;
    t.options.user = &w;
    assert_ok(mxc_fit(&t.options, &result, &first));
    assert_true(result.loss_scale == 1e7); /* it was given, so it stays */
    stop = 0;
    w.steps = 5;
    assert_ok(mxc_iter_reset(t.train));
    assert_ok(mxc_fit(&t.options, &result, &later));
    for (int64_t i = 0; i < first.n; i++) /* nothing moved but what BatchNorm measures */
        if (strncmp(first.names[i], "arg:", 4) == 0) {
            void *a, *b;
            assert_ok(mxc_ndarray_data(first.arrays[i], &a));
            assert_ok(mxc_ndarray_data(later.arrays[i], &b));
            assert_memory_equal(a, b, mxc_ndarray_bytes(first.arrays[i]));
        }
    mxc_ndarray_list_release(&first);
    mxc_ndarray_list_release(&later);
    toy_close(&t);
}

static void test_refusals(void **state) {
    toy t;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    t.options.dtype = "int8";
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "expected float32, float16 or bfloat16");
    t.options.dtype = "float16";
    t.options.loss_scale = "much";
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "expected \"dynamic\" or a number");
    toy_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_scale_leaves_f32),
        cmocka_unit_test(test_skips),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Running a trained symbol over data: the right figures, and what does not fit. */
#include <math.h>

#include "base/sys.h"
#include "train/toy.h"

static void test_same_as_validation(void **state) {
    toy t;
    mxc_fit_progress result;
    mxc_ndarray_list params;
    mxc_metric *metrics[2];
    (void)state;
    assert_ok(toy_open(&t, "8"));
    assert_ok(mxc_fit(&t.options, &result, &params));
    assert_ok(mxc_metric_create("cross-entropy", 0, NULL, NULL, &metrics[0]));
    assert_ok(mxc_metric_create("accuracy", 0, NULL, NULL, &metrics[1]));
    for (int i = 0; i < 3; i++) {
        mxc_metric_reset(metrics[0]);
        mxc_metric_reset(metrics[1]);
        assert_ok(mxc_evaluate(t.net, &params, t.valid, mxc_cpu(i), 2, metrics));
        assert_true(mxc_metric_value(metrics[0]) == result.valid_loss);
        assert_true(mxc_metric_value(metrics[1]) == result.valid_accuracy);
    }
    assert_ok(mxc_evaluate(t.net, &params, t.valid, mxc_cpu(0), 0, NULL));
    mxc_metric_destroy(metrics[0]);
    mxc_metric_destroy(metrics[1]);
    mxc_ndarray_list_release(&params);
    toy_close(&t);
}

static void test_what_does_not_fit(void **state) {
    toy t;
    mxc_ndarray_list params, none = {0};
    mxc_ndarray *narrow, *labels;
    mxc_iter *iter;
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    const char *other[] = {"pixels", "classes"};
    (void)state;
    assert_ok(toy_open(&t, "8"));
    t.options.epochs = 0;
    assert_ok(mxc_fit(&t.options, NULL, &params));
    assert_fails(mxc_evaluate(t.net, &none, t.valid, mxc_cpu(0), 0, NULL), MXC_ENOTFOUND, "missing: fc1_weight");
    assert_fails(mxc_evaluate(NULL, &params, t.valid, mxc_cpu(0), 0, NULL), MXC_EINVAL, "symbol");
    assert_fails(mxc_evaluate(t.net, &params, t.valid, mxc_cpu(0), 1, NULL), MXC_EINVAL, "metrics");
    assert_ok(mxc_ndarray_create(2, (int64_t[]){4, TOY_WIDTH + 1}, MXC_F32, mxc_cpu(0), &narrow));
    assert_ok(mxc_ndarray_fill(narrow, 0));
    assert_ok(mxc_ndarray_create(1, (int64_t[]){4}, MXC_F32, mxc_cpu(0), &labels));
    assert_ok(mxc_ndarray_fill(labels, 0));
    assert_ok(mxc_iter_from_arrays(&options, 1, &narrow, 1, &labels, NULL, &iter));
    assert_fails(mxc_evaluate(t.net, &params, iter, mxc_cpu(0), 0, NULL), MXC_ESHAPE,
                 "\"arg:fc1_weight\": expected shape (8,7), found (8,6)");
    mxc_iter_destroy(iter);
    assert_ok(mxc_iter_from_arrays(&options, 1, &narrow, 1, &labels, other, &iter));
    assert_fails(mxc_evaluate(t.net, &params, iter, mxc_cpu(0), 0, NULL), MXC_ENOTFOUND, "pixels");
    mxc_iter_destroy(iter);
    mxc_ndarray_release(narrow);
    mxc_ndarray_release(labels);
    mxc_ndarray_list_release(&params);
    toy_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_validation),
        cmocka_unit_test(test_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Training on GPUs: on one, and on two where there are two, with the same result as on the CPU; and on one that is not
 * there a clear refusal. */
#include <math.h>

#include "train/toy.h"

static int n_gpus;

static void fit(int n, const mxc_context *contexts, const char *kvstore, mxc_ndarray_list *params,
                mxc_fit_progress *result) {
    toy t;
    assert_ok(toy_open(&t, "8"));
    t.options.n_contexts = n;
    t.options.contexts = contexts;
    t.options.kvstore = kvstore;
    t.options.epochs = TEST_SANITIZED ? 1 : 3;
    assert_ok(mxc_fit(&t.options, result, params));
    toy_close(&t);
}

static void expect_near(const mxc_ndarray_list *a, const mxc_ndarray_list *b) {
    assert_int_equal(a->n, b->n);
    for (int64_t i = 0; i < a->n; i++) {
        int64_t n = mxc_ndarray_size(a->arrays[i]);
        float *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y);
        assert_ok(mxc_ndarray_get(a->arrays[i], x, (size_t)n * sizeof *x));
        assert_ok(mxc_ndarray_get(b->arrays[i], y, (size_t)n * sizeof *y));
        for (int64_t k = 0; k < n; k++)
            if (!(fabsf(x[k] - y[k]) <= 2e-3f * (1 + fabsf(y[k]))))
                fail_msg("%s: element %lld: %g and %g", a->names[i], (long long)k, x[k], y[k]);
        free(x);
        free(y);
    }
}

static void compare(int n, const mxc_context *gpus, const char *kvstore) {
    const mxc_context cpus[] = {mxc_cpu(0), mxc_cpu(1)};
    mxc_ndarray_list expected, found;
    mxc_fit_progress on_cpu, on_gpu;
    fit(n, cpus, "local", &expected, &on_cpu);
    fit(n, gpus, kvstore, &found, &on_gpu);
    assert_true(fabs(on_gpu.loss - on_cpu.loss) < 1e-3);
    expect_near(&found, &expected);
    mxc_ndarray_list_release(&expected);
    mxc_ndarray_list_release(&found);
}

static void test_one(void **state) {
    const mxc_context gpu = mxc_gpu(0);
    (void)state;
    compare(1, &gpu, "local");
}

static void test_two(void **state) {
    const mxc_context gpus[] = {mxc_gpu(0), mxc_gpu(1)};
    (void)state;
    if (n_gpus < 2) {
        print_message("skipped: needs two GPUs\n");
        skip();
    }
    compare(2, gpus, "local");
    compare(2, gpus, "device");
}

/* In 16 bits, where a first scale of 65536 is too large: what is decided on the device. */
static void test_short(void **state) {
    const mxc_context gpus[] = {mxc_gpu(0), mxc_gpu(1)};
    (void)state;
    for (int n = 1; n <= 2 && n <= n_gpus; n++) {
        mxc_fit_progress result;
        toy t;
        assert_ok(toy_open(&t, "8"));
        t.options.n_contexts = n;
        t.options.contexts = gpus;
        t.options.kvstore = "device";
        t.options.dtype = "float16";
        t.options.epochs = TEST_SANITIZED ? 1 : 6;
        assert_ok(mxc_fit(&t.options, &result, NULL));
        assert_true(result.valid_accuracy > (TEST_SANITIZED ? 0.3 : 0.9));
        assert_true(result.loss_scale >= 1024 && result.loss_scale < 65536);
        toy_close(&t);
    }
}

static void test_no_such_gpu(void **state) {
    const mxc_context gpu = mxc_gpu(63);
    mxc_ndarray_list params;
    toy t;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    t.options.n_contexts = 1;
    t.options.contexts = &gpu;
    assert_fails(mxc_fit(&t.options, NULL, &params), MXC_EDEVICE, "gpu(63): no such device");
    toy_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_no_such_gpu),
    };
    if (mxc_device_count(MXC_GPU, &n_gpus) != MXC_OK || n_gpus == 0) {
        fprintf(stderr, "no GPU: %s\n", mxc_last_error());
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays on one GPU or more: copies each way, views, conversions, printing, files, pools, and running out of memory. */
#include "support.h"

#include <mxc/mxc.h>

#include "base/device.h"

enum { N = 1000 };

static int n_gpus;

/* Another GPU than the first, where there is one. */
static mxc_context last_gpu(void) {
    return mxc_gpu(n_gpus - 1);
}

static mxc_ndarray *numbers(mxc_context context, int64_t n, float first) {
    float *values = calloc((size_t)n + 1, sizeof *values);
    mxc_ndarray *array;
    for (int64_t i = 0; i < n; i++)
        values[i] = first + (float)i;
    assert_ok(mxc_ndarray_create(1, &n, MXC_F32, context, &array));
    assert_ok(mxc_ndarray_set(array, values, (size_t)n * sizeof *values));
    free(values);
    return array;
}

static void expect_numbers(mxc_ndarray *array, float first) {
    int64_t n = mxc_ndarray_size(array);
    float *values = calloc((size_t)n + 1, sizeof *values);
    assert_ok(mxc_ndarray_get(array, values, (size_t)n * sizeof *values));
    for (int64_t i = 0; i < n; i++)
        if (values[i] != first + (float)i)
            fail_msg("element %lld is %g, expected %g", (long long)i, values[i], first + (float)i);
    free(values);
}

static void test_device_count(void **state) {
    char after_last[16];
    mxc_ndarray *x;
    int n;
    (void)state;
    assert_ok(mxc_device_count(MXC_CPU_PINNED, &n));
    assert_int_equal(n, n_gpus);
    snprintf(after_last, sizeof after_last, "gpu(%d)", n_gpus);
    assert_fails(mxc_ndarray_create(1, (int64_t[]){N}, MXC_F32, mxc_gpu(n_gpus), &x), MXC_EDEVICE, after_last);
}

/* From each context to each other one. */
static void test_copies(void **state) {
    const mxc_context contexts[] = {mxc_cpu(0), mxc_gpu(0), last_gpu(), {MXC_CPU_PINNED, 0}};
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            mxc_ndarray *from = numbers(contexts[i], N, 3), *to = numbers(contexts[j], N, 0), *view, *made;
            assert_ok(mxc_ndarray_copy_to(from, to, 0));
            expect_numbers(to, 3);
            assert_ok(mxc_ndarray_slice(from, 10, 20, &view));
            assert_ok(mxc_ndarray_copy(view, contexts[j], MXC_F32, &made));
            expect_numbers(made, 13);
            mxc_ndarray_release(from); /* its memory goes back while the copies may still be queued */
            mxc_ndarray_release(to);
            mxc_ndarray_release(view);
            mxc_ndarray_release(made);
        }
}

static void test_converted(void **state) {
    mxc_ndarray *from = numbers(mxc_gpu(0), N, 0), *half, *back;
    (void)state;
    assert_ok(mxc_ndarray_copy(from, last_gpu(), MXC_F16, &half));
    assert_ok(mxc_ndarray_copy(half, mxc_gpu(0), MXC_F32, &back));
    expect_numbers(back, 0);
    mxc_ndarray_release(from);
    mxc_ndarray_release(half);
    mxc_ndarray_release(back);
}

/* A chain of operators and copies, on two GPUs if there are two. Arrays are released while work on them is queued. */
static void test_chain(void **state) {
    const char *key = "scalar", *one = "1";
    mxc_op *add;
    mxc_ndarray *x = numbers(mxc_gpu(0), N, 0), *y;
    (void)state;
    assert_ok(mxc_op_create("_plus_scalar", 1, &key, &one, &add));
    for (int i = 0; i < 200; i++) {
        y = NULL;
        assert_ok(mxc_op_invoke(add, 1, &x, 1, &y, NULL, 0));
        mxc_ndarray_release(x);
        x = y;
        if (i % 10 == 9) {
            assert_ok(mxc_ndarray_copy(x, mxc_gpu(i / 10 % 2 * (n_gpus - 1)), MXC_F32, &y));
            mxc_ndarray_release(x);
            x = y;
        }
    }
    expect_numbers(x, 200);
    mxc_ndarray_release(x);
    mxc_op_release(add);
}

/* Parameters on the device that are out of range are an error, as on the CPU. */
static void test_parameters_out_of_range(void **state) {
    const char *key = "shape", *three = "3";
    mxc_ndarray *in[2] = {numbers(mxc_gpu(0), 4, 0), numbers(mxc_gpu(0), 4, -1)}, *out = NULL;
    (void)state;
    assert_ok(mxc_invoke("sample_normal", 2, in, 1, &key, &three, 1, &out));
    assert_fails(mxc_ndarray_wait_to_read(out), MXC_EINVAL,
                 "sample_normal: parameters 0, -1 of element 0, expected a deviation of at least 0");
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
    mxc_ndarray_release(out);
}

static void test_data_is_out_of_reach(void **state) {
    mxc_ndarray *x = numbers(mxc_gpu(0), N, 0);
    void *data;
    (void)state;
    assert_fails(mxc_ndarray_data(x, &data), MXC_EDEVICE, "out of the host's reach");
    mxc_ndarray_release(x);
}

static void test_contexts_differ(void **state) {
    mxc_ndarray *in[2] = {numbers(mxc_gpu(0), 4, 0), numbers(mxc_cpu(0), 4, 0)}, *out[1] = {NULL};
    (void)state;
    assert_fails(mxc_invoke("_plus", 2, in, 0, NULL, NULL, 1, out), MXC_EDEVICE, "expected an array on gpu(0)");
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
}

/* The pool gives blocks again, trims, and makes room before it says that there is no memory. */
static void test_pool(void **state) {
    const int64_t megabytes = 5 << 18;
    mxc_storage_stats stats;
    mxc_ndarray *x;
    int64_t n = megabytes;
    void *block;
    (void)state;
    for (int i = 0; i < 10; i++) {
        x = numbers(last_gpu(), n, 0);
        mxc_ndarray_release(x);
        assert_ok(mxc_engine_default(&(mxc_engine *){NULL}));
    }
    assert_ok(mxc_storage_get_stats(last_gpu(), &stats));
    assert_true(stats.bytes_cached > 0);
    assert_ok(mxc_storage_trim(last_gpu(), 0));
    assert_ok(mxc_storage_get_stats(last_gpu(), &stats));
    assert_int_equal(stats.bytes_cached, 0);
    assert_status(mxc_storage_alloc(last_gpu(), (size_t)1 << 50, &block), MXC_ENOMEM);
}

static void test_no_memory(void **state) {
    const mxci_device *device;
    size_t total, free_now;
    mxc_ndarray *x;
    float zero = 0;
    int64_t n;
    (void)state;
    assert_ok(mxci_device_get(mxc_gpu(0), &device));
    assert_ok(device->memory(mxc_gpu(0), &total, &free_now));
    assert_true(free_now <= total);
    n = (int64_t)(total / sizeof zero) + 1;                        /* more than the GPU has, whoever else uses it */
    assert_ok(mxc_ndarray_create(1, &n, MXC_F32, mxc_gpu(0), &x)); /* memory is taken at the first use */
    assert_fails(mxc_ndarray_fill(x, zero), MXC_ENOMEM, "no memory for");
    mxc_ndarray_release(x);
}

/* An iterator's batches are copied to a context ahead; what is queued on one of them sees it as it was. */
static void check_ahead(mxc_ndarray *rows, mxc_context context) {
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxc_ndarray *copies[N / 50];
    mxc_iter *inner, *iter;
    options.batch_size = 50;
    assert_ok(mxc_iter_from_arrays(&options, 1, &rows, 0, NULL, NULL, &inner));
    assert_ok(mxc_iter_prefetch_to(inner, 2, context, &iter));
    for (int epoch = 0; epoch < 3; epoch++) {
        for (int i = 0; i < N / 50; i++) {
            mxc_batch batch;
            assert_ok(mxc_iter_next(iter, &batch));
            assert_int_equal(mxc_ndarray_context(batch.data[0]).device, context.device);
            assert_int_equal(mxc_ndarray_context(batch.data[0]).id, context.id);
            assert_int_equal(batch.index[49], 50 * i + 49);
            assert_ok(mxc_ndarray_copy(batch.data[0], mxc_gpu(0), MXC_F32, &copies[i]));
        }
        for (int i = 0; i < N / 50; i++) {
            expect_numbers(copies[i], (float)(50 * i));
            mxc_ndarray_release(copies[i]);
        }
        assert_ok(mxc_iter_reset(iter));
    }
    mxc_iter_destroy(iter);
}

static void test_batches_ahead(void **state) {
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxc_ndarray *rows = numbers(mxc_cpu(0), N, 0);
    mxc_iter *inner, *iter;
    (void)state;
    check_ahead(rows, last_gpu());
    check_ahead(rows, (mxc_context){MXC_CPU_PINNED, 0});
    assert_ok(mxc_iter_from_arrays(&options, 1, &rows, 0, NULL, NULL, &inner));
    assert_fails(mxc_iter_prefetch_to(inner, 2, mxc_gpu(63), &iter), MXC_EDEVICE, "gpu(63)");
    mxc_iter_destroy(inner);
    mxc_ndarray_release(rows);
}

static int shut_down(void **state) {
    (void)state;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_device_count),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_converted),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_parameters_out_of_range),
        cmocka_unit_test(test_data_is_out_of_reach),
        cmocka_unit_test(test_contexts_differ),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_batches_ahead),
    };
    setenv("FAKE_GPU_MB", "256", 1);
    if (mxc_device_count(MXC_GPU, &n_gpus) != MXC_OK || n_gpus == 0) {
        fprintf(stderr, "no GPU: %s\n", mxc_last_error());
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, shut_down);
}

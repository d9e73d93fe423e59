/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies that are complete on return: what an operator computed on the host is on the GPU before a kernel reads it, and
 * what an arena held is in its larger block before the smaller one is used again. TEST_COPY_MB: size of an array;
 * TEST_COPY_ROUNDS: how often.
 */
#include "support.h"

#include <mxc/mxc.h>

#include "base/device.h"
#include "executor/run/arena.h"

static int64_t setting(const char *name, int64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoll(text, NULL, 10) : otherwise;
}

static int64_t size_of_array(void) {
    return setting("TEST_COPY_MB", 1) << 18;
}

/* ---- an operator that only the host computes --------------------------------------------------------------------- */

static mxc_status on_host(const mxc_op_call *call) {
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    for (int64_t i = 0; i < mxc_shape_size(&call->in[0].shape); i++)
        y[i] = x[i] + (float)(i % 1000);
    return MXC_OK;
}

static const mxc_op_def host_ramp = {
    .size = sizeof(mxc_op_def),
    .name = "host_ramp",
    .doc = "out[i] = data[i] + i % 1000",
    .flags = MXC_OP_ZERO_GRADIENT,
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .forward = {[MXC_CPU] = on_host},
};

static void expect_ramp(mxc_ndarray *array, float *values, float first) {
    int64_t n = mxc_ndarray_size(array);
    assert_ok(mxc_ndarray_get(array, values, (size_t)n * sizeof *values));
    for (int64_t i = 0; i < n; i++)
        if (values[i] != first + (float)(i % 1000))
            fail_msg("element %lld is %g, expected %g", (long long)i, values[i], first + (float)(i % 1000));
}

static void test_host_operator_is_sent(void **state) {
    const char *key = "scalar", *one = "1";
    const int64_t n = size_of_array(), rounds = setting("TEST_COPY_ROUNDS", 10);
    float *values = malloc((size_t)n * sizeof *values);
    mxc_ndarray *x;
    (void)state;
    assert_ok(mxc_op_register(&host_ramp));
    assert_ok(mxc_ndarray_create(1, &n, MXC_F32, mxc_gpu(0), &x));
    for (int64_t round = 0; round < rounds; round++) {
        mxc_ndarray *ramp = NULL, *sum = NULL;
        assert_ok(mxc_ndarray_fill(x, (double)round));
        assert_ok(mxc_invoke("host_ramp", 1, &x, 0, NULL, NULL, 1, &ramp));
        assert_ok(mxc_invoke("_plus_scalar", 1, &ramp, 1, &key, &one, 1, &sum));
        expect_ramp(sum, values, (float)round + 1);
        mxc_ndarray_release(ramp);
        mxc_ndarray_release(sum);
    }
    mxc_ndarray_release(x);
    free(values);
}

/* ---- arenas ------------------------------------------------------------------------------------------------------ */

static void test_arena_moves(void **state) {
    const mxc_context gpu = mxc_gpu(0), cpu = mxc_cpu(0);
    const int64_t n = size_of_array(), rounds = setting("TEST_COPY_ROUNDS", 10);
    const size_t bytes = (size_t)n * sizeof(float);
    float *values = malloc(bytes), *found = malloc(bytes);
    const mxci_device *device;
    mxc_engine *engine;
    (void)state;
    assert_ok(mxc_engine_default(&engine));
    assert_ok(mxci_device_get(gpu, &device));
    for (int64_t round = 0; round < rounds; round++) {
        mxci_arena *arena;
        mxc_ndarray *other;
        for (int64_t i = 0; i < n; i++)
            values[i] = (float)(i % 1000 + round);
        assert_ok(mxci_arena_create(engine, gpu, bytes, &arena));
        assert_ok(device->copy_now(gpu, arena->memory, cpu, values, bytes));
        assert_ok(mxci_arena_grow(arena, 2 * bytes));
        assert_ok(mxc_ndarray_create(1, &n, MXC_F32, gpu, &other)); /* gets the block that the arena has left */
        assert_ok(mxc_ndarray_fill(other, -1));
        assert_ok(mxc_ndarray_wait_to_read(other));
        assert_ok(device->copy_now(cpu, found, gpu, arena->memory, bytes));
        assert_memory_equal(found, values, bytes);
        mxc_ndarray_release(other);
        mxci_arena_release(arena);
    }
    free(values);
    free(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_operator_is_sent),
        cmocka_unit_test(test_arena_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

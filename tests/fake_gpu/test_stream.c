/* SPDX-License-Identifier: Apache-2.0 */
/* A program's own GPU operator: it gets the engine's stream, and what it queues there stands in line with the rest. */
#include "support.h"

#include <mxc/mxc.h>

#include "fake_gpu/stream.h"

enum { N = 1000, CALLS = 60 };

/* out = 3 data, by work that is queued on the stream of the emulator. */
typedef struct job {
    const float *x;
    float *y;
    int64_t n;
} job;

static void *streams[CALLS]; /* that the operator was given; one worker calls it */
static int n_streams;

static void triple(void *arg) {
    job *j = arg;
    for (int64_t i = 0; i < j->n; i++)
        j->y[i] = 3 * j->x[i];
    free(j);
}

static mxc_status triple_on_gpu(const mxc_op_call *call) {
    fake_gpu_stream *stream;
    void *native;
    job *j;
    MXC_TRY(mxc_run_stream(call->run, &native));
    j = malloc(sizeof *j);
    streams[n_streams++ % CALLS] = stream = native;
    *j = (job){fake_gpu_memory(call->in[0].data), fake_gpu_memory(call->out[0].data),
               mxc_shape_size(&call->in[0].shape)};
    stream->queue(stream->self, triple, j);
    return MXC_OK;
}

static mxc_status triple_on_cpu(const mxc_op_call *call) {
    void *native = &native;
    MXC_TRY(mxc_run_stream(call->run, &native));
    if (native)
        return MXC_FAIL(MXC_EUSER, "a stream on the CPU");
    for (int64_t i = 0; i < mxc_shape_size(&call->in[0].shape); i++)
        ((float *)call->out[0].data)[i] = 3 * ((const float *)call->in[0].data)[i];
    return MXC_OK;
}

static const mxc_op_def def = {
    .size = sizeof(mxc_op_def),
    .name = "triple",
    .doc = "out = 3 data",
    .flags = MXC_OP_ZERO_GRADIENT,
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .forward = {[MXC_CPU] = triple_on_cpu, [MXC_GPU] = triple_on_gpu},
};

static mxc_ndarray *next(const char *op, int n_params, const char *value, mxc_ndarray *x) {
    const char *key = "scalar";
    mxc_ndarray *y = NULL;
    assert_ok(mxc_invoke(op, 1, &x, n_params, &key, &value, 1, &y));
    mxc_ndarray_release(x);
    return y;
}

/* y = (3 y + 6) / 3 - 1 = y + 1, again and again: the library's kernels before and behind the program's. */
static void check_chain(mxc_context context) {
    const int64_t n = N;
    float values[N];
    mxc_ndarray *x;
    assert_ok(mxc_ndarray_create(1, &n, MXC_F32, context, &x));
    assert_ok(mxc_ndarray_fill(x, 1));
    for (int i = 0; i < CALLS; i++) {
        x = next("triple", 0, NULL, x);
        x = next("_plus_scalar", 1, "6", x);
        x = next("_div_scalar", 1, "3", x);
        x = next("_plus_scalar", 1, "-1", x);
    }
    assert_ok(mxc_ndarray_get(x, values, sizeof values));
    for (int i = 0; i < N; i++)
        if (!(values[i] > CALLS + 0.99f && values[i] < CALLS + 1.01f))
            fail_msg("element %d is %g, expected %d", i, values[i], CALLS + 1);
    mxc_ndarray_release(x);
}

static void test_gpu_operator(void **state) {
    (void)state;
    check_chain(mxc_gpu(0));
    assert_int_equal(n_streams, CALLS);
    for (int i = 1; i < CALLS; i++)
        assert_ptr_equal(streams[i], streams[0]); /* the engine's, not one of its own a call */
}

static void test_cpu_operator(void **state) {
    (void)state;
    check_chain(mxc_cpu(0));
}

static void test_misuse(void **state) {
    void *native = &native;
    (void)state;
    assert_fails(mxc_run_stream(NULL, &native), MXC_EINVAL, "mxc_run_stream");
}

static int open_op(void **state) {
    (void)state;
    return mxc_op_register(&def) != MXC_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpu_operator),
        cmocka_unit_test(test_cpu_operator),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, open_op, NULL);
}

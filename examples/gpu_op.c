/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operator that is defined by the program, with a CUDA kernel: out = sin(frequency data). The kernel in gpu_op.cu is
 * compiled if the CUDA toolkit is installed; it is queued on the engine's stream, so no thread waits for it. Without it
 * the library computes the operator on the host. The program calls it between built-in operators and compares the
 * result with that of the CPU. gpu_op [CONTEXT [host]]: runs on CONTEXT, default cpu(0); host: without the kernel
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxc/mxc.h>

#include "gpu_op.h"

enum { N = 1000, CALLS = 20 };

static void check(mxc_status status) {
    if (status == MXC_OK)
        return;
    fprintf(stderr, "gpu_op: %s\n", mxc_last_error());
    exit(1);
}

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(wave_params, frequency), .name = "frequency", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "Factor of the data, default 1."},
    MXC_PARAM_END,
};

static mxc_status wave_on_cpu(const mxc_op_call *call) {
    const float *x = call->in[0].data;
    float *y = call->out[0].data, frequency = (float)((const wave_params *)call->params)->frequency;
    for (int64_t i = 0; i < mxc_shape_size(&call->in[0].shape) && call->req[0] != MXC_REQ_NULL; i++)
        y[i] = (call->req[0] == MXC_REQ_ADD ? y[i] : 0) + sinf(frequency * x[i]);
    return MXC_OK;
}

static mxc_op_def wave = {
    .size = sizeof(mxc_op_def),
    .name = "wave",
    .doc = "out = sin(frequency data).",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(wave_params),
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .forward = {[MXC_CPU] = wave_on_cpu},
};

/* Replaces an array by the result of an operator. */
static void apply(const char *op, const char *key, const char *value, mxc_ndarray **x) {
    mxc_ndarray *y = NULL;
    check(mxc_invoke(op, 1, x, 1, &key, &value, 1, &y));
    mxc_ndarray_release(*x);
    *x = y;
}

/* x = sin(1.5 x) + 0.5, CALLS times. */
static void compute(mxc_context context, float *values) {
    const int64_t n = N;
    mxc_ndarray *x;
    for (int i = 0; i < N; i++)
        values[i] = (float)i / N;
    check(mxc_ndarray_create(1, &n, MXC_F32, context, &x));
    check(mxc_ndarray_set(x, values, N * sizeof *values));
    for (int i = 0; i < CALLS; i++) {
        apply("wave", "frequency", "1.5", &x);
        apply("_plus_scalar", "scalar", "0.5", &x);
    }
    check(mxc_ndarray_get(x, values, N * sizeof *values)); /* waits */
    mxc_ndarray_release(x);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "cpu(0)";
    float expected[N], found[N], largest = 0;
    mxc_context context;
    check(mxc_context_parse(name, &context));
    if (argc < 3 || strcmp(argv[2], "host") != 0)
        wave.forward[MXC_GPU] = WAVE_ON_GPU;
    check(mxc_op_register(&wave));
    compute(mxc_cpu(0), expected);
    compute(context, found);
    for (int i = 0; i < N; i++)
        largest = fmaxf(largest, fabsf(found[i] - expected[i]));
    printf("%s, %s: largest difference from the CPU %g\n", name,
           mxc_op_place(&wave, (mxc_device)context.device, MXC_FORWARD) == MXC_PLACE_DEVICE ? "on the device"
                                                                                            : "on the host",
           largest);
    return !(largest < 1e-3f);
}

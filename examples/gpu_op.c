/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operator in two libraries, out = sin(frequency data): libwave_host.so has its descriptor and computes on the CPU,
 * libwave_gpu.so computes on GPUs by a CUDA kernel, queued on the engine's stream so that no thread waits for it. The
 * program loads them, calls the operator between built-in ones, in each float dtype, and compares the result and the
 * gradient with those of the CPU. Without the second library the host computes for the GPU.
 *
 *     gpu_op [CONTEXT [LIBRARY...]]    runs on CONTEXT, default cpu(0), with the libraries; default libwave_host.so
 *                                      beside the program, and for a GPU libwave_gpu.so
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mxc/mxc.h>

enum { N = 1000, CALLS = 20, PATH = 4096 };

static void check(mxc_status status) {
    if (status == MXC_OK)
        return;
    fprintf(stderr, "gpu_op: %s\n", mxc_last_error());
    exit(1);
}

/* A library beside the program, or in the current directory. */
static void load(const char *name) {
    char path[PATH], directory[PATH];
    ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
    directory[length > 0 ? length : 0] = '\0';
    if (strrchr(directory, '/'))
        *strrchr(directory, '/') = '\0';
    if (strchr(name, '/') && !realpath(name, path))
        snprintf(path, sizeof path, "%.1000s", name);
    else if (!strchr(name, '/'))
        snprintf(path, sizeof path, "%.2000s/%.1000s", directory, name);
    check(mxc_op_load(path));
}

/* Replaces an array by the result of an operator. */
static void apply(const char *op, const char *key, const char *value, mxc_ndarray **x) {
    mxc_ndarray *y = NULL;
    check(mxc_invoke(op, 1, x, 1, &key, &value, 1, &y));
    mxc_ndarray_release(*x);
    *x = y;
}

/* x = sin(1.5 x) + 0.5, CALLS times, in a dtype. */
static void compute(mxc_context context, const char *dtype, float *values) {
    const int64_t n = N;
    mxc_ndarray *x;
    for (int i = 0; i < N; i++)
        values[i] = (float)i / N;
    check(mxc_ndarray_create(1, &n, MXC_F32, context, &x));
    check(mxc_ndarray_set(x, values, N * sizeof *values));
    apply("Cast", "dtype", dtype, &x);
    for (int i = 0; i < CALLS; i++) {
        apply("wave", "frequency", "1.5", &x);
        apply("_plus_scalar", "scalar", "0.5", &x);
    }
    apply("Cast", "dtype", "float32", &x);
    check(mxc_ndarray_get(x, values, N * sizeof *values)); /* waits */
    mxc_ndarray_release(x);
}

/* The gradient of wave, added to ones. */
static void differentiate(mxc_context context, float *gradient) {
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    const mxc_req add = MXC_REQ_ADD;
    const int64_t n = N;
    mxc_symbol *data, *net;
    mxc_ndarray *x, *dx, *head;
    mxc_executor *executor;
    options.context = context;
    check(mxc_symbol_variable("data", &data));
    check(mxc_symbol_op("wave", "w", 0, NULL, NULL, 1, NULL, &data, &net));
    check(mxc_ndarray_create(1, &n, MXC_F32, context, &x));
    check(mxc_ndarray_create(1, &n, MXC_F32, context, &dx));
    check(mxc_ndarray_create(1, &n, MXC_F32, context, &head));
    check(mxc_ndarray_fill(x, 0.25));
    check(mxc_ndarray_fill(dx, 1));
    check(mxc_ndarray_fill(head, 3));
    check(mxc_executor_bind(net, &options, &x, &dx, &add, NULL, &executor));
    check(mxc_executor_forward(executor, 1));
    check(mxc_executor_backward(executor, 1, &head));
    check(mxc_ndarray_get(dx, gradient, N * sizeof *gradient));
    mxc_executor_destroy(executor);
    mxc_symbol_release(net);
    mxc_symbol_release(data);
    mxc_ndarray_release(x);
    mxc_ndarray_release(dx);
    mxc_ndarray_release(head);
}

/* The largest difference of two arrays. */
static float difference(const float *a, const float *b) {
    float largest = 0;
    for (int i = 0; i < N; i++)
        largest = fmaxf(largest, fabsf(a[i] - b[i]));
    return largest;
}

int main(int argc, char **argv) {
    static const char *const dtypes[] = {"float32", "float64", "float16", "bfloat16"};
    const char *name = argc > 1 ? argv[1] : "cpu(0)";
    float expected[N], found[N], largest = 0;
    mxc_context context;
    check(mxc_context_parse(name, &context));
    for (int i = 2; i < argc; i++)
        load(argv[i]);
    if (argc < 3)
        load("libwave_host.so");
    if (argc < 3 && context.device == MXC_GPU)
        load("libwave_gpu.so");
    for (int i = 0; i < 4; i++) {
        compute(mxc_cpu(0), dtypes[i], expected);
        compute(context, dtypes[i], found);
        largest = fmaxf(largest, i < 2 ? difference(expected, found) : difference(expected, found) / 100);
    }
    differentiate(mxc_cpu(0), expected);
    differentiate(context, found);
    largest = fmaxf(largest, difference(expected, found));
    largest = fmaxf(largest, fabsf(found[0] - (1 + 3 * cosf(0.25f)))); /* the gradient was added to 1 */
    printf("%s, %s: largest difference from the CPU %.1e\n", name,
           mxc_op_place(mxc_op_find("wave"), (mxc_device)context.device, MXC_FORWARD) == MXC_PLACE_DEVICE
               ? "on the device"
               : "on the host",
           (double)largest);
    return !(largest < 1e-3f);
}

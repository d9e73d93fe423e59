/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators and training steps on gpu(0). Element-wise operators, reductions and norms on arrays of 256 MiB: bytes that
 * a call must read and write each second, and the share that is of what a copy on the GPU moves, measured in the same
 * run. Matrix products: multiply-adds each second. A training step of LeNet. Work is queued for a sample and waited for
 * once, so that the times are the GPU's where it is the slower one of the two. --quick: small arrays. Where there is no
 * GPU, that is said and nothing is measured.
 */
#include <mxc/mxc.h>

#include "measure.h"
#include "nets.h"

enum { SAMPLES = 11, BATCH = 64, MOST_PARAMS = 16 };

typedef struct row {
    const char *title, *op, *key, *value;
    mxc_dtype dtype;
    int n_in, rows_of; /* inputs; of how many elements a row is (0: one axis only) */
    double moves;      /* arrays read and written in a call */
} row;

static const row rows[] = {
    {"copy", "_copy", NULL, NULL, MXC_F32, 1, 0, 2},
    {"relu", "relu", NULL, NULL, MXC_F32, 1, 0, 2},
    {"exp", "exp", NULL, NULL, MXC_F32, 1, 0, 2},
    {"gelu", "gelu", NULL, NULL, MXC_F32, 1, 0, 2},
    {"a + b", "elemwise_add", NULL, NULL, MXC_F32, 2, 0, 3},
    {"a + b f16", "elemwise_add", NULL, NULL, MXC_F16, 2, 0, 3},
    {"a + 1", "_plus_scalar", "scalar", "1", MXC_F32, 1, 0, 2},
    {"sum, all", "sum", NULL, NULL, MXC_F32, 1, 0, 1},
    {"sum, last axis", "sum", "axis", "1", MXC_F32, 1, 1024, 1},
    {"sum, first axis", "sum", "axis", "0", MXC_F32, 1, 1024, 1},
    {"max, last axis", "max", "axis", "1", MXC_F32, 1, 1024, 1},
    {"softmax, last axis", "softmax", "axis", "1", MXC_F32, 1, 1024, 2},
    {"transpose", "transpose", NULL, NULL, MXC_F32, 1, 8192, 2},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- timing ------------------------------------------------------------------------------------------------------ */

/* Something that is queued. */
typedef struct work {
    void (*queue)(void *arg);
    void *arg;
} work;

static void wait_all(void) {
    mxc_engine *engine;
    measure_check(mxc_engine_default(&engine));
    measure_check(mxc_wait_all(engine));
}

static double sample(const work *w, int calls) {
    int64_t begin = mxci_now_ns();
    for (int i = 0; i < calls; i++)
        w->queue(w->arg);
    wait_all();
    return 1e-9 * (double)(mxci_now_ns() - begin) / calls;
}

/* Median seconds of one call, in samples of about 20 ms. */
static double time_of(const work *w, int quick) {
    double times[SAMPLES], once;
    int calls;
    sample(w, 3);
    once = sample(w, 3);
    calls = quick ? 1 : (int)(0.02 / once) + 1;
    for (int i = 0; i < SAMPLES; i++)
        times[i] = sample(w, calls);
    return measure_quantile(times, SAMPLES, 0.5);
}

/* ---- one operator ------------------------------------------------------------------------------------------------ */

typedef struct call {
    mxc_op *op;
    int n_in;
    mxc_ndarray *in[2], *out;
} call;

static void queue_call(void *arg) {
    call *c = arg;
    measure_check(mxc_op_invoke(c->op, c->n_in, c->in, 1, &c->out, NULL, 0));
}

static mxc_ndarray *filled(int ndim, const int64_t *dims, mxc_dtype dtype) {
    mxc_ndarray *array;
    measure_check(mxc_ndarray_create(ndim, dims, dtype, mxc_gpu(0), &array));
    measure_check(mxc_ndarray_fill(array, 0.5));
    return array;
}

static double time_call(call *c, int quick) {
    work w = {queue_call, c};
    double seconds = time_of(&w, quick);
    mxc_ndarray_release(c->out);
    for (int i = 0; i < c->n_in; i++)
        mxc_ndarray_release(c->in[i]);
    mxc_op_release(c->op);
    return seconds;
}

/* Seconds of a call on arrays of so many bytes. */
static double time_row(const row *r, int64_t bytes, int quick) {
    int64_t n = bytes / (int64_t)mxc_dtype_size(r->dtype), dims[2] = {n, r->rows_of};
    call c = {.n_in = r->n_in};
    if (r->rows_of)
        dims[0] = n / r->rows_of;
    measure_check(mxc_op_create(r->op, r->key ? 1 : 0, &r->key, &r->value, &c.op));
    for (int i = 0; i < r->n_in; i++)
        c.in[i] = filled(r->rows_of ? 2 : 1, dims, r->dtype);
    return time_call(&c, quick);
}

static void print_rows(int quick) {
    const int64_t bytes = quick ? 1 << 16 : 256 << 20;
    double copy = 0;
    printf("%-20s %10s %8s\n", quick ? "64 KiB" : "256 MiB", "GB/s", "of copy");
    for (int i = 0; i < ROWS; i++) {
        double rate = rows[i].moves * (double)bytes / time_row(&rows[i], bytes, quick) * 1e-9;
        copy = i == 0 ? rate : copy;
        printf("%-20s %10.1f %7.0f%%\n", rows[i].title, rate, 100 * rate / copy);
    }
}

static void print_products(int quick) {
    static const mxc_dtype dtypes[] = {MXC_F32, MXC_F16, MXC_BF16};
    printf("\n%-20s %10s %10s\n", "dot", "size", "TFLOP/s");
    for (int i = 0; i < 3; i++)
        for (int64_t n = quick ? 32 : 1024; n <= (quick ? 32 : 8192); n *= 2) {
            const int64_t dims[] = {n, n};
            call c = {.n_in = 2};
            measure_check(mxc_op_create("dot", 0, NULL, NULL, &c.op));
            c.in[0] = filled(2, dims, dtypes[i]);
            c.in[1] = filled(2, dims, dtypes[i]);
            printf("%-20s %10lld %10.1f\n", mxc_dtype_name(dtypes[i]), (long long)n,
                   2e-12 * (double)n * (double)n * (double)n / time_call(&c, quick));
        }
}

/* ---- a training step --------------------------------------------------------------------------------------------- */

typedef struct trainer {
    mxc_executor *executor;
    mxc_optimizer *optimizer;
    const char *names[MOST_PARAMS];
    mxc_ndarray *params[MOST_PARAMS], *grads[MOST_PARAMS];
    int n;
} trainer;

static void queue_step(void *arg) {
    trainer *t = arg;
    measure_check(mxc_executor_forward(t->executor, 1));
    measure_check(mxc_executor_backward(t->executor, 0, NULL));
    for (int i = 0; i < t->n; i++)
        measure_check(mxc_optimizer_update(t->optimizer, t->names[i], t->params[i], t->grads[i]));
}

static mxc_executor *bind(mxc_symbol *net) {
    const char *const names[] = {"data", "softmax_label"};
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    mxc_executor *executor;
    mxc_shape shapes[2];
    options.context = mxc_gpu(0);
    measure_check(mxc_shape_set(&shapes[0], 4, (int64_t[]){BATCH, 1, 28, 28}));
    measure_check(mxc_shape_set(&shapes[1], 1, (int64_t[]){BATCH}));
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 2, .names = names, .shapes = shapes, .req = MXC_REQ_WRITE};
    measure_check(mxc_executor_simple_bind(net, &options, &spec, &executor));
    mxc_symbol_release(net);
    return executor;
}

static void print_training(int quick) {
    const char *key = "learning_rate", *value = "0.01";
    trainer t = {.executor = bind(nets_lenet())};
    work w = {queue_step, &t};
    const mxc_names *names = mxc_executor_arg_names(t.executor);
    double seconds;
    for (int64_t i = 0; i < names->n; i++) {
        measure_check(mxc_ndarray_fill(mxc_executor_arg(t.executor, i), 0.01));
        if (!mxc_executor_grad(t.executor, i))
            continue;
        t.names[t.n] = names->items[i];
        t.params[t.n] = mxc_executor_arg(t.executor, i);
        t.grads[t.n++] = mxc_executor_grad(t.executor, i);
    }
    measure_check(mxc_optimizer_create("sgd", 1, &key, &value, &t.optimizer));
    seconds = time_of(&w, quick);
    printf("\nLeNet, batch %d: %.3f ms a training step, %.0f images/s\n", BATCH, 1e3 * seconds, BATCH / seconds);
    mxc_optimizer_destroy(t.optimizer);
    mxc_executor_destroy(t.executor);
}

int main(int argc, char **argv) {
    int quick = measure_is_quick(argc, argv), n = 0;
    if (mxc_device_count(MXC_GPU, &n) != MXC_OK || n == 0) {
        printf("nothing measured: %s\n",
               n == 0 && mxc_device_count(MXC_GPU, &n) == MXC_OK ? "there is no GPU" : mxc_last_error());
        return 0;
    }
    print_rows(quick);
    print_products(quick);
    print_training(quick);
    return 0;
}

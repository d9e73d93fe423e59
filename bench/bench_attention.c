/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention at (batch 8, heads 8, length 1024, width 64), float32, in the default engine: time and multiply-adds of
 * both passes, and the memory that a call takes beside its arguments and results. Below, the same by batch_dot, softmax
 * and batch_dot, which keep the matrix of scores. Work counts the products of the definition: two forward, four
 * backward (PyTorch's and others' benchmarks count a fifth, the scores made again); of causal attention half of that.
 */
#include <mxc/op.h>
#include <mxc/storage.h>

#include "measure.h"

enum { REPEATS = 7 };

typedef struct sizes {
    int64_t batch, heads, length, width;
} sizes;

static mxc_ndarray *array(int ndim, const int64_t *dims, uint64_t seed) {
    int64_t n = 1;
    mxc_ndarray *out;
    float *values;
    for (int i = 0; i < ndim; i++)
        n *= dims[i];
    values = malloc((size_t)n * sizeof *values);
    if (!values)
        measure_fail("no memory");
    for (int64_t i = 0; i < n; i++)
        values[i] = (float)((uint64_t)i * (7919 + seed) % 1009) / 1009 - 0.5f;
    measure_check(mxc_ndarray_from_data(ndim, dims, MXC_F32, values, &out));
    free(values);
    return out;
}

static int64_t bytes_peak(void) {
    mxc_storage_stats stats;
    measure_check(mxc_storage_get_stats(mxc_cpu(0), &stats));
    return stats.bytes_peak;
}

static int64_t bytes_in_use(void) {
    mxc_storage_stats stats;
    measure_check(mxc_storage_get_stats(mxc_cpu(0), &stats));
    return stats.bytes_in_use;
}

static double median_of(int quick, void (*call)(void *), void *arg) {
    double times[REPEATS];
    int n = quick ? 1 : REPEATS;
    call(arg); /* memory is taken once */
    for (int i = 0; i < n; i++) {
        int64_t begin = mxci_now_ns();
        call(arg);
        times[i] = 1e-9 * (double)(mxci_now_ns() - begin);
    }
    return measure_quantile(times, n, 0.5);
}

static void print_row(const char *title, double seconds, double work, double peak, int64_t bytes) {
    printf("%-28s %8.1f %8.1f %5.0f%% %10.2f\n", title, 1e3 * seconds, 1e-9 * work / seconds,
           100 * work / seconds / peak, (double)bytes / (1 << 20));
}

/* ---- the operator ------------------------------------------------------------------------------------------------ */

typedef struct attention {
    mxc_op *op;
    mxc_ndarray *in[3], *out[2], *out_grad[2], *in_grad[3];
} attention;

static void attention_forward(void *arg) {
    attention *a = arg;
    measure_check(mxc_op_invoke(a->op, 3, a->in, 2, a->out, NULL, 1));
    measure_check(mxc_ndarray_wait_to_read(a->out[0]));
}

static void attention_backward(void *arg) {
    attention *a = arg;
    const mxc_req req[3] = {MXC_REQ_WRITE, MXC_REQ_WRITE, MXC_REQ_WRITE};
    measure_check(mxc_op_invoke_backward(a->op, a->out_grad, a->in, a->out, a->in_grad, req));
    for (int i = 0; i < 3; i++)
        measure_check(mxc_ndarray_wait_to_read(a->in_grad[i]));
}

static void attention_release(attention *a) {
    for (int i = 0; i < 3; i++) {
        mxc_ndarray_release(a->in[i]);
        mxc_ndarray_release(a->in_grad[i]);
    }
    mxc_ndarray_release(a->out[0]);
    mxc_ndarray_release(a->out[1]);
    mxc_ndarray_release(a->out_grad[0]);
    mxc_op_release(a->op);
}

/* before: bytes in use before the first call; the scratch stays for the next. */
static void measure_attention(const sizes *s, const char *causal, double peak, int quick, int64_t *before) {
    static const char *const keys[] = {"causal"};
    const int64_t dims[] = {s->batch, s->heads, s->length, s->width};
    const double work =
        4.0 * (double)(s->batch * s->heads * s->length * s->length * s->width) / (strcmp(causal, "True") == 0 ? 2 : 1);
    char title[64];
    attention a = {0};
    double seconds;
    measure_check(mxc_op_create("scaled_dot_product_attention", 1, keys, &causal, &a.op));
    for (int i = 0; i < 3; i++) {
        a.in[i] = array(4, dims, (uint64_t)i);
        a.in_grad[i] = array(4, dims, 0);
    }
    a.out[0] = array(4, dims, 0);
    a.out_grad[0] = array(4, dims, 5);
    *before = *before ? *before : bytes_in_use();
    seconds = median_of(quick, attention_forward, &a);
    snprintf(title, sizeof title, "attention, causal=%s", causal);
    print_row(title, seconds, work, peak, bytes_peak() - *before);
    seconds = median_of(quick, attention_backward, &a);
    print_row("  backward", seconds, 2 * work, peak, bytes_peak() - *before);
    attention_release(&a);
}

/* ---- the same of three operators --------------------------------------------------------------------------------- */

typedef struct composed {
    mxc_ndarray *in[3], *scores, *weights, *out;
} composed;

/* Makes *out at the first run, and writes it again in later ones. */
static void run_into(const char *op, int n_in, mxc_ndarray *const *in, int n_params, const char *const *keys,
                     const char *const *values, mxc_ndarray **out) {
    measure_check(*out ? mxc_invoke_into(op, n_in, in, n_params, keys, values, 1, out)
                       : mxc_invoke(op, n_in, in, n_params, keys, values, 1, out));
}

static void composed_forward(void *arg) {
    static const char *const keys[] = {"transpose_b"}, *const values[] = {"True"};
    composed *c = arg;
    run_into("batch_dot", 2, c->in, 1, keys, values, &c->scores);
    run_into("softmax", 1, &c->scores, 0, NULL, NULL, &c->weights);
    run_into("batch_dot", 2, (mxc_ndarray *[]){c->weights, c->in[2]}, 0, NULL, NULL, &c->out);
    measure_check(mxc_ndarray_wait_to_read(c->out));
}

static void measure_composed(const sizes *s, double peak, int quick) {
    const int64_t dims[] = {s->batch * s->heads, s->length, s->width};
    const double work = 4.0 * (double)(dims[0] * s->length * s->length * s->width);
    composed c = {0};
    int64_t before;
    double seconds;
    for (int i = 0; i < 3; i++)
        c.in[i] = array(3, dims, (uint64_t)i);
    c.out = array(3, dims, 0);
    before = bytes_in_use();
    seconds = median_of(quick, composed_forward, &c);
    print_row("batch_dot, softmax, batch_dot", seconds, work, peak, bytes_peak() - before);
    for (int i = 0; i < 3; i++)
        mxc_ndarray_release(c.in[i]);
    mxc_ndarray_release(c.scores);
    mxc_ndarray_release(c.weights);
    mxc_ndarray_release(c.out);
}

/* ---- ceiling ----------------------------------------------------------------------------------------------------- */

typedef struct ceiling {
    int threads, quick;
    double flops;
} ceiling;

static mxc_status measure_ceiling(const mxc_run *run, void *arg) {
    ceiling *c = arg;
    measure_case peak = {.call = measure_peak, .arg = &c->threads};
    measure_in_turn(run, 1, &peak, c->quick);
    c->flops = measure_peak_flops(c->threads) / peak.seconds;
    return MXC_OK;
}

int main(int argc, char **argv) {
    int quick = measure_is_quick(argc, argv);
    const sizes s = quick ? (sizes){1, 2, 256, 64} : (sizes){8, 8, 1024, 64};
    ceiling c = {.quick = quick};
    int64_t before = 0;
    mxc_engine *engine;
    measure_check(mxc_engine_default(&engine));
    c.threads = mxc_engine_parallelism(engine);
    measure_inside(c.threads, measure_ceiling, &c);
    printf("(%lld, %lld, %lld, %lld), %d threads, peak %.0f GFLOP/s\n", (long long)s.batch, (long long)s.heads,
           (long long)s.length, (long long)s.width, c.threads, 1e-9 * c.flops);
    printf("%-28s %8s %8s %6s %10s\n", "", "ms", "GFLOP/s", "peak", "extra MiB");
    measure_attention(&s, "False", c.flops, quick, &before);
    measure_attention(&s, "True", c.flops, quick, &before);
    measure_composed(&s, c.flops, quick);
    return 0;
}

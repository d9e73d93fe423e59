/* SPDX-License-Identifier: Apache-2.0 */
/* Operators at each level of the kernels (base/cpu.h) that the processor has, in one thread, the levels in turn. Prints
 * the lowest processor time of a run at each level, and for the others what share of avx2's it is. */
#include <mxc/mxc.h>

#include "base/cpu.h"

#include "measure.h"

enum { LEVELS = 4, RUNS = 3 }; /* runs in one sample */

static const struct {
    const char *op, *params, *shapes;
    int backward;
} rows[] = {
    {"FullyConnected", "num_hidden=128", "64x784 128x784 128", 0},
    {"FullyConnected", "num_hidden=128", "64x784 128x784 128", 1},
    {"batch_dot", "", "8x64x32 8x32x64", 0},
    {"Convolution", "kernel=(3,3) pad=(1,1) num_filter=64 no_bias=1", "1x64x56x56 64x64x3x3", 0},
    {"Convolution", "kernel=(3,3) pad=(1,1) num_filter=64 no_bias=1", "1x64x28x28 64x64x3x3", 1},
    {"Convolution", "kernel=(3,3) pad=(1,1) num_filter=128 no_bias=1", "1x128x14x14 128x128x3x3", 0},
    {"Convolution", "kernel=(3,3) pad=(1,1) num_filter=256 no_bias=1", "1x256x7x7 256x256x3x3", 0},
    {"Convolution", "kernel=(1,1) num_filter=64 no_bias=1", "1x64x28x28 64x64x1x1", 0},
    {"Convolution", "kernel=(3,3) pad=(1,1) num_filter=64 num_group=64 no_bias=1", "1x64x28x28 64x1x3x3", 0},
    {"Convolution", "kernel=(3,3) pad=(1,1) num_filter=64 num_group=64 no_bias=1", "1x64x28x28 64x1x3x3", 1},
    {"softmax", "", "64x512", 0},
    {"softmax", "", "64x512", 1},
    {"LeakyReLU", "act_type=gelu", "32768", 0},
    {"Activation", "act_type=tanh", "32768", 0},
    {"RNN", "state_size=128 num_layers=1 mode=lstm", "16x16x128 132096 1x16x128 1x16x128", 0},
    {"BatchNorm", "fix_gamma=0", "8x64x64 64 64 64 64", 0},
    {"LayerNorm", "", "64x512 512 512", 0},
    {"Pooling", "kernel=(2,2) stride=(2,2) pool_type=max", "1x32x32x32", 0},
    {"exp", "", "32768", 0},
    {"elemwise_add", "", "32768 32768", 0},
    {"sum", "axis=1", "64x512", 0},
    {"transpose", "", "256x128", 0},
    {"adam_update", "lr=0.1", "32768 32768 32768 32768", 0},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

typedef struct call {
    mxc_op *op;
    int n_in, n_args, n_out;
    mxc_ndarray *in[8], *out[8], *out_grad[8], *in_grad[8];
} call;

static mxc_op *make_op(const char *name, const char *params) {
    char text[128], *keys[8], *values[8], *save = NULL;
    int n = 0;
    mxc_op *op;
    snprintf(text, sizeof text, "%s", params);
    for (char *at = strtok_r(text, " ", &save); at && n < 8; at = strtok_r(NULL, " ", &save)) {
        keys[n] = at;
        values[n] = strchr(at, '=') + 1;
        values[n++][-1] = '\0';
    }
    measure_check(mxc_op_create(name, n, (const char *const *)keys, (const char *const *)values, &op));
    return op;
}

static mxc_ndarray *make_array(int ndim, const int64_t *dims) {
    mxc_ndarray *array;
    measure_check(mxc_ndarray_create(ndim, dims, MXC_F32, mxc_cpu(0), &array));
    measure_check(mxc_ndarray_fill_uniform(array, 0.1, 0.9));
    return array;
}

static void run(call *c, int backward) {
    if (backward)
        measure_check(mxc_op_invoke_backward(c->op, c->out_grad, c->in, c->out, c->in_grad, NULL));
    else
        measure_check(mxc_op_invoke(c->op, c->n_in, c->in, c->n_out, c->out, NULL, 1));
}

static call prepare(int row) {
    call c = {.op = make_op(rows[row].op, rows[row].params)};
    for (const char *at = rows[row].shapes; *at; c.n_in++) {
        int64_t dims[4];
        int ndim = 0;
        char *end;
        for (; *at && *at != ' '; at = *end == 'x' ? end + 1 : end)
            dims[ndim++] = strtoll(at, &end, 10);
        at += *at == ' ';
        c.in[c.n_in] = make_array(ndim, dims);
    }
    c.n_args = mxc_op_n_args(c.op);
    c.n_out = mxc_op_n_visible(c.op);
    run(&c, 0);
    for (int i = 0; rows[row].backward && i < c.n_out; i++)
        c.out_grad[i] = make_array(mxc_ndarray_shape(c.out[i])->ndim, mxc_ndarray_shape(c.out[i])->dim);
    for (int i = 0; rows[row].backward && i < c.n_args; i++)
        c.in_grad[i] = make_array(mxc_ndarray_shape(c.in[i])->ndim, mxc_ndarray_shape(c.in[i])->dim);
    return c;
}

static void release(call *c) {
    for (int i = 0; i < 8; i++) {
        mxc_ndarray_release(c->in[i]);
        mxc_ndarray_release(c->out[i]);
        mxc_ndarray_release(c->out_grad[i]);
        mxc_ndarray_release(c->in_grad[i]);
    }
    mxc_op_release(c->op);
}

static void measure_row(int row, int n_levels, const char *const *levels, int samples) {
    double best[LEVELS] = {0}, reference = 0;
    call c = prepare(row);
    for (int s = 0; s < samples; s++)
        for (int l = 0; l < n_levels; l++) {
            measure_check(mxci_cpu_use(levels[l]));
            double time = measure_processor_time();
            for (int i = 0; i < RUNS; i++)
                run(&c, rows[row].backward);
            time = (measure_processor_time() - time) / RUNS;
            if (s == 0 || time < best[l])
                best[l] = time;
        }
    printf("%-14s %-8s %-36s", rows[row].op, rows[row].backward ? "backward" : "forward", rows[row].shapes);
    for (int l = 0; l < n_levels; l++)
        reference = strcmp(levels[l], "avx2") == 0 ? best[l] : reference;
    for (int l = 0; l < n_levels; l++) {
        printf(" %9.1f", 1e6 * best[l]);
        if (reference > 0 && best[l] != reference)
            printf(" %5.2f", best[l] / reference);
    }
    printf("\n");
    release(&c);
}

int main(int argc, char **argv) {
    const int quick = measure_is_quick(argc, argv);
    const char *levels[LEVELS];
    int n = 0;
    setenv("MXC_ENGINE", "0", 1); /* calls compute at once, in this thread */
    setenv("MXC_NUM_THREADS", "1", 1);
    for (int i = 0; mxci_level_names[i] && n < LEVELS; i++)
        if (mxci_cpu_use(mxci_level_names[i]) == MXC_OK)
            levels[n++] = mxci_level_names[i];
    printf("%-60s", "microseconds, and the share of avx2's");
    for (int l = 0; l < n; l++)
        printf(" %9s%s", levels[l], strcmp(levels[l], "avx2") == 0 ? "" : "      ");
    printf("\n");
    for (int row = 0; row < ROWS; row++)
        measure_row(row, n, levels, quick ? 2 : 100);
    return 0;
}

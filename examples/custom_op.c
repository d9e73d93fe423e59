/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that are defined by the program: "wave" is computed by the engine's workers, like built-in operators;
 * "watch" has callbacks, which may block and call the library: it prints the mean of its input. A network with both
 * learns y = sin(2x).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mxc/mxc.h>

enum { SAMPLES = 256, HIDDEN = 16, PRINT_EVERY = 2000 };

static void check(mxc_status status) {
    if (status == MXC_OK)
        return;
    fprintf(stderr, "custom_op: %s\n", mxc_last_error());
    exit(1);
}

/* ---- wave: out = sin(frequency data) ---- */

typedef struct wave_params {
    double frequency;
} wave_params;

static const mxc_param wave_schema[] = {
    {MXC_PARAM_FIELD(wave_params, frequency), .name = "frequency", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "Angular frequency, default 1."},
    MXC_PARAM_END,
};

static void put(float *to, mxc_req req, float value) {
    *to = req == MXC_REQ_ADD ? *to + value : value;
}

static void wave_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const float *x = call->in[0].data;
    float *y = call->out[0].data, frequency = (float)((const wave_params *)call->params)->frequency;
    (void)part;
    for (int64_t i = begin; i < end; i++)
        put(&y[i], call->req[0], sinf(frequency * x[i]));
}

static void wave_gradient_part(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const float *x = call->in[0].data, *above = call->out_grad[0].data;
    float *grad = call->in_grad[0].data, frequency = (float)((const wave_params *)call->params)->frequency;
    (void)part;
    for (int64_t i = begin; i < end; i++)
        put(&grad[i], call->req[0], frequency * cosf(frequency * x[i]) * above[i]);
}

static mxc_status run_wave(const mxc_op_call *call, mxc_range_fn body) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxc_shape_size(&call->in[0].shape), 4096, body, (void *)call);
    return MXC_OK;
}

static mxc_status wave_forward(const mxc_op_call *call) {
    return run_wave(call, wave_part);
}

static mxc_status wave_backward(const mxc_op_call *call) {
    return run_wave(call, wave_gradient_part);
}

static const mxc_op_def wave = {
    .size = sizeof(mxc_op_def),
    .name = "wave",
    .doc = "out = sin(frequency data).",
    .params = wave_schema,
    .param_size = sizeof(wave_params),
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .needs = {.out_grad = 1, .in = 1},
    .forward = {[MXC_CPU] = wave_forward},
    .backward = {[MXC_CPU] = wave_backward},
};

/* ---- watch: out = data, and prints its mean ---- */

static mxc_status copy(const mxc_tensor *from, mxc_req req, const mxc_tensor *to) {
    const float *x = from->data;
    for (int64_t i = 0; req != MXC_REQ_NULL && i < mxc_shape_size(&from->shape); i++)
        put((float *)to->data + i, req, x[i]);
    return MXC_OK;
}

/* A callback may call the library, and wait. */
static mxc_status print_mean(const mxc_tensor *t) {
    mxc_ndarray *array = NULL, *mean = NULL;
    float value;
    mxc_status status = mxc_ndarray_from_data(t->shape.ndim, t->shape.dim, t->dtype, t->data, &array);
    if (status == MXC_OK)
        status = mxc_invoke("mean", 1, &array, 0, NULL, NULL, 1, &mean);
    if (status == MXC_OK)
        status = mxc_ndarray_get(mean, &value, sizeof value);
    if (status == MXC_OK)
        printf("mean of the waves: %.3f\n", value);
    mxc_ndarray_release(array);
    mxc_ndarray_release(mean);
    return status;
}

static mxc_status watch_forward(const mxc_op_call *call) {
    static int calls; /* there is one such node in one network, so calls do not overlap */
    if (calls++ % PRINT_EVERY == 0) {
        mxc_status status = print_mean(&call->in[0]);
        if (status != MXC_OK)
            return status;
    }
    return copy(&call->in[0], call->req[0], &call->out[0]);
}

static mxc_status watch_backward(const mxc_op_call *call) {
    return copy(&call->out_grad[0], call->req[0], &call->in_grad[0]);
}

static const mxc_op_def watch = {
    .size = sizeof(mxc_op_def),
    .name = "watch",
    .doc = "out = data; prints the mean of data now and then.",
    .flags = MXC_OP_CALLBACK,
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = watch_forward},
    .backward = {[MXC_CPU] = watch_backward},
};

/* ---- the network and its data ---- */

static mxc_symbol *on(mxc_symbol *in, const char *op, const char *name, const char *key, const char *value) {
    mxc_symbol *out;
    check(mxc_symbol_op(op, name, key != NULL, &key, &value, 1, NULL, &in, &out));
    mxc_symbol_release(in);
    return out;
}

static mxc_symbol *make_net(void) {
    mxc_symbol *net;
    char hidden[16];
    snprintf(hidden, sizeof hidden, "%d", HIDDEN);
    check(mxc_symbol_variable("data", &net));
    net = on(net, "FullyConnected", "inner", "num_hidden", hidden);
    net = on(net, "wave", "waves", "frequency", "1.5");
    net = on(net, "Custom", "watched", "op_type", "watch"); /* the name in files; "watch" works too */
    net = on(net, "FullyConnected", "outer", "num_hidden", "1");
    return on(net, "LinearRegressionOutput", "out", NULL, NULL);
}

static mxc_iter *make_samples(mxc_ndarray **x, mxc_ndarray **y) {
    static const char *const names[] = {"data", "out_label"};
    const int64_t dims[] = {SAMPLES, 1};
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    float in[SAMPLES], out[SAMPLES];
    mxc_iter *iter;
    for (int i = 0; i < SAMPLES; i++) {
        in[i] = (float)i / SAMPLES * 6 - 3;
        out[i] = sinf(2 * in[i]);
    }
    check(mxc_ndarray_from_data(2, dims, MXC_F32, in, x));
    check(mxc_ndarray_from_data(2, dims, MXC_F32, out, y));
    options.batch_size = 32;
    options.shuffle = 1;
    check(mxc_iter_from_arrays(&options, 1, x, 1, y, names, &iter));
    return iter;
}

int main(void) {
    static const char *const none[] = {NULL};
    mxc_fit_options options;
    mxc_ndarray_list params;
    mxc_ndarray *x, *y;
    mxc_metric *metric;
    double error;
    check(mxc_op_register(&wave));
    check(mxc_op_register(&watch));
    check(mxc_metric_create("mse", 0, none, none, &metric));
    mxc_fit_options_init(&options);
    options.symbol = make_net();
    options.train = make_samples(&x, &y);
    options.epochs = 600;
    options.optimizer = "adam";
    check(mxc_fit(&options, NULL, &params));
    check(mxc_evaluate(options.symbol, &params, options.train, mxc_cpu(0), 1, &metric));
    error = mxc_metric_value(metric);
    printf("mean squared error %.5f\n", error);
    mxc_metric_destroy(metric);
    mxc_ndarray_list_release(&params);
    mxc_symbol_release(options.symbol);
    mxc_iter_destroy(options.train);
    mxc_ndarray_release(x);
    mxc_ndarray_release(y);
    return !(error < 0.01);
}

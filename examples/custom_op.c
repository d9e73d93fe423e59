/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that are defined by the program, with what mxc/kernel.h offers to their functions:
 *   wave           computed element by element in every float dtype, by the mapper; with a gradient
 *   jitter         adds normal random numbers, row by row, in every float dtype and for every write request
 *   most_frequent  takes scratch memory whose size follows from the data
 *   polynomial     a SimpleOp that sees its keyword pairs as they were given
 *   watch          has callbacks, which may block and call the library: it prints the mean of its input
 * A network with wave and watch learns y = sin(2x). examples/gpu_op has an operator in two libraries, one of them CUDA.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxc/mxc.h>

enum { SAMPLES = 256, HIDDEN = 16, PRINT_EVERY = 2000, TILE = 256, DRAWS = 10000 };

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

static float wave_float(const float *x, const void *params) {
    const float frequency = (float)((const wave_params *)params)->frequency;
    return sinf(frequency * x[0]);
}

static double wave_double(const double *x, const void *params) {
    return sin(((const wave_params *)params)->frequency * x[0]);
}

/* The gradient of data, given data and the gradient of out. */
static float gradient_float(const float *x, const void *params) {
    const float frequency = (float)((const wave_params *)params)->frequency;
    return frequency * cosf(frequency * x[0]) * x[1];
}

static double gradient_double(const double *x, const void *params) {
    const double frequency = ((const wave_params *)params)->frequency;
    return frequency * cos(frequency * x[0]) * x[1];
}

MXC_MAP_KERNEL(wave_f32, float, 1, wave_float)
MXC_MAP_KERNEL(wave_f64, double, 1, wave_double)
MXC_MAP_KERNEL(gradient_f32, float, 2, gradient_float)
MXC_MAP_KERNEL(gradient_f64, double, 2, gradient_double)

/* float16 and bfloat16 go through float. */
static const mxc_map_kernels wave_kernels = {wave_f32, wave_f64, NULL};
static const mxc_map_kernels gradient_kernels = {gradient_f32, gradient_f64, NULL};

static mxc_status wave_forward(const mxc_op_call *call) {
    const mxc_tensor *const in[] = {&call->in[0]};
    return mxc_map(call->run, &wave_kernels, call->params, 1, in, call->req[0], &call->out[0]);
}

static mxc_status wave_backward(const mxc_op_call *call) {
    const mxc_tensor *const in[] = {&call->in[0], &call->out_grad[0]};
    return mxc_map(call->run, &gradient_kernels, call->params, 2, in, call->req[0], &call->in_grad[0]);
}

static const mxc_op_def wave = {
    .size = sizeof(mxc_op_def),
    .name = "wave",
    .doc = "out = sin(frequency data).",
    .params = wave_schema,
    .param_size = sizeof(wave_params),
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1, .in = 1},
    .forward = {[MXC_CPU] = wave_forward},
    .backward = {[MXC_CPU] = wave_backward},
};

/* ---- jitter: out = data + a normal number, where a die with six faces shows a six ---- */

/* Rows of at most TILE elements, as float whatever the dtype, and stored as the request says. Number i belongs to
 * element i, so the result does not depend on threads. */
static void jitter_range(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_tensor *x = &call->in[0], *y = &call->out[0];
    const size_t bytes = mxc_dtype_size(x->dtype);
    float row[TILE];
    (void)part;
    for (int64_t i = begin; i < end; i += TILE) {
        const int64_t n = end - i < TILE ? end - i : TILE;
        MXC_IGNORE(mxc_store_row(MXC_REQ_WRITE, x->dtype, (const char *)x->data + (size_t)i * bytes, MXC_F32, row, n));
        for (int64_t k = 0; k < n; k++)
            if (mxc_random_integer(&call->random, 2 * (uint64_t)(i + k), 1, 7) == 6)
                row[k] += (float)mxc_random_normal(&call->random, 2 * (uint64_t)(i + k) + 1, 0, 1);
        MXC_IGNORE(mxc_store_row(call->req[0], MXC_F32, row, y->dtype, (char *)y->data + (size_t)i * bytes, n));
    }
}

static mxc_status jitter_forward(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxc_shape_size(&call->in[0].shape), 4096, jitter_range, (void *)call);
    return MXC_OK;
}

static mxc_status jitter_backward(const mxc_op_call *call) {
    return mxc_store(call->run, call->req[0], &call->out_grad[0], &call->in_grad[0]);
}

/* Two an element. */
static uint64_t jitter_count(const mxc_op_sig *sig) {
    return 2 * (uint64_t)mxc_shape_size(&sig->in_shape[0]);
}

static const mxc_op_def jitter = {
    .size = sizeof(mxc_op_def),
    .name = "jitter",
    .doc = "out = data, plus a standard normal number with probability 1/6.",
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1},
    .random_count = jitter_count,
    .forward = {[MXC_CPU] = jitter_forward},
    .backward = {[MXC_CPU] = jitter_backward},
};

/* ---- most_frequent: the integer that data (N) has most often, (1) ---- */

static mxc_status frequent_shape(mxc_op_sig *sig) {
    const mxc_shape one = {.ndim = 1, .dim = {1}};
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &one);
}

/* A counter for each integer up to the largest. */
static mxc_status frequent_forward(const mxc_op_call *call) {
    const int32_t *x = call->in[0].data;
    const int64_t n = mxc_shape_size(&call->in[0].shape);
    int32_t largest = 0, best = 0;
    int64_t *counts;
    void *scratch;
    for (int64_t i = 0; i < n; i++) {
        if (x[i] < 0)
            return MXC_FAIL(MXC_EINVAL, "most_frequent: data[%lld] is %d, expected 0 or more", (long long)i, x[i]);
        largest = x[i] > largest ? x[i] : largest;
    }
    MXC_TRY(mxc_run_scratch(call->run, ((size_t)largest + 1) * sizeof *counts, &scratch));
    counts = memset(scratch, 0, ((size_t)largest + 1) * sizeof *counts);
    for (int64_t i = 0; i < n; i++)
        if (++counts[x[i]] > counts[best])
            best = x[i];
    return mxc_store_row(call->req[0], MXC_I32, &best, MXC_I32, call->out[0].data, 1);
}

static const mxc_op_def most_frequent = {
    .size = sizeof(mxc_op_def),
    .name = "most_frequent",
    .doc = "The integer that data has most often.",
    .flags = MXC_OP_ZERO_GRADIENT,
    .infer_shape = frequent_shape,
    .dtypes = MXC_DTYPE_BIT(MXC_I32),
    .forward = {[MXC_CPU] = frequent_forward},
};

/* ---- polynomial: the sum of value data^key over the keywords, such as x0="1" x2="-0.5" ---- */

static mxc_status check_powers(int n, const char *const *keys, const char *const *values, void *params) {
    (void)values, (void)params;
    for (int i = 0; i < n; i++)
        if (keys[i][0] != 'x')
            return MXC_FAIL(MXC_EINVAL, "polynomial: keyword '%s', expected x and a power, as x2", keys[i]);
    return MXC_OK;
}

static mxc_status polynomial_forward(const mxc_simple_env *env, const mxc_tensor *in, mxc_req req,
                                     const mxc_tensor *out) {
    const double *x = in->data;
    for (int64_t i = 0; i < mxc_shape_size(&in->shape); i++) {
        double sum = 0;
        for (int k = 0; k < mxc_op_n_given(env->op); k++) {
            const char *key, *value;
            mxc_op_given(env->op, k, &key, &value);
            sum += atof(value) * pow(x[i], atof(key + 1));
        }
        MXC_TRY(mxc_store_row(req, MXC_F64, &sum, MXC_F64, (double *)out->data + i, 1));
    }
    return MXC_OK;
}

static const mxc_simple_def polynomial = {
    .size = sizeof(mxc_simple_def),
    .name = "polynomial",
    .doc = "The sum of value data^power over the keywords xPOWER=value.",
    .arity = 1,
    .dtypes = MXC_DTYPE_BIT(MXC_F64),
    .params_open = check_powers,
    .unary = {[MXC_CPU] = polynomial_forward},
};

/* ---- watch: out = data, and prints its mean ---- */

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
    return mxc_store(NULL, call->req[0], &call->in[0], &call->out[0]);
}

static mxc_status watch_backward(const mxc_op_call *call) {
    return mxc_store(NULL, call->req[0], &call->out_grad[0], &call->in_grad[0]);
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

/* ---- the other operators, called on arrays ---- */

static mxc_ndarray *apply(const char *op, int n, const char *const *keys, const char *const *values, mxc_ndarray *in) {
    mxc_ndarray *out;
    check(mxc_invoke(op, 1, &in, n, keys, values, 1, &out));
    mxc_ndarray_release(in);
    return out;
}

/* jitter of zeros in bfloat16, twice from the same seed: a sixth of DRAWS numbers is not 0. */
static void show_jitter(void) {
    static float found[2][DRAWS];
    const char *const key = "dtype", *const to[] = {"bfloat16", "float32"};
    const int64_t n = DRAWS;
    int hits = 0;
    for (int k = 0; k < 2; k++) {
        mxc_ndarray *x;
        mxc_random_seed(7);
        check(mxc_ndarray_create(1, &n, MXC_F32, mxc_cpu(0), &x));
        check(mxc_ndarray_fill(x, 0));
        x = apply("jitter", 0, NULL, NULL, apply("Cast", 1, &key, &to[0], x));
        x = apply("Cast", 1, &key, &to[1], x);
        check(mxc_ndarray_get(x, found[k], sizeof found[k]));
        mxc_ndarray_release(x);
    }
    for (int i = 0; i < DRAWS; i++)
        hits += found[0][i] != 0;
    printf("jitter: %.2f of the numbers, %s\n", (double)hits / DRAWS,
           memcmp(found[0], found[1], sizeof found[0]) == 0 ? "the same from the same seed" : "which differ");
}

static void show_arrays(void) {
    static const char *const keys[] = {"x0", "x2"}, *const values[] = {"1", "-0.5"};
    const int32_t labels[] = {3, 70000, 3, 1, 70000, 70000};
    const double number = 4;
    const int64_t six = 6, one = 1;
    mxc_ndarray *x;
    int32_t most;
    double y;
    check(mxc_ndarray_from_data(1, &six, MXC_I32, labels, &x));
    x = apply("most_frequent", 0, NULL, NULL, x);
    check(mxc_ndarray_get(x, &most, sizeof most));
    mxc_ndarray_release(x);
    check(mxc_ndarray_from_data(1, &one, MXC_F64, &number, &x));
    x = apply("polynomial", 2, keys, values, x);
    check(mxc_ndarray_get(x, &y, sizeof y));
    mxc_ndarray_release(x);
    printf("most frequent: %d\n1 - x^2 / 2 at 4: %g\n", (int)most, y);
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
    check(mxc_op_register(&jitter));
    check(mxc_op_register(&most_frequent));
    check(mxc_simpleop_register(&polynomial));
    show_jitter();
    show_arrays();
    check(mxc_metric_create("mse", 0, none, none, &metric));
    mxc_fit_options_init(&options, sizeof options);
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

#include "executor/nets.h"

#include <mxc/ndarray.h>

#define MOST_PARAMS 16

/* ---- building --------------------------------------------------------------------------------------------------- */

mxc_symbol *net_variable(const char *name) {
    mxc_symbol *s;
    assert_ok(mxc_symbol_variable(name, &s));
    return s;
}

mxc_symbol *net_op(const char *op, const char *name, const char *params, int n_in, mxc_symbol *const *in) {
    char text[256];
    const char *keys[MOST_PARAMS], *values[MOST_PARAMS];
    char *at, *save = NULL;
    int n = 0;
    mxc_symbol *s;
    snprintf(text, sizeof text, "%s", params);
    for (at = strtok_r(text, " ", &save); at; at = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(at, '=');
        *equals = '\0';
        keys[n] = at;
        values[n++] = equals + 1;
    }
    assert_ok(mxc_symbol_op(op, name, n, keys, values, n_in, NULL, in, &s));
    return s;
}

mxc_symbol *net_on(const char *op, const char *name, const char *params, mxc_symbol *in) {
    mxc_symbol *s = net_op(op, name, params, 1, &in);
    mxc_symbol_release(in);
    return s;
}

mxc_symbol *net_on2(const char *op, const char *name, const char *params, mxc_symbol *a, mxc_symbol *b) {
    mxc_symbol *in[2] = {a, b}, *s = net_op(op, name, params, 2, in);
    mxc_symbol_release(a);
    mxc_symbol_release(b);
    return s;
}

static mxc_symbol *softmax(mxc_symbol *in) {
    return net_on("SoftmaxOutput", "softmax", "", in);
}

mxc_symbol *net_lenet(void) {
    mxc_symbol *s = net_variable("data");
    s = net_on("Convolution", "conv1", "kernel=(5,5) num_filter=20", s);
    s = net_on("Activation", "tanh1", "act_type=tanh", s);
    s = net_on("Pooling", "pool1", "pool_type=max kernel=(2,2) stride=(2,2)", s);
    s = net_on("Convolution", "conv2", "kernel=(5,5) num_filter=50", s);
    s = net_on("Activation", "tanh2", "act_type=tanh", s);
    s = net_on("Pooling", "pool2", "pool_type=max kernel=(2,2) stride=(2,2)", s);
    s = net_on("Flatten", "flatten", "", s);
    s = net_on("FullyConnected", "fc1", "num_hidden=500", s);
    s = net_on("Activation", "tanh3", "act_type=tanh", s);
    s = net_on("FullyConnected", "fc2", "num_hidden=10", s);
    return softmax(s);
}

mxc_symbol *net_mlp(int hidden, int classes) {
    char params[64];
    mxc_symbol *s = net_variable("data");
    snprintf(params, sizeof params, "num_hidden=%d", hidden);
    s = net_on("FullyConnected", "fc1", params, s);
    s = net_on("Activation", "relu1", "act_type=relu", s);
    s = net_on("FullyConnected", "fc2", params, s);
    s = net_on("Activation", "tanh2", "act_type=tanh", s);
    snprintf(params, sizeof params, "num_hidden=%d", classes);
    return softmax(net_on("FullyConnected", "fc3", params, s));
}

static mxc_symbol *conv_bn(mxc_symbol *in, const char *name, int channels, int kernel, int stride) {
    char params[128], part[64];
    snprintf(params, sizeof params, "kernel=(%d,%d) pad=(%d,%d) stride=(%d,%d) num_filter=%d no_bias=True", kernel,
             kernel, kernel / 2, kernel / 2, stride, stride, channels);
    in = net_on("Convolution", name, params, in);
    snprintf(part, sizeof part, "%s_bn", name);
    return net_on("BatchNorm", part, "fix_gamma=False", in);
}

static mxc_symbol *relu(mxc_symbol *in, const char *name, const char *suffix) {
    char text[64];
    snprintf(text, sizeof text, "%s_%s", name, suffix);
    return net_on("Activation", text, "act_type=relu", in);
}

static mxc_symbol *block(mxc_symbol *in, const char *name, int channels, int stride) {
    char part[64];
    mxc_symbol *shortcut = mxc_symbol_retain(in);
    snprintf(part, sizeof part, "%s_a", name);
    in = relu(conv_bn(in, part, channels, 3, stride), name, "relu1");
    snprintf(part, sizeof part, "%s_b", name);
    in = conv_bn(in, part, channels, 3, 1);
    snprintf(part, sizeof part, "%s_s", name);
    if (stride > 1)
        shortcut = conv_bn(shortcut, part, channels, 1, stride);
    snprintf(part, sizeof part, "%s_plus", name);
    return relu(net_on2("elemwise_add", part, "", in, shortcut), name, "relu2");
}

mxc_symbol *net_resnet20(void) {
    mxc_symbol *s = relu(conv_bn(net_variable("data"), "first", 16, 3, 1), "first", "relu");
    int stage, i;
    for (stage = 0; stage < 3; stage++)
        for (i = 0; i < 3; i++) {
            char name[32];
            snprintf(name, sizeof name, "s%d_%d", stage, i);
            s = block(s, name, 16 << stage, stage > 0 && i == 0 ? 2 : 1);
        }
    s = net_on("Pooling", "pool", "pool_type=avg kernel=(8,8) global_pool=True", s);
    s = net_on("Flatten", "flatten", "", s);
    return softmax(net_on("FullyConnected", "fc", "num_hidden=10", s));
}

/* ---- binding ---------------------------------------------------------------------------------------------------- */

mxc_shape net_shape(int ndim, int64_t a, int64_t b, int64_t c, int64_t d) {
    mxc_shape shape;
    int64_t dims[4] = {a, b, c, d};
    assert_ok(mxc_shape_set(&shape, ndim, dims));
    return shape;
}

static const char *const inputs[] = {"data", "softmax_label"};

mxc_executor *net_bind(mxc_symbol *symbol, const mxc_bind_options *options, const mxc_shape *data, int train) {
    mxc_shape shapes[2] = {*data, net_shape(1, data->dim[0], 0, 0, 0)};
    mxc_executor *e;
    assert_ok(mxc_executor_simple_bind(symbol, options, 2, inputs, shapes, NULL, train ? MXC_REQ_WRITE : MXC_REQ_NULL,
                                       0, NULL, &e));
    return e;
}

mxc_memory_report net_plan(mxc_symbol *symbol, const mxc_bind_options *options, const mxc_shape *data, int train) {
    mxc_shape shapes[2] = {*data, net_shape(1, data->dim[0], 0, 0, 0)};
    mxc_memory_report report;
    assert_ok(mxc_executor_plan(symbol, options, 2, inputs, shapes, NULL, train ? MXC_REQ_WRITE : MXC_REQ_NULL, 0, NULL,
                                &report));
    return report;
}

/* ---- contents --------------------------------------------------------------------------------------------------- */

double net_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) / (double)(1ll << 52) - 1.0;
}

/* Store doubles in an array of any float dtype that C knows. */
static void store(mxc_ndarray *array, const double *values) {
    int64_t n = mxc_ndarray_size(array), i;
    float *narrow = malloc((size_t)n * sizeof *narrow + 1);
    for (i = 0; i < n; i++)
        narrow[i] = (float)values[i];
    if (mxc_ndarray_dtype(array) == MXC_F64)
        assert_ok(mxc_ndarray_set(array, values, (size_t)n * sizeof *values));
    else
        assert_ok(mxc_ndarray_set(array, narrow, (size_t)n * sizeof *narrow));
    free(narrow);
}

void net_fill(mxc_ndarray *array, uint64_t seed, double low, double high) {
    int64_t n = mxc_ndarray_size(array), i;
    double *values = malloc((size_t)n * sizeof *values + 1);
    for (i = 0; i < n; i++)
        values[i] = low + (net_random(&seed) + 1) / 2 * (high - low);
    store(array, values);
    free(values);
}

void net_fill_labels(mxc_ndarray *array, int classes) {
    int64_t n = mxc_ndarray_size(array), i;
    double *values = malloc((size_t)n * sizeof *values + 1);
    for (i = 0; i < n; i++)
        values[i] = (double)(i * 7 % classes);
    store(array, values);
    free(values);
}

void net_fill_all(mxc_executor *e, uint64_t seed, int classes) {
    const mxc_names *names = mxc_executor_arg_names(e);
    int64_t i;
    for (i = 0; i < names->n; i++) {
        mxc_ndarray *array = mxc_executor_arg(e, i);
        if (strstr(names->items[i], "label"))
            net_fill_labels(array, classes);
        else if (strstr(names->items[i], "gamma"))
            net_fill(array, seed + (uint64_t)i, 0.5, 1.5);
        else
            net_fill(array, seed + (uint64_t)i, -0.3, 0.3);
    }
    names = mxc_executor_aux_names(e);
    for (i = 0; i < names->n; i++)
        net_fill(mxc_executor_aux(e, i), seed + 1000 + (uint64_t)i, 0.5, 1.5);
}

double *net_read(mxc_ndarray *array) {
    int64_t n = mxc_ndarray_size(array), i;
    double *out = malloc((size_t)n * sizeof *out + 1);
    float *narrow = malloc((size_t)n * sizeof *narrow + 1);
    if (mxc_ndarray_dtype(array) == MXC_F64) {
        assert_ok(mxc_ndarray_get(array, out, (size_t)n * sizeof *out));
    } else {
        assert_ok(mxc_ndarray_get(array, narrow, (size_t)n * sizeof *narrow));
        for (i = 0; i < n; i++)
            out[i] = narrow[i];
    }
    free(narrow);
    return out;
}

void *net_bytes(mxc_ndarray *array) {
    void *out = malloc(mxc_ndarray_bytes(array) + 1);
    assert_ok(mxc_ndarray_get(array, out, mxc_ndarray_bytes(array)));
    return out;
}

void assert_same_bits(mxc_ndarray *a, mxc_ndarray *b) {
    void *x = net_bytes(a), *y = net_bytes(b);
    assert_int_equal(mxc_ndarray_bytes(a), mxc_ndarray_bytes(b));
    assert_memory_equal(x, y, mxc_ndarray_bytes(a));
    free(x);
    free(y);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/nets.h"

#include <mxc/half.h>
#include <mxc/ndarray.h>

#include "../../bench/nets.h"

/* ---- building --------------------------------------------------------------------------------------------------- */

mxc_symbol *net_variable(const char *name) {
    return nets_variable(name);
}

mxc_symbol *net_on(const char *op, const char *name, const char *params, mxc_symbol *in) {
    return nets_on(op, name, params, in);
}

mxc_symbol *net_on2(const char *op, const char *name, const char *params, mxc_symbol *a, mxc_symbol *b) {
    mxc_symbol *in[2] = {a, b};
    return nets_op(op, name, params, 2, in);
}

mxc_symbol *net_lenet(void) {
    return nets_lenet();
}

mxc_symbol *net_resnet20(void) {
    return nets_resnet20();
}

mxc_symbol *net_mlp(int hidden, int classes) {
    return nets_mlp(hidden, hidden, classes);
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
    const mxc_bind_spec spec = {
        .size = sizeof spec, .n = 2, .names = inputs, .shapes = shapes, .req = train ? MXC_REQ_WRITE : MXC_REQ_NULL};
    assert_ok(mxc_executor_simple_bind(symbol, options, &spec, &e));
    return e;
}

mxc_memory_report net_plan(mxc_symbol *symbol, const mxc_bind_options *options, const mxc_shape *data, int train) {
    mxc_shape shapes[2] = {*data, net_shape(1, data->dim[0], 0, 0, 0)};
    mxc_memory_report report;
    const mxc_bind_spec spec = {
        .size = sizeof spec, .n = 2, .names = inputs, .shapes = shapes, .req = train ? MXC_REQ_WRITE : MXC_REQ_NULL};
    assert_ok(mxc_executor_plan(symbol, options, &spec, &report));
    return report;
}

/* ---- contents --------------------------------------------------------------------------------------------------- */

double net_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) / (double)(1ll << 52) - 1.0;
}

/* Element i of n of a float dtype. */
static double element(mxc_dtype type, const void *data, int64_t i) {
    switch (type) {
    case MXC_F64:
        return ((const double *)data)[i];
    case MXC_F16:
        return mxc_f16_to_float(((const mxc_f16 *)data)[i]);
    case MXC_BF16:
        return mxc_bf16_to_float(((const mxc_bf16 *)data)[i]);
    default:
        return ((const float *)data)[i];
    }
}

static void put_element(mxc_dtype type, void *data, int64_t i, double value) {
    switch (type) {
    case MXC_F64:
        ((double *)data)[i] = value;
        break;
    case MXC_F16:
        ((mxc_f16 *)data)[i] = mxc_float_to_f16((float)value);
        break;
    case MXC_BF16:
        ((mxc_bf16 *)data)[i] = mxc_float_to_bf16((float)value);
        break;
    default:
        ((float *)data)[i] = (float)value;
    }
}

/* Store doubles in an array of any float dtype. */
static void store(mxc_ndarray *array, const double *values) {
    int64_t n = mxc_ndarray_size(array);
    void *elements = malloc(mxc_ndarray_bytes(array) + 1);
    for (int64_t i = 0; i < n; i++)
        put_element(mxc_ndarray_dtype(array), elements, i, values[i]);
    assert_ok(mxc_ndarray_set(array, elements, mxc_ndarray_bytes(array)));
    free(elements);
}

void net_fill(mxc_ndarray *array, uint64_t seed, double low, double high) {
    int64_t n = mxc_ndarray_size(array);
    double *values = malloc((size_t)n * sizeof *values + 1);
    for (int64_t i = 0; i < n; i++)
        values[i] = low + (net_random(&seed) + 1) / 2 * (high - low);
    store(array, values);
    free(values);
}

void net_fill_labels(mxc_ndarray *array, int classes) {
    int64_t n = mxc_ndarray_size(array);
    double *values = malloc((size_t)n * sizeof *values + 1);
    for (int64_t i = 0; i < n; i++)
        values[i] = (double)(i * 7 % classes);
    store(array, values);
    free(values);
}

void net_fill_all(mxc_executor *e, uint64_t seed, int classes) {
    const mxc_names *names = mxc_executor_arg_names(e);
    for (int64_t i = 0; i < names->n; i++) {
        mxc_ndarray *array = mxc_executor_arg(e, i);
        if (strstr(names->items[i], "label"))
            net_fill_labels(array, classes);
        else if (strstr(names->items[i], "gamma"))
            net_fill(array, seed + (uint64_t)i, 0.5, 1.5);
        else
            net_fill(array, seed + (uint64_t)i, -0.3, 0.3);
    }
    names = mxc_executor_aux_names(e);
    for (int64_t i = 0; i < names->n; i++)
        net_fill(mxc_executor_aux(e, i), seed + 1000 + (uint64_t)i, 0.5, 1.5);
}

double *net_read(mxc_ndarray *array) {
    int64_t n = mxc_ndarray_size(array);
    double *out = malloc((size_t)n * sizeof *out + 1);
    void *elements = net_bytes(array);
    for (int64_t i = 0; i < n; i++)
        out[i] = element(mxc_ndarray_dtype(array), elements, i);
    free(elements);
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

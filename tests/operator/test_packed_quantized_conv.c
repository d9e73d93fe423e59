/* SPDX-License-Identifier: Apache-2.0 */
/* _packed_quantized_conv against the operators that it stands for, at every level of the kernels: all results are
 * equal, for kernels, strides, padding, either dtype of data, each thing that may follow, and requests. Quantized
 * convolution and pooling with channels last, too. */
#include "support.h"

#include <math.h>

#include <mxc/executor.h>
#include <mxc/ndarray.h>
#include <mxc/op.h>

#include "base/cpu.h"

typedef struct layer {
    int n; /* spatial axes */
    int64_t batch, channels, size[3], filters;
    const char *params; /* of the geometry */
    int64_t kernel[3];
} layer;

static const layer layers[] = {
    {2, 2, 16, {9, 11}, 33, "kernel=(3,3) pad=(1,1)", {3, 3}},
    {2, 1, 64, {7, 7}, 70, "kernel=(1,1)", {1, 1}},
    {2, 1, 3, {23, 20}, 24, "kernel=(7,7) stride=(2,2) pad=(3,3)", {7, 7}},            /* rows are taps, padded */
    {2, 3, 5, {6, 13}, 7, "kernel=(2,3) stride=(1,2) dilate=(2,2) pad=(2,0)", {2, 3}}, /* read beyond the end */
    {2, 1, 4, {5, 6}, 16, "kernel=(3,3)", {3, 3}},                                     /* rows are taps, not padded */
    {2, 1, 130, {3, 4}, 20, "kernel=(3,3) pad=(1,1)", {3, 3}},
    {2, 1, 1, {4, 4}, 1, "kernel=(5,5) pad=(4,4)", {5, 5}}, /* pixels with padding alone */
    {2, 1, 3, {4, 0}, 5, "kernel=(3,3) pad=(1,2)", {3, 3}}, /* padding alone */
    {1, 2, 12, {40}, 18, "kernel=(5,) stride=(2,) pad=(2,)", {5}},
    {3, 1, 6, {4, 5, 6}, 20, "kernel=(3,3,3) stride=(1,2,1) pad=(1,0,1)", {3, 3, 3}},
};

/* What happens to the sums. */
typedef struct finish {
    const char *out_type, *codes_type;
    int has_bias, has_addend, in_place, half_steps;
    double slope, limit;
    mxc_req req;
} finish;

static const finish finishes[] = {
    {"int32", "none", 1, 0, 0, 0, 1, INFINITY, MXC_REQ_WRITE},
    {"int32", "none", 0, 0, 0, 0, 1, INFINITY, MXC_REQ_ADD},
    {"int8", "none", 1, 0, 0, 0, 1, INFINITY, MXC_REQ_WRITE},
    {"int8", "none", 0, 0, 0, 1, 1, INFINITY, MXC_REQ_ADD},
    {"uint8", "none", 1, 0, 0, 0, 1, INFINITY, MXC_REQ_WRITE},
    {"uint8", "none", 1, 0, 0, 1, 1, INFINITY, MXC_REQ_ADD},
    {"float32", "none", 1, 0, 0, 0, 1, INFINITY, MXC_REQ_WRITE},
    {"float32", "none", 0, 1, 1, 0, 0, 0.5, MXC_REQ_WRITE},
    {"float32", "uint8", 1, 1, 0, 0, 0, INFINITY, MXC_REQ_WRITE},
    {"float32", "int8", 1, 0, 0, 1, 0.25, 1, MXC_REQ_ADD},
    {"float32", "int8", 1, 1, 0, 0, 1, INFINITY, MXC_REQ_NULL},
};

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* Parameters as text, "key=value key=value". */
typedef struct texts {
    char room[512];
    const char *keys[20], *values[20];
    int n;
} texts;

static void parse(texts *t, const char *format, ...) {
    va_list args;
    t->n = 0;
    va_start(args, format);
    vsnprintf(t->room, sizeof t->room, format, args);
    va_end(args);
    for (char *word = strtok(t->room, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value = '\0';
        t->keys[t->n] = word;
        t->values[t->n++] = value + 1;
    }
}

static mxc_ndarray *invoke(const char *op, int n, mxc_ndarray *const *in, const texts *t, int n_out,
                           mxc_ndarray **out) {
    assert_ok(mxc_invoke(op, n, in, t->n, t->keys, t->values, n_out, out));
    return out[0];
}

/* Whole numbers of the dtype, or floats in (-1, 1), that depend on the seed. */
static mxc_ndarray *random_array(int ndim, const int64_t *dim, mxc_dtype type, uint64_t seed) {
    int64_t n = 1;
    mxc_ndarray *out;
    for (int i = 0; i < ndim; i++)
        n *= dim[i];
    char *bytes = malloc((size_t)n * 4);
    assert_non_null(bytes);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        if (type == MXC_F32)
            ((float *)(void *)bytes)[i] = (float)(int32_t)(seed >> 32) / 2147483648.0f;
        else if (type == MXC_I32)
            ((int32_t *)(void *)bytes)[i] = (int32_t)(seed >> 32);
        else
            bytes[i] = (char)(seed >> 40);
    }
    assert_ok(mxc_ndarray_from_data(ndim, dim, type, bytes, &out));
    free(bytes);
    return out;
}

/* The array with axis 1 moved last. */
static mxc_ndarray *moved(mxc_ndarray *from) {
    static const char *const orders[3] = {"(0,2,1)", "(0,2,3,1)", "(0,2,3,4,1)"};
    const char *key = "axes", *order = orders[mxc_ndarray_shape(from)->ndim - 3];
    mxc_ndarray *out = NULL;
    assert_ok(mxc_invoke("transpose", 1, &from, 1, &key, &order, 1, &out));
    return out;
}

static size_t bytes_of(mxc_ndarray *array) {
    return (size_t)mxc_ndarray_size(array) * mxc_dtype_size(mxc_ndarray_dtype(array));
}

static void *read_bytes(mxc_ndarray *array) {
    void *bytes = malloc(bytes_of(array) + 1);
    assert_non_null(bytes);
    assert_ok(mxc_ndarray_get(array, bytes, bytes_of(array)));
    return bytes;
}

static mxc_ndarray *bound(float value) {
    const int64_t one = 1;
    mxc_ndarray *out;
    assert_ok(mxc_ndarray_from_data(1, &one, MXC_F32, &value, &out));
    return out;
}

static void release(int n, mxc_ndarray **arrays) {
    for (int i = 0; i < n; i++)
        mxc_ndarray_release(arrays[i]);
}

/* ---- one layer --------------------------------------------------------------------------------------------------- */

#define RANGE "min_calib_range=-0.7 max_calib_range=1.1 half_steps=%d"

/* Arguments of _contrib_quantized_conv, channels second, with or without bias. */
static int make_args(const layer *l, mxc_dtype type, int has_bias, mxc_ndarray *args[9]) {
    const int layers = 2 + has_bias;
    int64_t data[5] = {l->batch, l->channels}, weight[5] = {l->filters, l->channels};
    for (int i = 0; i < l->n; i++) {
        data[2 + i] = l->size[i];
        weight[2 + i] = l->kernel[i];
    }
    args[0] = random_array(l->n + 2, data, type, 1);
    args[1] = random_array(l->n + 2, weight, MXC_I8, 2);
    if (has_bias)
        args[2] = random_array(1, &l->filters, MXC_I8, 3);
    for (int i = 0; i < layers; i++) {
        args[layers + 2 * i] = bound(-0.3f);
        args[layers + 2 * i + 1] = bound(0.21f + 0.2f * (float)i);
    }
    return 3 * layers;
}

/* float32 numbers of the sums with what follows them, in place. */
static void finish_numbers(const finish *f, int64_t n, float *x, const float *addend) {
    for (int64_t i = 0; i < n; i++) {
        x[i] += f->has_addend ? addend[i] : 0;
        x[i] = x[i] < 0 ? (float)f->slope * x[i] : x[i];
        x[i] = x[i] > (float)f->limit ? (float)f->limit : x[i];
    }
}

/* Outputs of the operators one after the other: those of the packed operator, channels last. */
static int reference(const layer *l, const finish *f, int n, mxc_ndarray *const *args, mxc_ndarray *addend,
                     mxc_ndarray *out[4]) {
    mxc_ndarray *sums[3] = {0}, *last[3], *numbers = NULL;
    texts t;
    parse(&t, "%s num_filter=%d no_bias=%d", l->params, (int)l->filters, !f->has_bias);
    last[0] = moved(invoke("_contrib_quantized_conv", n, args, &t, 3, sums));
    last[1] = sums[1];
    last[2] = sums[2];
    mxc_ndarray_release(sums[0]);
    memset(out, 0, 4 * sizeof *out);
    if (!strcmp(f->out_type, "int32")) {
        memcpy(out, last, sizeof last);
        return 3;
    }
    parse(&t, "out_type=%s " RANGE, f->out_type, f->half_steps);
    if (strcmp(f->out_type, "float32") != 0) {
        invoke("_contrib_requantize", 3, last, &t, 3, out);
        release(3, last);
        return 3;
    }
    t.n = 0;
    numbers = invoke("_contrib_dequantize", 3, last, &t, 1, &numbers);
    release(3, last);
    float *x = read_bytes(numbers), *added = read_bytes(addend);
    finish_numbers(f, mxc_ndarray_size(numbers), x, added);
    const mxc_shape *shape = mxc_ndarray_shape(numbers);
    assert_ok(mxc_ndarray_from_data(shape->ndim, shape->dim, MXC_F32, x, &out[0]));
    free(x), free(added);
    mxc_ndarray_release(numbers);
    if (!strcmp(f->codes_type, "none"))
        return 1;
    parse(&t, "out_type=%s " RANGE, f->codes_type, f->half_steps);
    invoke("_contrib_quantize_v2", 1, out, &t, 3, out + 1);
    return 4;
}

/* The packed operator into out, given for the first output, and for codes behind it. */
static void run_packed(const layer *l, const finish *f, int n, mxc_ndarray *const *args, mxc_ndarray *addend, int n_out,
                       mxc_ndarray **out) {
    mxc_ndarray *in[10], *weight = moved(args[1]);
    const mxc_req reqs[4] = {f->req, n_out == 4 ? f->req == MXC_REQ_ADD ? MXC_REQ_ADD : MXC_REQ_WRITE : MXC_REQ_WRITE,
                             MXC_REQ_WRITE, MXC_REQ_WRITE};
    mxc_op *op;
    texts t;
    memcpy(in, args, (size_t)n * sizeof *in);
    in[0] = moved(args[0]);
    in[1] = NULL;
    parse(&t, "%s num_filter=%d", l->params, (int)l->filters);
    invoke("_pack_quantized_conv", 1, &weight, &t, 1, &in[1]);
    in[n] = addend;
    if (!strcmp(f->out_type, "int32"))
        parse(&t, "%s num_filter=%d no_bias=%d", l->params, (int)l->filters, !f->has_bias);
    else
        parse(&t, "%s num_filter=%d no_bias=%d out_type=%s codes_type=%s with_addend=%d slope=%g limit=%g " RANGE,
              l->params, (int)l->filters, !f->has_bias, f->out_type, f->codes_type, f->has_addend, f->slope, f->limit,
              f->half_steps);
    assert_ok(mxc_op_create("_packed_quantized_conv", t.n, t.keys, t.values, &op));
    assert_ok(mxc_op_invoke(op, n + f->has_addend, in, n_out, out, reqs, 0));
    mxc_op_release(op);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
}

/* found = before (where it was added to) + expected. */
static void expect(const layer *l, const finish *f, int slot, mxc_ndarray *found, mxc_ndarray *expected,
                   const void *before, int adds) {
    const mxc_dtype type = mxc_ndarray_dtype(expected);
    void *x = read_bytes(found), *y = read_bytes(expected);
    assert_int_equal(mxc_ndarray_dtype(found), type);
    for (int64_t i = 0; i < mxc_ndarray_size(expected); i++) {
        double a, b;
        if (type == MXC_F32) {
            a = ((float *)x)[i];
            b = adds ? ((const float *)before)[i] + ((float *)y)[i] : ((float *)y)[i];
        } else if (type == MXC_I32) {
            a = ((int32_t *)x)[i];
            b = (int32_t)((adds ? ((const uint32_t *)before)[i] : 0) + ((uint32_t *)y)[i]);
        } else {
            a = ((uint8_t *)x)[i];
            b = (uint8_t)((adds ? ((const uint8_t *)before)[i] : 0) + ((uint8_t *)y)[i]);
        }
        if (a != b)
            fail_msg("%s, layer %d, %s, output %d, element %d: %g, expected %g", mxc_cpu_level(), (int)(l - layers),
                     f->out_type, slot, (int)i, a, b);
    }
    free(x), free(y);
}

static void test_layer(const layer *l, mxc_dtype type, const finish *f) {
    mxc_ndarray *args[9], *expected[4], *out[4] = {0};
    void *before[2] = {0};
    const int n = make_args(l, type, f->has_bias, args);
    mxc_ndarray *addend = NULL;
    texts t;
    parse(&t, "%s num_filter=%d no_bias=%d", l->params, (int)l->filters, !f->has_bias);
    mxc_ndarray *sums[3] = {0}, *last = moved(invoke("_contrib_quantized_conv", n, args, &t, 3, sums));
    const mxc_shape shape = *mxc_ndarray_shape(last);
    mxc_ndarray_release(last);
    release(3, sums);
    addend = random_array(shape.ndim, shape.dim, MXC_F32, 4);
    const int n_out = reference(l, f, n, args, addend, expected);
    for (int i = 0; i < 1 + (n_out == 4); i++) {
        out[i] = random_array(shape.ndim, shape.dim, mxc_ndarray_dtype(expected[i]), 5);
        before[i] = read_bytes(out[i]);
    }
    if (f->in_place) {
        mxc_ndarray_release(out[0]);
        assert_ok(mxc_ndarray_copy(addend, mxc_cpu(0), MXC_F32, &out[0]));
    }
    run_packed(l, f, n, args, f->in_place ? out[0] : addend, n_out, out);
    for (int i = 0; i < n_out; i++)
        if (i > 0 || f->req != MXC_REQ_NULL)
            expect(l, f, i, out[i], expected[i], before[i < 2 ? i : 0],
                   f->req == MXC_REQ_ADD && (i == 0 || (i == 1 && n_out == 4)));
    free(before[0]), free(before[1]);
    release(n, args);
    release(n_out, expected);
    release(n_out, out);
    mxc_ndarray_release(addend);
}

static void test_layers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        for (size_t j = 0; j < sizeof finishes / sizeof *finishes; j++) {
            test_layer(&layers[i], MXC_I8, &finishes[j]);
            test_layer(&layers[i], MXC_U8, &finishes[j]);
        }
}

/* Every level that the processor has. */
static void test_levels(void **state) {
    int n = 0;
    for (int i = 0; mxci_level_names[i]; i++)
        if (mxci_cpu_use(mxci_level_names[i]) == MXC_OK) {
            test_layers(state);
            n++;
        }
    assert_true(n >= 1);
    assert_ok(mxci_cpu_use(NULL));
}

/* Ranges out of files: a bound that is infinite or NaN, and an addend that is NaN. */
static void test_non_finite(void **state) {
    static const finish codes = {"uint8", "none", 1, 0, 0, 0, 1, INFINITY, MXC_REQ_WRITE};
    static const finish numbers = {"float32", "int8", 1, 1, 0, 0, 0, INFINITY, MXC_REQ_WRITE};
    static const float bounds[] = {INFINITY, NAN, 0};
    const layer *l = &layers[1];
    (void)state;
    for (int k = 0; k < 6; k++) {
        const finish *f = k % 2 ? &numbers : &codes;
        const int64_t dim[] = {1, 7, 7, 70};
        mxc_ndarray *args[9], *expected[4], *out[4] = {0}, *addend = random_array(4, dim, MXC_F32, 4);
        const int n = make_args(l, MXC_U8, 1, args);
        mxc_ndarray_release(args[4]);
        args[4] = bound(bounds[k / 2]);
        float *x = read_bytes(addend);
        x[3] = NAN;
        assert_ok(mxc_ndarray_set(addend, x, bytes_of(addend)));
        free(x);
        const int n_out = reference(l, f, n, args, addend, expected);
        for (int i = 0; i < 1 + (n_out == 4); i++)
            out[i] = random_array(4, dim, mxc_ndarray_dtype(expected[i]), 5);
        run_packed(l, f, n, args, addend, n_out, out);
        expect(l, f, n_out == 4, out[n_out == 4], expected[n_out == 4], NULL, 0);
        release(n, args);
        release(n_out, expected);
        release(n_out, out);
        mxc_ndarray_release(addend);
    }
}

/* ---- channels last ----------------------------------------------------------------------------------------------- */

static void expect_last(const char *op, int n, mxc_ndarray *const *args, int weights, const char *params) {
    mxc_ndarray *in[9], *second[3] = {0}, *last[3] = {0}, *expected;
    texts t;
    memcpy(in, args, (size_t)n * sizeof *in);
    for (int i = 0; i <= weights; i++)
        in[i] = moved(args[i]);
    parse(&t, "%s", params);
    expected = moved(invoke(op, n, args, &t, 3, second));
    parse(&t, "%s layout=NHWC", params);
    invoke(op, n, in, &t, 3, last);
    expect(layers, finishes, 0, last[0], expected, NULL, 0);
    for (int i = 1; i < 3; i++)
        expect(layers, finishes, i, last[i], second[i], NULL, 0);
    release(1 + weights, in);
    release(3, second);
    release(3, last);
    mxc_ndarray_release(expected);
}

static void test_channels_last(void **state) {
    static const char *const pools[] = {"kernel=(3,3) stride=(2,2) pad=(1,1) pool_type=max",
                                        "kernel=(2,3) stride=(1,2) pool_type=avg",
                                        "kernel=(3,3) pad=(2,2) pool_type=max pooling_convention=full stride=(3,3)"};
    const int64_t dim[] = {2, 70, 9, 8};
    mxc_ndarray *args[9];
    (void)state;
    for (int type = 0; type < 2; type++) {
        const mxc_dtype dtype = type ? MXC_U8 : MXC_I8;
        int n = make_args(&layers[0], dtype, 1, args);
        expect_last("_contrib_quantized_conv", n, args, 1, "kernel=(3,3) pad=(1,1) num_filter=33");
        release(n, args);
        args[0] = random_array(4, dim, dtype, 1);
        args[1] = bound(-1);
        args[2] = bound(2);
        for (int i = 0; i < 3; i++)
            expect_last("_contrib_quantized_pooling", 3, args, 0, pools[i]);
        release(3, args);
    }
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

typedef struct refused {
    const char *op, *params;
    int ndim; /* of data, or of a weight to be packed */
    int64_t dim[5], second;
    const char *message;
} refused;

/* Wrong shapes, and hostile ones: taps, rows, padding and channels that overflow when they are multiplied. */
static const refused wrong[] = {
    {"_pack_quantized_conv", "kernel=(3,3) num_filter=6", 4, {5, 3, 3, 2}, 0, "argument 'weight'"},
    {"_pack_quantized_conv", "kernel=(3,3) num_filter=5", 4, {5, 3, 3, 0}, 0, "0 channels"},
    {"_packed_quantized_conv", "kernel=(3,3) num_filter=6 no_bias=1", 4, {2, 7, 9, 2}, 100, "argument 'weight'"},
    {"_packed_quantized_conv", "kernel=(3,3) num_filter=6 no_bias=1", 4, {2, 7, 9, 0}, 100, "0 channels"},
    {"_packed_quantized_conv", "kernel=(3,3) num_filter=6 no_bias=1", 4, {2, 2, 9, 4}, 100, "fewer than"},
    {"_packed_quantized_conv",
     "kernel=(2147483647,2147483647,2147483647) pad=(1073741823,1073741823,1073741823) num_filter=2 no_bias=1",
     5,
     {1, 1, 1, 1, 1},
     2,
     "argument 'weight'"},
    {"_packed_quantized_conv",
     "kernel=(1,2147483647) pad=(0,2147483647) num_filter=100000 no_bias=1",
     4,
     {1, 1, 1, 16},
     2,
     "argument 'weight'"},
};

static void test_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const refused *w = &wrong[i];
        mxc_ndarray *in[6] = {random_array(w->ndim, w->dim, MXC_I8, 1)}, *out[3] = {0};
        const int is_packed = w->second > 0;
        texts t;
        parse(&t, "%s", w->params);
        if (is_packed)
            in[1] = random_array(1, &w->second, MXC_I8, 2);
        for (int j = 2; is_packed && j < 6; j++)
            in[j] = bound(1);
        assert_int_equal(mxc_invoke(w->op, is_packed ? 6 : 1, in, t.n, t.keys, t.values, is_packed ? 3 : 1, out),
                         MXC_ESHAPE);
        assert_non_null(strstr(mxc_last_error(), w->message));
        release(is_packed ? 6 : 1, in);
    }
}

/* A file that names the operator with a weight of another size is refused, not read beyond its end. */
static void test_symbol(void **state) {
    static const char *const keys[] = {"kernel", "num_filter", "no_bias"}, *const values[] = {"(3,3)", "6", "1"};
    static const char *const names[] = {"p_data", "p_weight"};
    const mxc_shape shapes[] = {{.ndim = 4, .dim = {1, 5, 5, 4}}, {.ndim = 1, .dim = {4}}};
    mxc_symbol *s;
    mxc_executor *e;
    (void)state;
    assert_ok(mxc_symbol_op("_packed_quantized_conv", "p", 3, keys, values, 0, NULL, NULL, &s));
    const mxc_bind_spec spec = {.size = sizeof spec, .n = 2, .names = names, .shapes = shapes};
    assert_int_equal(mxc_executor_simple_bind(s, NULL, &spec, &e), MXC_ESHAPE);
    mxc_symbol_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),        cmocka_unit_test(test_levels),  cmocka_unit_test(test_non_finite),
        cmocka_unit_test(test_channels_last), cmocka_unit_test(test_refused), cmocka_unit_test(test_symbol),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

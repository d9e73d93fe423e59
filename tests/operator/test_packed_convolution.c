/* SPDX-License-Identifier: Apache-2.0 */
/* _pack_convolution and _packed_convolution against Convolution in float64: every algorithm, kernel, stride, padding
 * and group, each thing that the epilogue does, and requests. */
#include "support.h"

#include <math.h>

#include <mxc/ndarray.h>
#include <mxc/op.h>

typedef struct layer {
    int n; /* spatial axes */
    int64_t batch, channels, size[3], filters, groups, kernel[3], stride[3], dilate[3], pad[3];
    const char *algorithm;
} layer;

static const layer layers[] = {
    {2, 2, 16, {9, 11}, 33, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, "direct"},
    {2, 1, 64, {7, 7}, 70, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, "direct"},
    {2, 1, 3, {23, 20}, 24, 1, {7, 7}, {2, 2}, {1, 1}, {3, 3}, "direct"},
    {2, 3, 5, {6, 13}, 7, 1, {2, 3}, {1, 2}, {2, 2}, {2, 0}, "direct"},
    {2, 1, 600, {3, 4}, 20, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, "direct"}, /* taps in several parts */
    {2, 2, 24, {8, 8}, 48, 3, {3, 3}, {1, 1}, {1, 1}, {1, 1}, "direct"},
    {2, 1, 64, {6, 6}, 64, 16, {3, 3}, {2, 2}, {1, 1}, {1, 1}, "direct"},   /* merged groups */
    {2, 1, 128, {9, 7}, 128, 32, {3, 3}, {1, 1}, {1, 1}, {1, 1}, "direct"}, /* a vector holds whole groups */
    {2, 2, 64, {7, 8}, 64, 8, {3, 3}, {2, 2}, {1, 1}, {1, 1}, "direct"},
    {2, 1, 32, {5, 5}, 32, 16, {1, 3}, {1, 1}, {1, 2}, {0, 1}, "direct"},
    {2, 1, 20, {5, 5}, 20, 5, {3, 3}, {1, 1}, {1, 1}, {1, 1}, "direct"},
    {2, 1, 10, {5, 6}, 30, 10, {3, 3}, {1, 1}, {1, 1}, {1, 1}, "direct"},
    {1, 2, 12, {40}, 18, 1, {5}, {2}, {1}, {2}, "direct"},
    {3, 1, 6, {4, 5, 6}, 20, 1, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 0, 1}, "direct"},
    {2, 2, 16, {9, 11}, 33, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, "winograd"},
    {2, 3, 70, {14, 14}, 40, 1, {3, 3}, {1, 1}, {1, 1}, {0, 0}, "winograd"},
    {2, 2, 33, {9, 14}, 33, 33, {3, 3}, {1, 1}, {1, 1}, {1, 1}, "by_channel"},
    {2, 1, 64, {15, 15}, 64, 64, {5, 5}, {2, 2}, {1, 1}, {2, 2}, "by_channel"},
    {2, 1, 16, {2, 2}, 16, 16, {5, 5}, {1, 1}, {2, 2}, {4, 4}, "by_channel"}, /* taps that no pixel has */
    {1, 2, 8, {30}, 8, 8, {3}, {1}, {1}, {1}, "by_channel"},
    {3, 1, 8, {4, 4, 4}, 8, 8, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, "by_channel"},
};

/* What happens to the output. */
typedef struct finish {
    int has_bias, has_addend, in_place;
    double slope, limit;
    mxc_req req;
} finish;

static const finish finishes[] = {
    {1, 0, 0, 1, INFINITY, MXC_REQ_WRITE}, {0, 0, 0, 0, INFINITY, MXC_REQ_WRITE}, {1, 1, 0, 0, 0.4, MXC_REQ_WRITE},
    {1, 1, 1, 0.1, 9, MXC_REQ_WRITE},      {0, 1, 1, 1, INFINITY, MXC_REQ_WRITE}, {1, 0, 0, 0, 0.4, MXC_REQ_ADD},
    {1, 1, 0, 0.5, INFINITY, MXC_REQ_ADD},
};

/* Parameters as text, which the caller's buffers hold. */
typedef struct texts {
    const char *keys[12], *values[12];
    char room[12][40];
    int n;
} texts;

static void add_text(texts *t, const char *key, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(t->room[t->n], sizeof t->room[0], format, args);
    va_end(args);
    t->keys[t->n] = key;
    t->values[t->n] = t->room[t->n];
    t->n++;
}

static void add_tuple(texts *t, const char *key, int n, const int64_t *value) {
    char text[40] = "(";
    for (int i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,", (int)value[i]);
    add_text(t, key, "%s)", text);
}

static void add_shape(texts *t, const layer *l) {
    add_tuple(t, "kernel", l->n, l->kernel);
    add_tuple(t, "stride", l->n, l->stride);
    add_tuple(t, "dilate", l->n, l->dilate);
    add_tuple(t, "pad", l->n, l->pad);
    add_text(t, "num_filter", "%d", (int)l->filters);
    add_text(t, "num_group", "%d", (int)l->groups);
}

/* Numbers in (-1, 1) that depend on the seed. */
static mxc_ndarray *random_array(int ndim, const int64_t *dim, uint64_t seed) {
    int64_t n = 1;
    mxc_ndarray *out;
    for (int i = 0; i < ndim; i++)
        n *= dim[i];
    float *values = malloc((size_t)n * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        values[i] = (float)(int32_t)(seed >> 32) / 2147483648.0f;
    }
    assert_ok(mxc_ndarray_from_data(ndim, dim, MXC_F32, values, &out));
    free(values);
    return out;
}

/* The array with axis 1 moved last, or back, in a dtype. */
static mxc_ndarray *moved(mxc_ndarray *from, int to_last, mxc_dtype dtype) {
    static const char *const orders[2][3] = {{"(0,2,1)", "(0,3,1,2)", "(0,4,1,2,3)"},
                                             {"(0,2,1)", "(0,2,3,1)", "(0,2,3,4,1)"}};
    const char *key = "axes", *order = orders[to_last][mxc_ndarray_shape(from)->ndim - 3];
    mxc_ndarray *turned = NULL, *out;
    assert_ok(mxc_invoke("transpose", 1, &from, 1, &key, &order, 1, &turned));
    assert_ok(mxc_ndarray_copy(turned, mxc_cpu(0), dtype, &out));
    mxc_ndarray_release(turned);
    return out;
}

static double *read_doubles(mxc_ndarray *array) {
    const size_t n = (size_t)mxc_ndarray_size(array);
    double *values = malloc(n * sizeof *values);
    mxc_ndarray *wide;
    assert_non_null(values);
    assert_ok(mxc_ndarray_copy(array, mxc_cpu(0), MXC_F64, &wide));
    assert_ok(mxc_ndarray_get(wide, values, n * sizeof *values));
    mxc_ndarray_release(wide);
    return values;
}

/* Convolution's output in float64, channels last; data, weight and bias are channels second. */
static mxc_ndarray *reference(const layer *l, mxc_ndarray *const in[3], int has_bias) {
    mxc_ndarray *wide[3], *out = NULL, *last;
    texts t = {.n = 0};
    add_shape(&t, l);
    add_text(&t, "no_bias", "%d", !has_bias);
    for (int i = 0; i < 3; i++)
        assert_ok(mxc_ndarray_copy(in[i], mxc_cpu(0), MXC_F64, &wide[i]));
    assert_ok(mxc_invoke("Convolution", 2 + has_bias, wide, t.n, t.keys, t.values, 1, &out));
    last = moved(out, 1, MXC_F64);
    mxc_ndarray_release(out);
    for (int i = 0; i < 3; i++)
        mxc_ndarray_release(wide[i]);
    return last;
}

/* The same by the packed operator into out. addend: or NULL. */
static void run_packed(const layer *l, const finish *f, mxc_ndarray *const in[3], mxc_ndarray *addend,
                       mxc_ndarray *out) {
    mxc_ndarray *args[4] = {moved(in[0], 1, MXC_F32)}, *weight = moved(in[1], 1, MXC_F32);
    texts t = {.n = 0};
    mxc_op *op;
    int n = 2;
    add_shape(&t, l);
    add_text(&t, "algorithm", "%s", l->algorithm);
    assert_ok(mxc_invoke("_pack_convolution", 1, &weight, t.n, t.keys, t.values, 1, &args[1]));
    add_text(&t, "no_bias", "%d", !f->has_bias);
    add_text(&t, "slope", "%g", f->slope);
    add_text(&t, "limit", "%g", f->limit);
    if (f->has_bias)
        args[n++] = in[2];
    if (f->has_addend)
        args[n++] = addend;
    assert_ok(
        mxc_op_create(f->has_addend ? "_packed_convolution_add" : "_packed_convolution", t.n, t.keys, t.values, &op));
    assert_ok(mxc_op_invoke(op, n, args, 1, &out, &f->req, 0));
    mxc_op_release(op);
    mxc_ndarray_release(args[0]);
    mxc_ndarray_release(args[1]);
    mxc_ndarray_release(weight);
}

static void test_layer(const layer *l, const finish *f, int index) {
    int64_t data[5] = {l->batch, l->channels}, weight[5] = {l->filters, l->channels / l->groups};
    for (int i = 0; i < l->n; i++) {
        data[2 + i] = l->size[i];
        weight[2 + i] = l->kernel[i];
    }
    mxc_ndarray *in[3] = {random_array(l->n + 2, data, 1), random_array(l->n + 2, weight, 2),
                          random_array(1, &l->filters, 3)};
    mxc_ndarray *expected = reference(l, in, f->has_bias);
    const mxc_shape *s = mxc_ndarray_shape(expected);
    mxc_ndarray *addend = random_array(s->ndim, s->dim, 4), *out = random_array(s->ndim, s->dim, 5);
    double *sums = read_doubles(expected), *added = read_doubles(addend), *before = read_doubles(out);
    mxc_ndarray *result = f->in_place ? addend : out;
    run_packed(l, f, in, addend, result);
    double *values = read_doubles(result);
    const double tolerance = 5e-6 * sqrt((double)(l->channels / l->groups * l->kernel[0] * 9)) + 1e-6;
    for (int64_t i = 0; i < mxc_ndarray_size(result); i++) {
        double x = sums[i] + (f->has_addend ? added[i] : 0);
        x = x < 0 ? f->slope * x : x;
        x = (x > f->limit ? f->limit : x) + (f->req == MXC_REQ_ADD ? before[i] : 0);
        if (!(fabs(values[i] - x) <= tolerance))
            fail_msg("layer %d, element %d: %g, expected %g", index, (int)i, values[i], x);
    }
    free(sums), free(added), free(before), free(values);
    for (int i = 0; i < 3; i++)
        mxc_ndarray_release(in[i]);
    mxc_ndarray_release(expected);
    mxc_ndarray_release(addend);
    mxc_ndarray_release(out);
}

static void test_layers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        for (size_t j = 0; j < sizeof finishes / sizeof *finishes; j++)
            test_layer(&layers[i], &finishes[j], (int)i);
}

/* A rectifier's 0 is 0 for -infinity too, and NaN stays NaN. */
static void test_non_finite(void **state) {
    const float values[] = {-INFINITY, INFINITY, NAN, 1}, one = 1;
    const int64_t data[] = {1, 1, 4, 1}, weight[] = {1, 1, 1, 1};
    const char *const keys[] = {"kernel", "num_filter", "no_bias", "slope", "limit"};
    const char *const texts[] = {"(1,1)", "1", "1", "0", "6"};
    float result[4];
    mxc_ndarray *in[2], *packed = NULL, *out = NULL;
    (void)state;
    assert_ok(mxc_ndarray_from_data(4, data, MXC_F32, values, &in[0]));
    assert_ok(mxc_ndarray_from_data(4, weight, MXC_F32, &one, &in[1]));
    assert_ok(mxc_invoke("_pack_convolution", 1, &in[1], 2, keys, texts, 1, &packed));
    mxc_ndarray *args[] = {in[0], packed};
    assert_ok(mxc_invoke("_packed_convolution", 2, args, 5, keys, texts, 1, &out));
    assert_ok(mxc_ndarray_get(out, result, sizeof result));
    assert_true(result[0] == 0 && result[1] == 6 && isnan(result[2]) && result[3] == 1);
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
    mxc_ndarray_release(packed);
    mxc_ndarray_release(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_non_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

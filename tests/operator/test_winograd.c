/* SPDX-License-Identifier: Apache-2.0 */
/* Winograd's algorithm: its errors against float64, and that neither threads nor the batch change a result. The cases
 * of Convolution run with it too (operator/winograd). */
#include "support.h"

#include <math.h>

#include <mxc/autograd.h>
#include <mxc/engine.h>
#include <mxc/ndarray.h>
#include <mxc/op.h>

#include "operator/nn/winograd.h"

enum { DATA, OUTPUT = 3, RESULTS }; /* the gradients of data, weight and bias, then the output */

typedef struct layer {
    int64_t batch, channels, height, width, filters, groups, pad;
} layer;

static const layer layers[] = {
    {2, 16, 32, 32, 16, 1, 1}, {9, 16, 33, 30, 20, 1, 1}, {11, 36, 17, 15, 32, 1, 1}, {3, 64, 14, 14, 48, 1, 1},
    {1, 40, 19, 30, 37, 1, 0}, {2, 80, 21, 11, 64, 2, 2}, {5, 96, 13, 12, 130, 1, 1}, {2, 100, 14, 15, 75, 1, 1},
};

/* Numbers in (-1, 1) that depend on the seed. */
static mxc_ndarray *random_array(int ndim, const int64_t *dim, mxc_dtype dtype, uint64_t seed) {
    int64_t n = 1;
    mxc_ndarray *single, *out;
    for (int i = 0; i < ndim; i++)
        n *= dim[i];
    float *values = malloc((size_t)n * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        values[i] = (float)(int32_t)(seed >> 32) / 2147483648.0f;
    }
    assert_ok(mxc_ndarray_from_data(ndim, dim, MXC_F32, values, &single));
    assert_ok(mxc_ndarray_copy(single, mxc_cpu(0), dtype, &out));
    mxc_ndarray_release(single);
    free(values);
    return out;
}

/* The elements as doubles; the caller frees them. */
static double *read_array(mxc_ndarray *array, int64_t *n) {
    mxc_ndarray *wide;
    *n = mxc_shape_size(mxc_ndarray_shape(array));
    double *values = malloc((size_t)*n * sizeof *values);
    assert_non_null(values);
    assert_ok(mxc_ndarray_copy(array, mxc_cpu(0), MXC_F64, &wide));
    assert_ok(mxc_ndarray_get(wide, values, (size_t)*n * sizeof *values));
    mxc_ndarray_release(wide);
    return values;
}

/* Applies the layer to random data, weight and bias, which the caller releases, as it does the output. */
static mxc_ndarray *apply(const layer *l, mxc_dtype dtype, int is_recorded, mxc_ndarray *in[3]) {
    const int64_t data[] = {l->batch, l->channels, l->height, l->width};
    const int64_t weight[] = {l->filters, l->channels / l->groups, 3, 3}, bias[] = {l->filters};
    char pad[32], filters[32], groups[32];
    snprintf(pad, sizeof pad, "(%d,%d)", (int)l->pad, (int)l->pad);
    snprintf(filters, sizeof filters, "%d", (int)l->filters);
    snprintf(groups, sizeof groups, "%d", (int)l->groups);
    const char *const keys[] = {"kernel", "pad", "num_filter", "num_group"};
    const char *const values[] = {"(3,3)", pad, filters, groups};
    mxc_ndarray *out = NULL;
    in[0] = random_array(4, data, dtype, 1);
    in[1] = random_array(4, weight, dtype, 2);
    in[2] = random_array(1, bias, dtype, 3);
    for (int i = 0; i < 3 && is_recorded; i++)
        assert_ok(mxc_autograd_attach(in[i], MXC_REQ_WRITE, NULL));
    const int scope = mxc_autograd_record(is_recorded);
    assert_ok(mxc_invoke("Convolution", 3, in, 4, keys, values, 1, &out));
    mxc_autograd_leave(scope);
    return out;
}

/* The output of a layer and the gradients of data, weight and bias, as doubles; the caller frees them. */
static void run_layer(const layer *l, mxc_dtype dtype, double *results[RESULTS], int64_t sizes[RESULTS]) {
    mxc_ndarray *in[3], *grads[3], *out = apply(l, dtype, 1, in);
    mxc_ndarray *head = random_array(4, mxc_ndarray_shape(out)->dim, dtype, 4);
    assert_ok(mxc_autograd_gradients(1, &out, &head, 3, in, NULL, grads));
    results[OUTPUT] = read_array(out, &sizes[OUTPUT]);
    for (int i = 0; i < 3; i++) {
        results[i] = read_array(grads[i], &sizes[i]);
        mxc_ndarray_release(grads[i]);
        mxc_ndarray_release(in[i]);
    }
    mxc_ndarray_release(out);
    mxc_ndarray_release(head);
}

static void free_all(double *results[RESULTS]) {
    for (int i = 0; i < RESULTS; i++)
        free(results[i]);
}

/* The algorithm is chosen for all layers of the table, and its errors are at most 5e-6 of the largest result: the
 * direct algorithm's are 5e-7. */
static void test_errors(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        const layer *l = &layers[i];
        const mxci_conv_shape shape = {
            .channels = l->channels / l->groups,
            .filters = l->filters / l->groups,
            .in = {1, l->height, l->width},
            .out = {1, l->height + 2 * l->pad - 2, l->width + 2 * l->pad - 2},
            .kernel = {1, 3, 3},
            .stride = {1, 1, 1},
            .dilate = {1, 1, 1},
            .pad = {0, l->pad, l->pad},
        };
        mxci_winograd plan;
        double *single[RESULTS], *wide[RESULTS];
        int64_t sizes[RESULTS];
        assert_int_equal(mxci_winograd_plan(&shape, MXCI_WINOGRAD_FORWARD, l->batch, l->groups, 1, &plan), 1);
        run_layer(l, MXC_F32, single, sizes);
        run_layer(l, MXC_F64, wide, sizes);
        for (int r = 0; r < RESULTS; r++) {
            double largest = 0, error = 0;
            for (int64_t k = 0; k < sizes[r]; k++) {
                largest = fmax(largest, fabs(wide[r][k]));
                error = fmax(error, fabs(single[r][k] - wide[r][k]));
            }
            if (!(error <= 4e-6 * largest))
                fail_msg("layer %d, result %d: an error of %g, the largest result is %g", (int)i, r, error, largest);
        }
        free_all(single);
        free_all(wide);
    }
}

static void run_under(int parallelism, const layer *l, double *results[RESULTS], int64_t sizes[RESULTS]) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    options.workers = options.parallelism = parallelism;
    assert_ok(mxc_engine_create(&options, &engine));
    mxc_engine_set_default(engine);
    run_layer(l, MXC_F32, results, sizes);
    mxc_engine_set_default(NULL);
    mxc_engine_destroy(engine);
}

static void test_threads_do_not_matter(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        double *one[RESULTS], *three[RESULTS];
        int64_t sizes[RESULTS];
        run_under(1, &layers[i], one, sizes);
        run_under(3, &layers[i], three, sizes);
        for (int r = 0; r < RESULTS; r++)
            assert_memory_equal(one[r], three[r], (size_t)sizes[r] * sizeof(double));
        free_all(one);
        free_all(three);
    }
}

/* In inference the first sample's output is the same alone and in a batch. */
static void test_batch_does_not_matter(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        layer alone = layers[i];
        mxc_ndarray *in[3];
        double *values[2];
        int64_t n;
        for (int k = 0; k < 2; k++) {
            mxc_ndarray *out = apply(k ? &alone : &layers[i], MXC_F32, 0, in);
            values[k] = read_array(out, &n);
            mxc_ndarray_release(out);
            for (int j = 0; j < 3; j++)
                mxc_ndarray_release(in[j]);
            alone.batch = 1;
        }
        assert_memory_equal(values[0], values[1], (size_t)n * sizeof(double));
        free(values[0]);
        free(values[1]);
    }
}

/* What it cannot do, and what is faster otherwise. */
static void test_choice(void **state) {
    const mxci_conv_shape good = {
        .channels = 64,
        .filters = 64,
        .in = {1, 56, 56},
        .out = {1, 56, 56},
        .kernel = {1, 3, 3},
        .stride = {1, 1, 1},
        .dilate = {1, 1, 1},
        .pad = {0, 1, 1},
    };
    mxci_conv_shape s = good;
    mxci_winograd plan;
    (void)state;
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_FORWARD, 1, 1, 1, &plan), 1);
    s.stride[2] = 2;
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_FORWARD, 1, 1, 1, &plan), 0);
    s = good, s.dilate[1] = 2;
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_FORWARD, 1, 1, 1, &plan), 0);
    s = good, s.kernel[1] = 5;
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_FORWARD, 1, 1, 1, &plan), 0);
    s = good, s.kernel[0] = 3, s.in[0] = 3;
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_FORWARD, 1, 1, 1, &plan), 0);
    s = good, s.channels = 3;
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_FORWARD, 1, 1, 1, &plan), 0);
    s = good, s.out[1] = s.in[1] = 4, s.out[2] = s.in[2] = 4;
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_FORWARD, 1, 1, 1, &plan), 0);
    s = good, s.out[1] = s.in[1] = 8, s.out[2] = s.in[2] = 8; /* four tiles a sample: many samples share products */
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_FORWARD, 32, 1, 1, &plan), 0);
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_FORWARD, 32, 1, 32, &plan), 1);
    s = good, s.channels = s.filters = 16; /* threads have blocks of their own */
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_WEIGHT, 8, 1, 8, &plan), 1);
    assert_true(plan.own_blocks && plan.chunks > 1);
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_FORWARD, 8, 1, 8, &plan), 1);
    assert_true(plan.own_blocks && plan.chunks == 1);
    s.channels = s.filters = 512, s.out[1] = s.in[1] = s.out[2] = s.in[2] = 7; /* blocks of weights, for all tiles */
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_WEIGHT, 4, 1, 4, &plan), 1);
    assert_true(plan.filter_block > 0 && plan.channel_block < 512);
    s = good, s.out[2] = s.in[2] = 1 << 20; /* scratch holds whole rows */
    assert_int_equal(mxci_winograd_plan(&s, MXCI_WINOGRAD_FORWARD, 1, 1, 1, &plan), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_batch_does_not_matter),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

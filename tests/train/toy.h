/* SPDX-License-Identifier: Apache-2.0 */
/* A training small enough for tests: three noisy clouds in six dimensions; a net with Dropout and BatchNorm. */
#ifndef MXC_TESTS_TOY_H
#define MXC_TESTS_TOY_H

#include <mxc/train.h>

#include "support.h"

enum { TOY_SAMPLES = 90, TOY_WIDTH = 6, TOY_BATCH = 8 };

static inline mxc_status toy_layer(const char *op, const char *name, const char *key, const char *value,
                                   mxc_symbol **inout) {
    mxc_symbol *in = *inout;
    mxc_status status = mxc_symbol_op(op, name, key != NULL, &key, &value, 1, NULL, &in, inout);
    mxc_symbol_release(in);
    return status;
}

/* hidden units; anything that fails leaves *out NULL. */
static inline mxc_status toy_net(const char *hidden, mxc_symbol **out) {
    mxc_symbol *x = NULL;
    mxc_status status = mxc_symbol_variable("data", &x);
    *out = NULL;
    if (status == MXC_OK)
        status = toy_layer("FullyConnected", "fc1", "num_hidden", hidden, &x);
    if (status == MXC_OK)
        status = toy_layer("BatchNorm", "bn", NULL, NULL, &x);
    if (status == MXC_OK)
        status = toy_layer("Activation", "act", "act_type", "tanh", &x);
    if (status == MXC_OK)
        status = toy_layer("Dropout", "drop", "p", "0.2", &x);
    if (status == MXC_OK)
        status = toy_layer("FullyConnected", "fc2", "num_hidden", "3", &x);
    if (status == MXC_OK)
        status = toy_layer("SoftmaxOutput", "softmax", NULL, NULL, &x);
    if (status == MXC_OK)
        *out = x;
    return status;
}

/* Values that look random, the same everywhere. */
static inline float toy_noise(uint32_t i) {
    i = (i ^ 61) ^ (i >> 16);
    i *= 9;
    i ^= i >> 4;
    i *= 0x27d4eb2d;
    i ^= i >> 15;
    return (float)(i & 0xffff) / 65536.0f - 0.5f;
}

static inline mxc_status toy_iter(int shuffle, int prefetch, mxc_iter **out) {
    float x[TOY_SAMPLES * TOY_WIDTH], y[TOY_SAMPLES];
    mxc_ndarray *data = NULL, *label = NULL;
    mxc_array_iter_options options = MXC_ARRAY_ITER_OPTIONS_INIT;
    mxc_iter *rows = NULL;
    for (int i = 0; i < TOY_SAMPLES; i++) {
        y[i] = (float)(i % 3);
        for (int k = 0; k < TOY_WIDTH; k++)
            x[i * TOY_WIDTH + k] = (k % 3 == i % 3 ? 1.0f : 0.0f) + toy_noise((uint32_t)(i * TOY_WIDTH + k));
    }
    options.batch_size = TOY_BATCH;
    options.shuffle = shuffle;
    options.last_batch = MXC_LAST_PAD;
    options.seed = 5;
    *out = NULL;
    mxc_status status = mxc_ndarray_from_data(2, (int64_t[]){TOY_SAMPLES, TOY_WIDTH}, MXC_F32, x, &data);
    if (status == MXC_OK)
        status = mxc_ndarray_from_data(1, (int64_t[]){TOY_SAMPLES}, MXC_F32, y, &label);
    if (status == MXC_OK)
        status = mxc_iter_from_arrays(&options, 1, &data, 1, &label, NULL, &rows);
    mxc_ndarray_release(data);
    mxc_ndarray_release(label);
    if (status != MXC_OK || !prefetch) {
        *out = rows;
        return status;
    }
    status = mxc_iter_prefetch(rows, 2, out);
    if (status != MXC_OK)
        mxc_iter_destroy(rows);
    return status;
}

/* Everything a fit needs; set further options before running. */
typedef struct toy {
    mxc_fit_options options;
    mxc_symbol *net;
    mxc_iter *train, *valid;
} toy;

static inline mxc_status toy_open(toy *t, const char *hidden) {
    static const char *const keys[] = {"momentum", "wd"}, *const values[] = {"0.9", "0.001"};
    memset(t, 0, sizeof *t);
    mxc_fit_options_init(&t->options, sizeof t->options);
    MXC_TRY(toy_net(hidden, &t->net));
    MXC_TRY(toy_iter(1, 1, &t->train));
    MXC_TRY(toy_iter(0, 0, &t->valid));
    t->options.symbol = t->net;
    t->options.train = t->train;
    t->options.valid = t->valid;
    t->options.epochs = 4;
    t->options.learning_rate = 0.05;
    t->options.n_optimizer_params = 2;
    t->options.optimizer_keys = keys;
    t->options.optimizer_values = values;
    t->options.schedule = (mxc_schedule){.kind = MXC_SCHEDULE_COSINE, .total = 60, .warmup = 5};
    t->options.seed = 11;
    return MXC_OK;
}

static inline void toy_close(toy *t) {
    mxc_symbol_release(t->net);
    mxc_iter_destroy(t->train);
    mxc_iter_destroy(t->valid);
}

static inline void toy_expect_same(const mxc_ndarray_list *a, const mxc_ndarray_list *b) {
    assert_int_equal(a->n, b->n);
    for (int64_t i = 0; i < a->n; i++) {
        void *x, *y;
        assert_string_equal(a->names[i], b->names[i]);
        assert_int_equal(mxc_ndarray_bytes(a->arrays[i]), mxc_ndarray_bytes(b->arrays[i]));
        assert_ok(mxc_ndarray_data(a->arrays[i], &x));
        assert_ok(mxc_ndarray_data(b->arrays[i], &y));
        assert_memory_equal(x, y, mxc_ndarray_bytes(a->arrays[i]));
    }
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and calls for tests of gradients. */
#ifndef MXC_TESTS_AUTOGRAD_ARRAYS_H
#define MXC_TESTS_AUTOGRAD_ARRAYS_H

#include <mxc/autograd.h>
#include <mxc/op.h>

#include "support.h"

/* A vector of n numbers: begin, begin + step... */
static inline mxc_ndarray *vector(int64_t n, double begin, double step) {
    float values[64];
    mxc_ndarray *out;
    assert_true(n <= 64);
    for (int64_t i = 0; i < n; i++)
        values[i] = (float)(begin + step * (double)i);
    assert_ok(mxc_ndarray_from_data(1, &n, MXC_F32, values, &out));
    return out;
}

/* The same with a gradient attached. */
static inline mxc_ndarray *variable(int64_t n, double begin, double step, mxc_req req) {
    mxc_ndarray *out = vector(n, begin, step);
    assert_ok(mxc_autograd_attach(out, req, NULL));
    return out;
}

static inline mxc_ndarray *unary(const char *op, mxc_ndarray *x) {
    mxc_ndarray *out;
    assert_ok(mxc_invoke(op, 1, &x, 0, NULL, NULL, 1, &out));
    return out;
}

static inline mxc_ndarray *binary(const char *op, mxc_ndarray *x, mxc_ndarray *y) {
    mxc_ndarray *in[] = {x, y}, *out;
    assert_ok(mxc_invoke(op, 2, in, 0, NULL, NULL, 1, &out));
    return out;
}

static inline mxc_ndarray *scalar(const char *op, mxc_ndarray *x, const char *value) {
    const char *key = "scalar";
    mxc_ndarray *out;
    assert_ok(mxc_invoke(op, 1, &x, 1, &key, &value, 1, &out));
    return out;
}

/* The float32 elements of an array, at most 64. */
static inline const float *values_of(mxc_ndarray *x) {
    static float values[64];
    assert_non_null(x);
    assert_true(mxc_ndarray_size(x) <= 64);
    assert_ok(mxc_ndarray_get(x, values, mxc_ndarray_bytes(x)));
    return values;
}

/* Element i is begin + step * i, exactly. */
static inline void assert_values(mxc_ndarray *x, double begin, double step) {
    const float *values = values_of(x);
    for (int64_t i = 0; i < mxc_ndarray_size(x); i++)
        if (values[i] != (float)(begin + step * (double)i))
            fail_msg("element %lld is %.9g, expected %.9g", (long long)i, (double)values[i], begin + step * (double)i);
}

static inline void release_all(int n, mxc_ndarray **arrays) {
    for (int i = 0; i < n; i++)
        mxc_ndarray_release(arrays[i]);
}

/* Backward from one head with ones, all defaults. */
static inline mxc_status backward(mxc_ndarray *head) {
    return mxc_autograd_backward(1, &head, NULL, NULL);
}

#endif

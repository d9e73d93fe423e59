/* SPDX-License-Identifier: Apache-2.0 */
/* Iterators by name in tests: made from pairs of texts, and one epoch as numbers. */
#ifndef MXC_TESTS_NAMED_ITER_H
#define MXC_TESTS_NAMED_ITER_H

#include <mxc/io.h>

#include "support.h"

/* Pairs of key and value follow, then NULL. */
static inline mxc_status named_iter(const char *name, mxc_iter **out, ...) {
    const char *keys[16], *values[16], *key;
    int n = 0;
    va_list args;
    va_start(args, out);
    while ((key = va_arg(args, const char *)) != NULL) {
        keys[n] = key;
        values[n++] = va_arg(args, const char *);
    }
    va_end(args);
    return mxc_iter_create(name, n, keys, values, out);
}

/* The rest of the epoch: batches one behind the other as float32. Returns how many batches there were. */
static inline int take_floats(mxc_iter *iter, float *data, float *label, int64_t *pad) {
    for (int n = 0;; n++) {
        mxc_batch batch;
        void *from;
        assert_ok(mxc_iter_next(iter, &batch));
        if (batch.n_data == 0)
            return n;
        assert_ok(mxc_ndarray_data(batch.data[0], &from));
        memcpy(data, from, mxc_ndarray_bytes(batch.data[0]));
        data += mxc_ndarray_size(batch.data[0]);
        assert_ok(mxc_ndarray_data(batch.label[0], &from));
        memcpy(label, from, mxc_ndarray_bytes(batch.label[0]));
        label += mxc_ndarray_size(batch.label[0]);
        *pad = batch.pad;
    }
}

static inline void assert_floats(const float *found, const float *expected, size_t n) {
    for (size_t i = 0; i < n; i++)
        assert_true(found[i] == expected[i]);
}

#endif

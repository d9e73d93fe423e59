/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of iterators share: arrays that say which sample they are of, and batches taken apart. */
#ifndef MXC_TESTS_BATCHES_H
#define MXC_TESTS_BATCHES_H

#include <mxc/io.h>

#include "support.h"

/* (n, width) float32; element (i, k) is 10 i + k. Or (n) with width 0: element i is i. */
static inline mxc_ndarray *numbered(int64_t n, int64_t width) {
    int64_t dims[2] = {n, width}, row = width > 0 ? width : 1;
    mxc_ndarray *array;
    float *data = malloc(sizeof *data * (size_t)(n * row + 1));
    for (int64_t i = 0; i < n * row; i++)
        data[i] = (float)(width > 0 ? 10 * (i / row) + i % row : i);
    assert_ok(mxc_ndarray_from_data(width > 0 ? 2 : 1, dims, MXC_F32, data, &array));
    free(data);
    return array;
}

/* An iterator over n samples: data (n,3), softmax_label (n). */
static inline mxc_iter *numbered_iter(const mxc_array_iter_options *options, int64_t n) {
    mxc_ndarray *data = numbered(n, 3), *label = numbered(n, 0);
    mxc_iter *iter;
    assert_ok(mxc_iter_from_arrays(options, 1, &data, 1, &label, NULL, &iter));
    mxc_ndarray_release(data);
    mxc_ndarray_release(label);
    return iter;
}

static inline mxc_array_iter_options iter_options(int64_t batch_size, mxc_last_batch last, int shuffle, uint64_t seed) {
    mxc_array_iter_options o = MXC_ARRAY_ITER_OPTIONS_INIT;
    o.batch_size = batch_size;
    o.last_batch = last;
    o.shuffle = shuffle;
    o.seed = seed;
    return o;
}

/* The batch's rows must be the samples that its index names; appends these to ids (room for 1000); returns how many. */
static inline int64_t check_batch(const mxc_batch *batch, uint64_t *ids, int64_t n) {
    float *data, *label;
    assert_int_equal(batch->n_data, 1);
    assert_int_equal(batch->n_label, 1);
    assert_int_equal(batch->n_index, mxc_ndarray_shape(batch->data[0])->dim[0]);
    assert_ok(mxc_ndarray_data(batch->data[0], (void **)&data));
    assert_ok(mxc_ndarray_data(batch->label[0], (void **)&label));
    for (int64_t i = 0; i < batch->n_index; i++) {
        for (int k = 0; k < 3; k++)
            assert_true(data[3 * i + k] == 10.0f * (float)batch->index[i] + (float)k);
        assert_true(label[i] == (float)batch->index[i]);
        assert_true(n + i < 1000);
        ids[n + i] = batch->index[i];
    }
    return n + batch->n_index;
}

/* Samples of the rest of the epoch, those that fill up too; *pad: how many of them do. */
static inline int64_t take_epoch(mxc_iter *iter, uint64_t *ids, int64_t *pad) {
    int64_t n = 0;
    mxc_batch batch;
    *pad = 0;
    for (;;) {
        assert_ok(mxc_iter_next(iter, &batch));
        if (batch.n_data == 0)
            return n;
        n = check_batch(&batch, ids, n);
        *pad += batch.pad;
    }
}

#endif

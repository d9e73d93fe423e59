/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for tests on arrays: make them, compare them, fail each allocation in turn. */
#ifndef MXC_TESTS_NDARRAY_ARRAYS_H
#define MXC_TESTS_NDARRAY_ARRAYS_H

#include "support.h"

#include <mxc/ndarray.h>
#include <mxc/storage.h>

#include "base/sys.h"

static const mxc_dtype all_dtypes[] = {
    MXC_F32, MXC_F64, MXC_F16, MXC_U8, MXC_I32, MXC_I8, MXC_I64, MXC_BOOL, MXC_BF16,
};
enum { DTYPES = sizeof all_dtypes / sizeof *all_dtypes };

#define DIMS(...)   \
    (int64_t[]) {   \
        __VA_ARGS__ \
    }

static inline mxc_ndarray *array_new(int ndim, const int64_t *dims, mxc_dtype dtype) {
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_create(ndim, dims, dtype, mxc_cpu(0), &array));
    return array;
}

/* Bytes 1, 2, 3...: distinct contents of any dtype (bool: 0 and 1 in turn). */
static inline void ramp_bytes(mxc_dtype dtype, unsigned char *out, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)(dtype == MXC_BOOL ? i % 2 : i + 1);
}

static inline mxc_ndarray *array_ramp(int ndim, const int64_t *dims, mxc_dtype dtype) {
    unsigned char bytes[4096];
    mxc_ndarray *array = array_new(ndim, dims, dtype);
    assert_true(mxc_ndarray_bytes(array) <= sizeof bytes);
    ramp_bytes(dtype, bytes, mxc_ndarray_bytes(array));
    assert_ok(mxc_ndarray_set(array, bytes, mxc_ndarray_bytes(array)));
    return array;
}

static inline void assert_same_array(mxc_ndarray *a, mxc_ndarray *b) {
    void *x, *y;
    assert_int_equal(mxc_ndarray_dtype(a), mxc_ndarray_dtype(b));
    assert_true(mxc_shape_equal(mxc_ndarray_shape(a), mxc_ndarray_shape(b)));
    assert_ok(mxc_ndarray_data(a, &x));
    assert_ok(mxc_ndarray_data(b, &y));
    if (mxc_ndarray_bytes(a))
        assert_memory_equal(x, y, mxc_ndarray_bytes(a));
}

/* Values of an array of any dtype as doubles. */
static inline void array_values(mxc_ndarray *array, double *out) {
    mxc_ndarray *wide;
    assert_ok(mxc_ndarray_copy(array, mxc_cpu(0), MXC_F64, &wide));
    assert_ok(mxc_ndarray_get(wide, out, mxc_ndarray_bytes(wide)));
    mxc_ndarray_release(wide);
}

/* Blocks that live besides those the pool keeps. */
static inline int64_t blocks_alive(void) {
    mxc_engine *engine;
    assert_ok(mxc_engine_default(&engine));
    assert_ok(mxc_wait_all(engine));
    assert_ok(mxc_storage_trim(mxc_cpu(0), 0));
    return mxci_alloc_live();
}

/* As many blocks must be alive as then; tasks that have just ended may take a moment to be freed. */
static inline void assert_blocks_alive(int64_t expected) {
    for (int i = 0; i < 2000 && blocks_alive() != expected; i++)
        mxci_sleep_ns(1000000);
    assert_int_equal(blocks_alive(), expected);
}

/* Run work with each of its allocations failing in turn, until it succeeds; each failure must be MXC_ENOMEM and leave
 * nothing behind. */
static inline void fail_each_allocation(mxc_status (*work)(void *), void *arg) {
    int64_t before, n = 1;
    mxc_status status;
    assert_ok(work(arg)); /* so that what is kept for good is there */
    mxci_sleep_ns(30000000);
    before = blocks_alive();
    do {
        mxci_test_fail_alloc(n, 1);
        status = work(arg);
        mxci_test_fail_alloc(0, 0);
        assert_true(status == MXC_OK || status == MXC_ENOMEM);
        assert_blocks_alive(before);
        assert_true(n++ < 1000);
    } while (status != MXC_OK);
}

#endif

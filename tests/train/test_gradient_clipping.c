/* SPDX-License-Identifier: Apache-2.0 */
/* mxc_clip_global_norm: scaling of all arrays, the norm it returns, misuse, failing allocations. */
#include "support.h"

#include <math.h>

#include <mxc/train.h>

#include "alive.h"
#include "base/sys.h"

/* 3, 4 and 12: a norm of 13. */
static void make(mxc_ndarray **arrays) {
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){2}, MXC_F32, (float[]){3, -4}, &arrays[0]));
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){1, 1}, MXC_F32, (float[]){12}, &arrays[1]));
}

static void drop(mxc_ndarray **arrays) {
    mxc_ndarray_release(arrays[0]);
    mxc_ndarray_release(arrays[1]);
}

static void expect(mxc_ndarray *array, int n, const float *expected) {
    float found[2];
    assert_ok(mxc_ndarray_get(array, found, (size_t)n * sizeof *found));
    for (int i = 0; i < n; i++)
        assert_true(fabsf(found[i] - expected[i]) < 1e-5f);
}

static void test_scales(void **state) {
    mxc_ndarray *arrays[2], *norm;
    (void)state;
    make(arrays);
    assert_ok(mxc_clip_global_norm(2, arrays, 6.5, &norm));
    expect(norm, 1, (float[]){13});
    expect(arrays[0], 2, (float[]){1.5f, -2});
    expect(arrays[1], 1, (float[]){6});
    mxc_ndarray_release(norm);
    assert_ok(mxc_clip_global_norm(2, arrays, 100, NULL)); /* small enough: nothing changes */
    expect(arrays[0], 2, (float[]){1.5f, -2});
    drop(arrays);
}

static void test_misuse(void **state) {
    mxc_ndarray *arrays[2], *norm = NULL;
    (void)state;
    make(arrays);
    assert_int_equal(mxc_clip_global_norm(0, arrays, 1, &norm), MXC_EINVAL);
    assert_int_equal(mxc_clip_global_norm(2, arrays, -1, &norm), MXC_EINVAL);
    assert_int_equal(mxc_clip_global_norm(2, arrays, (double)NAN, &norm), MXC_EINVAL);
    assert_null(norm);
    drop(arrays);
}

/* Each allocation fails in turn: an error or success. */
static void fail_each(void) {
    for (int64_t fail_at = 1; fail_at < 40; fail_at++) {
        mxc_ndarray *arrays[2], *norm = NULL;
        make(arrays);
        mxci_test_fail_alloc(fail_at, 0);
        if (mxc_clip_global_norm(2, arrays, 6.5, &norm) != MXC_OK)
            assert_null(norm);
        mxci_test_fail_alloc(0, 0);
        MXC_IGNORE(mxc_ndarray_wait_to_read(arrays[1]));
        mxc_ndarray_release(norm);
        drop(arrays);
    }
}

static void test_no_memory(void **state) {
    int64_t before;
    (void)state;
    fail_each(); /* what is kept for later calls */
    test_scales(NULL);
    before = test_alive();
    fail_each();
    test_scales(NULL);
    assert_true(test_alive() <= before); /* less if a worker's thread began to run only now: it frees its arguments */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

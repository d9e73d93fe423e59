/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays as text. */
#include "arrays.h"

#include <math.h>

static void prints(mxc_ndarray *a, const char *expected) {
    char *text;
    assert_ok(mxc_ndarray_print(a, &text));
    assert_string_equal(text, expected);
    mxc_free(text);
    mxc_ndarray_release(a);
}

static mxc_ndarray *doubles_as(mxc_dtype dtype, int ndim, const int64_t *dims, const double *values) {
    mxc_ndarray *wide, *a;
    assert_ok(mxc_ndarray_from_data(ndim, dims, MXC_F64, values, &wide));
    assert_ok(mxc_ndarray_copy(wide, mxc_cpu(0), dtype, &a));
    mxc_ndarray_release(wide);
    return a;
}

static void each_dtype(void **state) {
    const double values[] = {1, 2.5, 0, 100};
    (void)state;
    prints(doubles_as(MXC_F32, 2, DIMS(2, 2), values), "[[  1.  2.5]\n [  0. 100.]]\n<NDArray (2,2) float32 @cpu(0)>");
    prints(doubles_as(MXC_F64, 1, DIMS(2), values), "[ 1. 2.5]\n<NDArray (2,) float64 @cpu(0)>");
    prints(doubles_as(MXC_F16, 1, DIMS(2), values), "[ 1. 2.5]\n<NDArray (2,) float16 @cpu(0)>");
    prints(doubles_as(MXC_BF16, 1, DIMS(2), values), "[ 1. 2.5]\n<NDArray (2,) bfloat16 @cpu(0)>");
    prints(doubles_as(MXC_I32, 1, DIMS(4), values), "[  1   2   0 100]\n<NDArray (4,) int32 @cpu(0)>");
    prints(doubles_as(MXC_U8, 1, DIMS(4), values), "[  1   2   0 100]\n<NDArray (4,) uint8 @cpu(0)>");
    prints(doubles_as(MXC_I8, 1, DIMS(2), values), "[1 2]\n<NDArray (2,) int8 @cpu(0)>");
    prints(doubles_as(MXC_BOOL, 1, DIMS(4), values), "[ True  True False  True]\n<NDArray (4,) bool @cpu(0)>");
    prints(doubles_as(MXC_I64, 0, NULL, (double[]){-9007199254740992.0}),
           "-9007199254740992\n<NDArray () int64 @cpu(0)>");
}

static void odd_floats(void **state) {
    const double values[] = {NAN, INFINITY, -INFINITY, 1e30, -1e-7};
    (void)state;
    prints(doubles_as(MXC_F32, 1, DIMS(5), values),
           "[   nan    inf   -inf  1e+30 -1e-07]\n<NDArray (5,) float32 @cpu(0)>");
}

static void empty_and_nested(void **state) {
    const double values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)state;
    prints(array_new(1, DIMS(0), MXC_F32), "[]\n<NDArray (0,) float32 @cpu(0)>");
    prints(array_new(2, DIMS(2, 0), MXC_F32), "[[]\n []]\n<NDArray (2,0) float32 @cpu(0)>");
    prints(array_new(2, DIMS((int64_t)1 << 40, 0), MXC_F32),
           "[[]\n []\n []\n ...\n []\n []\n []]\n<NDArray (1099511627776,0) float32 @cpu(0)>");
    prints(doubles_as(MXC_I32, 3, DIMS(2, 2, 2), values),
           "[[[1 2]\n  [3 4]]\n\n [[5 6]\n  [7 8]]]\n<NDArray (2,2,2) int32 @cpu(0)>");
}

static void large_arrays_show_their_edges(void **state) {
    mxc_ndarray *a = array_new(1, DIMS(2000), MXC_I32), *b = array_new(2, DIMS(40, 40), MXC_I32);
    mxc_ndarray *deep = array_new(8, DIMS(4, 4, 4, 4, 4, 4, 4, 4), MXC_U8);
    char *text;
    (void)state;
    assert_ok(mxc_ndarray_fill(a, 7));
    prints(a, "[7 7 7 ... 7 7 7]\n<NDArray (2000,) int32 @cpu(0)>");
    assert_ok(mxc_ndarray_fill(b, 1));
    assert_ok(mxc_ndarray_print(b, &text));
    assert_non_null(strstr(text, "[[1 1 1 ... 1 1 1]\n [1 1 1 ... 1 1 1]\n [1 1 1 ... 1 1 1]\n ...\n [1"));
    mxc_free(text);
    mxc_ndarray_release(b);
    assert_ok(mxc_ndarray_fill(deep, 1));
    assert_ok(mxc_ndarray_print(deep, &text));
    assert_true(strlen(text) < 40000);
    mxc_free(text);
    mxc_ndarray_release(deep);
}

static mxc_status print_once(void *array) {
    char *text;
    MXC_TRY(mxc_ndarray_print(array, &text));
    mxc_free(text);
    return MXC_OK;
}

static void each_allocation_may_fail(void **state) {
    mxc_ndarray *a = array_ramp(2, DIMS(10, 10), MXC_I32);
    (void)state;
    fail_each_allocation(print_once, a);
    mxc_ndarray_release(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dtype),
        cmocka_unit_test(odd_floats),
        cmocka_unit_test(empty_and_nested),
        cmocka_unit_test(large_arrays_show_their_edges),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("print", tests, NULL, NULL);
}

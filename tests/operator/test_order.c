/* SPDX-License-Identifier: Apache-2.0 */
/* Order where values are not ordinary numbers, and of rows that no case is long enough for. */
#include "support.h"

#include <math.h>

#include <mxc/op.h>

enum { N = 8 };

static void argsort(const char *is_ascend, mxc_dtype dtype, const void *values, int32_t *out) {
    static const char *const keys[] = {"is_ascend", "dtype"};
    const char *given[] = {is_ascend, "int32"};
    mxc_ndarray *in[1], *found[1] = {NULL};
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){N}, dtype, values, &in[0]));
    assert_ok(mxc_invoke("argsort", 1, in, 2, keys, given, 1, found));
    assert_ok(mxc_ndarray_get(found[0], out, N * sizeof *out));
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(found[0]);
}

/* NaNs of either sign last, infinities at the ends, both zeros equal. */
static void test_wild_values(void **state) {
    static const int32_t rising[N] = {3, 6, 1, 4, 5, 2, 0, 7}, falling[N] = {2, 5, 1, 4, 6, 3, 0, 7};
    const double wide[N] = {NAN, 0.0, INFINITY, -INFINITY, -0.0, 3, -1e-30, -NAN};
    float narrow[N];
    int32_t found[N];
    (void)state;
    for (int i = 0; i < N; i++)
        narrow[i] = (float)wide[i];
    argsort("true", MXC_F64, wide, found);
    assert_memory_equal(found, rising, sizeof rising);
    argsort("false", MXC_F64, wide, found);
    assert_memory_equal(found, falling, sizeof falling);
    argsort("true", MXC_F32, narrow, found);
    assert_memory_equal(found, rising, sizeof rising);
    argsort("false", MXC_F32, narrow, found);
    assert_memory_equal(found, falling, sizeof falling);
}

static void test_extreme_integers(void **state) {
    static const int64_t values[N] = {INT64_MAX, INT64_MIN, 0, -1, 1, INT64_MAX, INT64_MIN, 255};
    static const int32_t rising[N] = {1, 6, 3, 2, 4, 7, 0, 5}, falling[N] = {0, 5, 7, 4, 2, 3, 1, 6};
    int32_t found[N];
    (void)state;
    argsort("true", MXC_I64, values, found);
    assert_memory_equal(found, rising, sizeof rising);
    argsort("false", MXC_I64, values, found);
    assert_memory_equal(found, falling, sizeof falling);
}

/* topk of a long row with many equals is the beginning of its argsort, for every way of ordering. */
static void test_long_row(void **state) {
    enum { LONG = 20000 };
    static const char *const keys[] = {"k", "dtype"}, *const ks[] = {"1", "10", "200", "624", "625", "20000"};
    static int32_t values[LONG], all[LONG], some[LONG];
    mxc_ndarray *in[1], *sorted[1] = {NULL}, *top[1];
    (void)state;
    for (int i = 0; i < LONG; i++)
        values[i] = (int32_t)((uint32_t)i * 2654435761u >> 24) - 128;
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){LONG}, MXC_I32, values, &in[0]));
    assert_ok(mxc_invoke("argsort", 1, in, 2, (const char *const[]){"is_ascend", "dtype"},
                         (const char *const[]){"false", "int32"}, 1, sorted));
    assert_ok(mxc_ndarray_get(sorted[0], all, sizeof all));
    for (int i = 1; i < LONG; i++)
        assert_true(values[all[i - 1]] > values[all[i]] ||
                    (values[all[i - 1]] == values[all[i]] && all[i - 1] < all[i]));
    for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
        size_t bytes = (size_t)strtol(ks[i], NULL, 10) * sizeof *some;
        top[0] = NULL;
        assert_ok(mxc_invoke("topk", 1, in, 2, keys, (const char *const[]){ks[i], "int32"}, 1, top));
        assert_ok(mxc_ndarray_get(top[0], some, bytes));
        assert_memory_equal(some, all, bytes);
        mxc_ndarray_release(top[0]);
    }
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(sorted[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wild_values),
        cmocka_unit_test(test_extreme_integers),
        cmocka_unit_test(test_long_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

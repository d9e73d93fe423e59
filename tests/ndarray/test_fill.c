/* SPDX-License-Identifier: Apache-2.0 */
/* Filling: constants of each dtype, random numbers: bounds, seeds, independence of threads and engines. */
#include "arrays.h"

#include <math.h>

static const mxc_dtype floats[] = {MXC_F32, MXC_F64, MXC_F16, MXC_BF16};
enum { FLOATS = 4, N = 40000 };

static void constants_of_each_dtype(void **state) {
    double values[6];
    (void)state;
    for (int i = 0; i < DTYPES; i++) {
        mxc_ndarray *a = array_new(1, DIMS(6), all_dtypes[i]);
        assert_ok(mxc_ndarray_fill(a, 3));
        array_values(a, values);
        for (int k = 0; k < 6; k++)
            assert_true(values[k] == (all_dtypes[i] == MXC_BOOL ? 1 : 3));
        assert_ok(mxc_ndarray_fill(a, 1e30)); /* saturates */
        assert_ok(mxc_ndarray_wait_to_read(a));
        mxc_ndarray_release(a);
    }
}

static double *random_values(mxc_dtype dtype, int uniform, double a, double b) {
    double *values = malloc(N * sizeof *values);
    mxc_ndarray *array = array_new(1, DIMS(N), dtype);
    assert_ok(uniform ? mxc_ndarray_fill_uniform(array, a, b) : mxc_ndarray_fill_normal(array, a, b));
    array_values(array, values);
    mxc_ndarray_release(array);
    return values;
}

static void uniform_numbers_keep_their_bounds(void **state) {
    const double ends[][2] = {{0, 1}, {-0.07, 0.07}, {1, 1.001}, {-2, -1}, {-1, 0}, {5, 5}};
    (void)state;
    for (int i = 0; i < FLOATS; i++)
        for (size_t j = 0; j < sizeof ends / sizeof *ends; j++) {
            double low = ends[j][0], high = ends[j][1], sum = 0, *x = random_values(floats[i], 1, low, high);
            double step = floats[i] == MXC_BF16 ? 0.005 : floats[i] == MXC_F16 ? 0.0006 : 1e-7; /* of the dtype */
            for (int k = 0; k < N; k++) {
                assert_true(x[k] >= low - fabs(low) * step && (x[k] < high || low == high));
                sum += x[k];
            }
            assert_true(fabs(sum / N - (low + high) / 2) < (high - low) / 50 + fabs(high) * step);
            free(x);
        }
}

static void normal_numbers_have_their_moments(void **state) {
    (void)state;
    for (int i = 0; i < FLOATS; i++) {
        double sum = 0, squares = 0, *x = random_values(floats[i], 0, 1, 2);
        for (int k = 0; k < N; k++)
            sum += x[k];
        for (int k = 0; k < N; k++)
            squares += (x[k] - sum / N) * (x[k] - sum / N);
        assert_true(fabs(sum / N - 1) < 0.05 && fabs(sqrt(squares / N) - 2) < 0.05);
        free(x);
    }
}

static void wrong_requests_are_refused(void **state) {
    mxc_ndarray *a = array_new(1, DIMS(3), MXC_I32), *f = array_new(1, DIMS(3), MXC_F32);
    (void)state;
    assert_fails(mxc_ndarray_fill_uniform(a, 0, 1), MXC_EDTYPE, "int32");
    assert_status(mxc_ndarray_fill_normal(a, 0, 1), MXC_EDTYPE);
    assert_status(mxc_ndarray_fill_uniform(f, 1, 0), MXC_EINVAL);
    assert_status(mxc_ndarray_fill_uniform(f, 0, INFINITY), MXC_EINVAL);
    assert_status(mxc_ndarray_fill_uniform(f, -3e38, 3e38), MXC_EINVAL);
    assert_status(mxc_ndarray_fill_uniform(f, NAN, 1), MXC_EINVAL);
    assert_status(mxc_ndarray_fill_normal(f, 0, -1), MXC_EINVAL);
    mxc_ndarray_release(a);
    mxc_ndarray_release(f);
}

/* Some fills under an engine of that kind and parallelism, from one seed. */
static void fills_under(mxc_engine_kind kind, int parallelism, mxc_ndarray *out[5]) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    options.kind = kind;
    options.workers = parallelism;
    options.parallelism = parallelism;
    assert_ok(mxc_engine_create(&options, &engine));
    mxc_engine_set_default(engine);
    mxc_random_seed(1234);
    for (int i = 0; i < 5; i++) {
        mxc_ndarray *a = array_new(1, DIMS(100003), i < 4 ? floats[i] : MXC_F32);
        void *data;
        assert_ok(i < 4 ? mxc_ndarray_fill_normal(a, 0, 1) : mxc_ndarray_fill_uniform(a, -1, 1));
        assert_ok(mxc_ndarray_data(a, &data));
        mxc_engine_set_default(NULL); /* keep the numbers in an array of the lasting engine */
        assert_ok(mxc_ndarray_from_data(1, DIMS(100003), mxc_ndarray_dtype(a), data, &out[i]));
        mxc_engine_set_default(engine);
        mxc_ndarray_release(a);
    }
    mxc_engine_set_default(NULL);
    mxc_engine_destroy(engine);
}

static void a_seed_gives_the_same_numbers_everywhere(void **state) {
    mxc_ndarray *first[5], *again[5];
    (void)state;
    fills_under(MXC_ENGINE_NAIVE, 1, first);
    for (int parallelism = 1; parallelism <= 5; parallelism++) {
        fills_under(parallelism == 4 ? MXC_ENGINE_SEEDED : MXC_ENGINE_THREADED, parallelism, again);
        for (int i = 0; i < 5; i++) {
            assert_same_array(first[i], again[i]);
            mxc_ndarray_release(again[i]);
        }
    }
    for (int i = 0; i < 5; i++)
        mxc_ndarray_release(first[i]);
    mxc_random_seed(0);
}

static void numbers_are_reserved_by_the_call(void **state) {
    mxc_ndarray *a = array_new(1, DIMS(7), MXC_F64), *b = array_new(1, DIMS(4), MXC_F32);
    mxc_random where;
    float x[4];
    (void)state;
    mxc_random_seed(5);
    assert_ok(mxc_ndarray_fill_uniform(a, 0, 1)); /* 8 pairs of numbers */
    assert_ok(mxc_ndarray_fill_uniform(b, 0, 1));
    assert_ok(mxc_random_get_state(mxc_cpu(0), &where));
    assert_true(where.offset == 20);
    assert_ok(mxc_ndarray_get(b, x, sizeof x));
    where.offset = 16;
    for (uint64_t i = 0; i < 4; i++)
        assert_true(x[i] == mxc_random_uniform(&where, i));
    mxc_ndarray_release(a);
    mxc_ndarray_release(b);
    mxc_random_seed(0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_of_each_dtype),
        cmocka_unit_test(uniform_numbers_keep_their_bounds),
        cmocka_unit_test(normal_numbers_have_their_moments),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(a_seed_gives_the_same_numbers_everywhere),
        cmocka_unit_test(numbers_are_reserved_by_the_call),
    };
    return cmocka_run_group_tests_name("fill", tests, NULL, NULL);
}

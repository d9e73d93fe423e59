/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisers: the right distribution at the right scale, fixed values by name, the same numbers for a seed. */
#include <math.h>

#include <mxc/random.h>
#include <mxc/train.h>

#include "support.h"

enum { ROWS = 200, COLUMNS = 300, N = ROWS * COLUMNS };

static float numbers[N], others[N];

static mxc_ndarray *matrix(void) {
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_create(2, (int64_t[]){ROWS, COLUMNS}, MXC_F32, mxc_cpu(0), &array));
    return array;
}

static void fill(const char *rule, const char *key, const char *value, const char *name, float *out) {
    mxc_ndarray *array = matrix();
    assert_ok(mxc_init_array(rule, key != NULL, &key, &value, name, array));
    assert_ok(mxc_ndarray_get(array, out, sizeof numbers));
    mxc_ndarray_release(array);
}

/* Mean 0, that deviation, and all within limit. */
static void expect_spread(double deviation, double limit) {
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
        sum += numbers[i];
        squares += (double)numbers[i] * numbers[i];
        assert_true(fabs(numbers[i]) <= limit);
    }
    assert_true(fabs(sum / N) < 5 * deviation / sqrt(N));
    assert_true(fabs(sqrt(squares / N) / deviation - 1) < 0.02);
}

static void expect_all(float value) {
    for (int i = 0; i < N; i++)
        assert_true(numbers[i] == value);
}

static void test_distributions(void **state) {
    double xavier = sqrt(3 / ((ROWS + COLUMNS) / 2.0)), in = sqrt(3.0 / COLUMNS), out = sqrt(3.0 / ROWS);
    (void)state;
    mxc_random_seed(1);
    fill("xavier", NULL, NULL, "w", numbers);
    expect_spread(xavier / sqrt(3), xavier);
    fill("xavier", "factor_type", "in", "w", numbers);
    expect_spread(in / sqrt(3), in);
    fill("xavier", "factor_type", "out", "w", numbers);
    expect_spread(out / sqrt(3), out);
    fill("xavier", "rnd_type", "gaussian", "w", numbers);
    expect_spread(xavier, 7 * xavier);
    fill("uniform", NULL, NULL, "w", numbers);
    expect_spread(0.07 / sqrt(3), 0.07);
    fill("uniform", "scale", "2", "w", numbers);
    expect_spread(2 / sqrt(3), 2);
    fill("normal", NULL, NULL, "w", numbers);
    expect_spread(0.01, 0.07);
    fill("constant", "value", "-2.5", "w", numbers);
    expect_all(-2.5f);
    fill("zero", NULL, NULL, "w", numbers);
    expect_all(0);
    fill("one", NULL, NULL, "w", numbers);
    expect_all(1);
}

/* Fans of a convolution count its kernel. */
static void test_convolution_fans(void **state) {
    mxc_ndarray *array;
    double scale = sqrt(3 / ((50 * 25 + 40 * 25) / 2.0)), largest = 0;
    (void)state;
    assert_ok(mxc_ndarray_create(4, (int64_t[]){50, 40, 5, 5}, MXC_F32, mxc_cpu(0), &array));
    assert_ok(mxc_init_array("xavier", 0, NULL, NULL, "w", array));
    assert_ok(mxc_ndarray_get(array, numbers, 50000 * sizeof numbers[0]));
    for (int i = 0; i < 50000; i++)
        largest = fmax(largest, fabs(numbers[i]));
    assert_true(largest <= scale && largest > 0.99 * scale);
    mxc_ndarray_release(array);
}

static void test_names_decide(void **state) {
    (void)state;
    fill("xavier", NULL, NULL, "conv1_bias", numbers);
    expect_all(0);
    fill("uniform", NULL, NULL, "bn_beta", numbers);
    expect_all(0);
    fill("one", NULL, NULL, "bn_moving_mean", numbers);
    expect_all(0);
    fill("zero", NULL, NULL, "bn_gamma", numbers);
    expect_all(1);
    fill("normal", NULL, NULL, "bn_moving_var", numbers);
    expect_all(1);
}

static void test_seed_decides(void **state) {
    (void)state;
    mxc_random_seed(7);
    fill("xavier", NULL, NULL, "w", numbers);
    fill("xavier", NULL, NULL, "w", others);
    assert_memory_not_equal(numbers, others, sizeof numbers);
    mxc_random_seed(7);
    fill("xavier", NULL, NULL, "w", others);
    assert_memory_equal(numbers, others, sizeof numbers);
    mxc_random_seed(8);
    fill("xavier", NULL, NULL, "w", others);
    assert_memory_not_equal(numbers, others, sizeof numbers);
}

static void test_refusals(void **state) {
    mxc_ndarray *vector, *array = matrix();
    const char *key = "magnitude", *value = "-1", *none = "value";
    (void)state;
    assert_ok(mxc_ndarray_create(1, (int64_t[]){3}, MXC_F32, mxc_cpu(0), &vector));
    assert_fails(mxc_init_array("he", 0, NULL, NULL, "w", array), MXC_ENOTFOUND, "xavier, uniform");
    assert_fails(mxc_init_array("xavier", 1, &key, &value, "w", array), MXC_EINVAL, "magnitude");
    assert_fails(mxc_init_array("zero", 1, &none, &value, "w", array), MXC_EINVAL, "value");
    assert_fails(mxc_init_array("constant", 0, NULL, NULL, "w", array), MXC_EINVAL, "value");
    assert_fails(mxc_init_array("xavier", 0, NULL, NULL, "scales", vector), MXC_ESHAPE, "scales has shape (3,)");
    assert_fails(mxc_init_array("xavier", 0, NULL, NULL, NULL, array), MXC_EINVAL, "name");
    assert_fails(mxc_init_array(NULL, 0, NULL, NULL, "w", array), MXC_EINVAL, "rule");
    mxc_ndarray_release(vector);
    mxc_ndarray_release(array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distributions), cmocka_unit_test(test_convolution_fans),
        cmocka_unit_test(test_names_decide),  cmocka_unit_test(test_seed_decides),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

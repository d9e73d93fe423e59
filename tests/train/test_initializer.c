/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisers: the right distribution at the right scale, fixed values by name, the same numbers for a seed; those
 * without random numbers against MXNet. */
#include <math.h>

#include <mxc/random.h>
#include <mxc/train.h>

#include "support.h"
#include "train/initializer.h"
#include "train/mxnet_values.h"

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
    fill("msraprelu", NULL, NULL, "w", numbers);
    expect_spread(xavier * sqrt(2 / (1 + 0.25 * 0.25) / 3), 7 * xavier);
    fill("msraprelu", "slope", "0.5", "w", numbers);
    expect_spread(xavier * sqrt(2 / 1.25 / 3), 7 * xavier);
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

/* ---- rules of a shape -------------------------------------------------------------------------------------------- */

static mxc_ndarray *array_of(int ndim, const int64_t *dims) {
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_create(ndim, dims, MXC_F32, mxc_cpu(0), &array));
    return array;
}

/* The rows, or columns where there are fewer, of the array as a matrix (rows,columns): orthogonal, of length scale. */
static void expect_orthogonal(const float *x, int rows, int columns, double scale) {
    const int n = rows < columns ? rows : columns, m = rows < columns ? columns : rows;
    const int step = rows < columns ? columns : 1, inner = rows < columns ? 1 : columns;
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= i; k++) {
            double product = 0;
            for (int l = 0; l < m; l++)
                product += (double)x[i * step + l * inner] * x[k * step + l * inner];
            assert_true(fabs(product - (i == k ? scale * scale : 0)) < 1e-5 * (1 + scale * scale));
        }
}

static void test_orthogonal(void **state) {
    static const int64_t shapes[][4] = {{20, 30}, {30, 20}, {25, 25}, {1, 9}, {9, 1}, {8, 3, 2, 2}, {20, 2, 3, 1}};
    static const char *const texts[] = {"orthogonal",
                                        "[\"orthogonal\", {\"scale\": 1.414, \"rand_type\": \"uniform\"}]",
                                        "[\"orthogonal\", {\"scale\": 1.0, \"rand_type\": \"normal\"}]"};
    (void)state;
    mxc_random_seed(2);
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 3; k++) {
            mxc_ndarray *array = array_of(shapes[i][2] ? 4 : 2, shapes[i]);
            const int rows = (int)shapes[i][0], n = (int)mxc_ndarray_size(array);
            assert_ok(mxci_init_by_text(texts[k], "w", array));
            assert_ok(mxc_ndarray_get(array, numbers, (size_t)n * sizeof *numbers));
            expect_orthogonal(numbers, rows, n / rows, k == 2 ? 1 : 1.414);
            mxc_ndarray_release(array);
        }
}

static void expect_mxnet(const char *name, const char *text, int ndim, const int64_t *dims) {
    static double expected[N];
    const int n = mxnet_values(name, N, expected);
    mxc_ndarray *array = array_of(ndim, dims ? dims : (const int64_t[]){n});
    assert_int_equal(mxc_ndarray_size(array), n);
    assert_ok(mxci_init_by_text(text, "w", array));
    assert_ok(mxc_ndarray_get(array, numbers, (size_t)n * sizeof *numbers));
    for (int i = 0; i < n; i++)
        if (fabs(numbers[i] - expected[i]) > 1e-6)
            fail_msg("%s: element %d is %g, expected %g", name, i, (double)numbers[i], expected[i]);
    mxc_ndarray_release(array);
}

#define RNN(mode, both)                                                                                        \
    "[\"fusedrnn\", {\"init\": \"[\\\"one\\\", {}]\", \"num_hidden\": 2, \"num_layers\": 2, \"mode\": \"" mode \
    "\", \"bidirectional\": " both ", \"forget_bias\": 1.5}]"

static void test_mxnet(void **state) {
    (void)state;
    expect_mxnet("bilinear_1x1x4x4", "[\"bilinear\", {}]", 4, (int64_t[]){1, 1, 4, 4});
    expect_mxnet("bilinear_2x1x3x5", "bilinear", 4, (int64_t[]){2, 1, 3, 5});
    expect_mxnet("bilinear_1x2x5x3", "bilinear", 4, (int64_t[]){1, 2, 5, 3});
    expect_mxnet("lstmbias", "[\"lstmbias\", {\"forget_bias\": 1.5}]", 1, NULL);
    expect_mxnet("fusedrnn_lstm_0", RNN("lstm", "false"), 1, NULL);
    expect_mxnet("fusedrnn_lstm_1", RNN("lstm", "true"), 1, NULL);
    expect_mxnet("fusedrnn_gru_1", RNN("gru", "true"), 1, NULL);
    expect_mxnet("fusedrnn_rnn_tanh_0", RNN("rnn_tanh", "false"), 1, NULL);
}

/* Each gate's matrix is initialised by itself: the fans of xavier are those of (hidden, inputs). */
static void test_fused_rnn_fans(void **state) {
    enum { HIDDEN = 30, INPUTS = 200, INPUT_WEIGHTS = 4 * HIDDEN * INPUTS, STATE_WEIGHTS = 4 * HIDDEN * HIDDEN };
    mxc_ndarray *array = array_of(1, (int64_t[]){INPUT_WEIGHTS + STATE_WEIGHTS + 8 * HIDDEN});
    double largest[2] = {0};
    (void)state;
    assert_ok(mxci_init_by_text("[\"fusedrnn\", {\"init\": \"[\\\"xavier\\\", {\\\"factor_type\\\": \\\"in\\\"}]\", "
                                "\"num_hidden\": 30, \"num_layers\": 1, \"mode\": \"lstm\"}]",
                                "w", array));
    assert_ok(mxc_ndarray_get(array, numbers, mxc_ndarray_bytes(array)));
    for (int i = 0; i < INPUT_WEIGHTS + STATE_WEIGHTS; i++)
        largest[i >= INPUT_WEIGHTS] = fmax(largest[i >= INPUT_WEIGHTS], fabs(numbers[i]));
    assert_true(largest[0] <= sqrt(3.0 / INPUTS) && largest[0] > 0.99 * sqrt(3.0 / INPUTS));
    assert_true(largest[1] <= sqrt(3.0 / HIDDEN) && largest[1] > 0.99 * sqrt(3.0 / HIDDEN));
    mxc_ndarray_release(array);
}

/* The first pattern that matches the beginning of the name decides; the name's suffix still goes first. */
static void test_mixed(void **state) {
    const char *patterns[] = {"conv[0-9]+_", "(fc|out)_w", ".*"};
    const char *texts[] = {"[\"constant\", {\"value\": 3}]", "ones", "[\"uniform\", {\"scale\": 0.5}]"};
    static const struct {
        const char *name;
        float value;
    } expected[] = {{"conv12_weight", 3}, {"conv1_bias", 0}, {"fc_weight", 1}, {"out_w", 1}};
    mxc_ndarray *array = array_of(1, (int64_t[]){4});
    float found[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_ok(mxc_init_array("mixed", 3, patterns, texts, expected[i].name, array));
        assert_ok(mxc_ndarray_get(array, found, sizeof found));
        assert_true(found[0] == expected[i].value && found[3] == expected[i].value);
    }
    assert_ok(mxc_init_array("mixed", 3, patterns, texts, "a_conv1_weight", array));
    assert_ok(mxc_ndarray_get(array, found, sizeof found));
    assert_true(fabs(found[0]) <= 0.5 && found[0] != found[1]);
    assert_fails(mxc_init_array("mixed", 2, patterns, texts, "embed", array), MXC_EINVAL, "no pattern matches embed");
    patterns[0] = "(";
    assert_fails(mxc_init_array("mixed", 2, patterns, texts, "embed", array), MXC_EINVAL, "no regular expression");
    mxc_ndarray_release(array);
}

static void test_load(void **state) {
    const float values[] = {1, 2, 3};
    char arg[] = "arg:fc_weight", plain[] = "x", *names[] = {arg, plain};
    mxc_ndarray *loaded[2], *array = array_of(1, (int64_t[]){3}), *other = array_of(1, (int64_t[]){4});
    mxc_ndarray_list list = {2, loaded, names};
    float found[3];
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_ok(mxc_ndarray_from_data(1, (int64_t[]){3}, MXC_F32, values, &loaded[i]));
    assert_ok(mxc_init_array_from(&list, NULL, 0, NULL, NULL, "fc_weight", array));
    assert_ok(mxc_ndarray_get(array, found, sizeof found));
    assert_memory_equal(found, values, sizeof found);
    assert_ok(mxc_init_array_from(&list, "one", 0, NULL, NULL, "y", array));
    assert_ok(mxc_ndarray_get(array, found, sizeof found));
    assert_true(found[0] == 1 && found[2] == 1);
    assert_ok(mxc_init_array_from(&list, "one", 0, NULL, NULL, "x", array));
    assert_ok(mxc_ndarray_get(array, found, sizeof found));
    assert_memory_equal(found, values, sizeof found);
    assert_fails(mxc_init_array_from(&list, NULL, 0, NULL, NULL, "y", array), MXC_ENOTFOUND, "no array y");
    assert_fails(mxc_init_array_from(&list, "one", 0, NULL, NULL, "x", other), MXC_ESHAPE,
                 "x has shape (4,), in the list (3,)");
    for (int i = 0; i < 2; i++)
        mxc_ndarray_release(loaded[i]);
    mxc_ndarray_release(array);
    mxc_ndarray_release(other);
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
    fill("normal", NULL, NULL, "bn_running_var", numbers);
    expect_all(1);
    fill("normal", NULL, NULL, "bn_running_mean", numbers);
    expect_all(0);
    fill("normal", NULL, NULL, "data_min", numbers);
    expect_all(0);
    fill("normal", NULL, NULL, "data_max", numbers);
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
    assert_fails(mxc_init_array("bilinear", 0, NULL, NULL, "w", array), MXC_ESHAPE, "expected 4 axes");
    assert_fails(mxc_init_array("lstmbias", 0, NULL, NULL, "w", vector), MXC_ESHAPE, "a multiple of 4");
    assert_fails(mxci_init_by_text(RNN("lstm", "true"), "w", vector), MXC_ESHAPE, "fusedrnn: w has shape (3,)");
    assert_fails(mxci_init_by_text("[\"constant\", {\"value\": [1]}]", "w", array), MXC_EINVAL, "the initialiser is");
    mxc_ndarray_release(vector);
    mxc_ndarray_release(array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distributions),  cmocka_unit_test(test_convolution_fans),
        cmocka_unit_test(test_orthogonal),     cmocka_unit_test(test_mxnet),
        cmocka_unit_test(test_fused_rnn_fans), cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_load),           cmocka_unit_test(test_names_decide),
        cmocka_unit_test(test_seed_decides),   cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

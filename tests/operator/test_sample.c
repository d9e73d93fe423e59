/* SPDX-License-Identifier: Apache-2.0 */
/* Random operators: moments, goodness of fit with fixed seeds, the same numbers for any number of threads. */
#include "support.h"

#include <math.h>

#include <mxc/op.h>

enum { N = 40000, BINS = 60 };

/* Parameters as "key", "value", ..., NULL; float64. */
static void draw(const char *op, const char *const *settings, double *out) {
    const char *keys[4] = {"shape", "dtype"}, *values[4] = {"(40000,)", "float64"};
    mxc_ndarray *array = NULL;
    int n = 2;
    for (; *settings; settings += 2) {
        keys[n] = settings[0];
        values[n++] = settings[1];
    }
    assert_ok(mxc_invoke(op, 0, NULL, n, keys, values, 1, &array));
    assert_ok(mxc_ndarray_get(array, out, N * sizeof *out));
    mxc_ndarray_release(array);
}

typedef struct expectation {
    const char *op, *settings[5];
    double mean, variance;
} expectation;

static const expectation table[] = {
    {"random_uniform", {"low", "-1", "high", "3"}, 1, 16.0 / 12},
    {"random_normal", {"loc", "2", "scale", "0.5"}, 2, 0.25},
    {"random_gamma", {"alpha", "0.5", "beta", "2"}, 1, 2},
    {"random_gamma", {"alpha", "7.5", "beta", "0.5"}, 3.75, 1.875},
    {"random_exponential", {"lam", "4"}, 0.25, 0.0625},
    {"random_poisson", {"lam", "3"}, 3, 3},
    {"random_poisson", {"lam", "11.9"}, 11.9, 11.9},
    {"random_poisson", {"lam", "12.1"}, 12.1, 12.1},
    {"random_poisson", {"lam", "1000"}, 1000, 1000},
    {"random_poisson", {"lam", "0"}, 0, 0},
    {"random_negative_binomial", {"k", "3", "p", "0.4"}, 4.5, 11.25},
    {"random_negative_binomial", {"k", "3", "p", "1"}, 0, 0},
    {"random_generalized_negative_binomial", {"mu", "4", "alpha", "0.5"}, 4, 12},
    {"random_generalized_negative_binomial", {"mu", "4", "alpha", "0"}, 4, 4},
};

/* Within five standard errors of the mean; the variance within a tenth. */
static void expect_moments(const char *name, const double *x, int n, double mean, double variance) {
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    for (int i = 0; i < n; i++)
        squares += (x[i] - sum / n) * (x[i] - sum / n);
    if (fabs(sum / n - mean) > 5 * sqrt(variance / n) || fabs(squares / n - variance) > 0.1 * variance)
        fail_msg("%s: mean %g, variance %g, expected %g, %g", name, sum / n, squares / n, mean, variance);
}

static void test_moments(void **state) {
    static double x[N];
    (void)state;
    mxc_random_seed(11);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        draw(table[i].op, table[i].settings, x);
        expect_moments(table[i].op, x, N, table[i].mean, table[i].variance);
    }
}

/* LeakyReLU of -1 in training is the slope, with its sign changed. */
static void test_slopes(void **state) {
    static const char *const keys[] = {"act_type", "lower_bound", "upper_bound"}, *const values[] = {
                                                                                      "rrelu",
                                                                                      "0.2",
                                                                                      "0.5",
                                                                                  };
    static double x[N];
    static const int64_t dims[] = {N};
    mxc_ndarray *in, *out = NULL;
    mxc_op *op;
    (void)state;
    mxc_random_seed(5);
    for (int i = 0; i < N; i++)
        x[i] = -1;
    assert_ok(mxc_ndarray_from_data(1, dims, MXC_F64, x, &in));
    assert_ok(mxc_op_create("LeakyReLU", 3, keys, values, &op));
    assert_ok(mxc_op_invoke(op, 1, &in, 1, &out, NULL, 1));
    assert_ok(mxc_ndarray_get(out, x, sizeof x));
    for (int i = 0; i < N; i++)
        if (!(x[i] <= -0.2 && x[i] > -0.5))
            fail_msg("slope %d is %g, expected one of [0.2, 0.5)", i, -x[i]);
    expect_moments("slopes of LeakyReLU", x, N, -0.35, 0.3 * 0.3 / 12);
    mxc_op_release(op);
    mxc_ndarray_release(in);
    mxc_ndarray_release(out);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double uniform_cdf(double x) {
    return x;
}
static double normal_cdf(double x) {
    return 0.5 * erfc(-x / sqrt(2));
}
static double exponential_cdf(double x) {
    return 1 - exp(-x);
}
static double erlang2_cdf(double x) {
    return 1 - exp(-x) * (1 + x);
}
static double gamma_half_cdf(double x) {
    return erf(sqrt(x));
}

/* Kolmogorov-Smirnov, at one in 1000. */
static void check_fit(const char *op, const char *const *settings, double (*cdf)(double)) {
    static double x[N];
    double most = 0;
    draw(op, settings, x);
    qsort(x, N, sizeof *x, compare);
    for (int i = 0; i < N; i++)
        most = fmax(most, fmax(fabs(cdf(x[i]) - (double)i / N), fabs(cdf(x[i]) - (i + 1.0) / N)));
    if (most > 1.95 / sqrt(N))
        fail_msg("%s: largest difference of the distribution function %g", op, most);
}

static void test_continuous_fit(void **state) {
    (void)state;
    mxc_random_seed(5);
    check_fit("random_uniform", (const char *[]){NULL}, uniform_cdf);
    check_fit("random_normal", (const char *[]){NULL}, normal_cdf);
    check_fit("random_exponential", (const char *[]){NULL}, exponential_cdf);
    check_fit("random_gamma", (const char *[]){NULL}, exponential_cdf);
    check_fit("random_gamma", (const char *[]){"alpha", "2", NULL}, erlang2_cdf);
    check_fit("random_gamma", (const char *[]){"alpha", "0.5", NULL}, gamma_half_cdf);
}

static double poisson_mass(int k, double lam, double unused) {
    (void)unused;
    return exp(k * log(lam) - lam - lgamma(k + 1.0));
}
static double negative_mass(int count, double k, double p) {
    return exp(lgamma(count + k) - lgamma(k) - lgamma(count + 1.0) + k * log(p) + count * log1p(-p));
}

/* Chi-square over the counts that are expected at least 10 times; the others are one bin. */
static void check_counts(const char *op, const char *const *settings, double (*mass)(int, double, double), double a,
                         double b) {
    static double x[N];
    double found[BINS] = {0}, chi = 0, other = 0, other_expected = N;
    int bins = 0;
    draw(op, settings, x);
    for (int i = 0; i < N; i++) {
        assert_true(x[i] >= 0 && x[i] == floor(x[i]));
        if (x[i] < BINS)
            found[(int)x[i]]++;
    }
    other = N;
    for (int k = 0; k < BINS; k++) {
        double expected = N * mass(k, a, b);
        if (expected < 10)
            continue;
        chi += (found[k] - expected) * (found[k] - expected) / expected;
        other -= found[k];
        other_expected -= expected;
        bins++;
    }
    chi += (other - other_expected) * (other - other_expected) / fmax(other_expected, 1);
    if (chi > bins + 4 * sqrt(2.0 * bins))
        fail_msg("%s: chi-square %g with %d bins", op, chi, bins);
}

static void test_discrete_fit(void **state) {
    (void)state;
    mxc_random_seed(6);
    check_counts("random_poisson", (const char *[]){"lam", "4", NULL}, poisson_mass, 4, 0);
    check_counts("random_poisson", (const char *[]){"lam", "12", NULL}, poisson_mass, 12, 0);
    check_counts("random_poisson", (const char *[]){"lam", "30", NULL}, poisson_mass, 30, 0);
    check_counts("random_negative_binomial", (const char *[]){"k", "3", "p", "0.4", NULL}, negative_mass, 3, 0.4);
    check_counts("random_generalized_negative_binomial", (const char *[]){"mu", "3", "alpha", "0.5", NULL},
                 negative_mass, 2, 0.4);
}

/* Chi-square of n counts, which add up to total, against probabilities. */
static void expect_frequencies(const char *name, const double *found, const double *probability, int n, double total) {
    double chi = 0;
    for (int i = 0; i < n; i++)
        chi += pow(found[i] - total * probability[i], 2) / (total * probability[i]);
    if (chi > n + 4 * sqrt(2.0 * n))
        fail_msg("%s: chi-square %g with %d bins", name, chi, n);
}

/* The whole numbers that an operator makes, int64; the array of arguments is released. */
static mxc_ndarray *draw_whole(const char *op, mxc_ndarray *in, const char *const *settings, int n, int n_out,
                               int64_t *out) {
    const char *keys[4], *values[4];
    mxc_ndarray *arrays[2] = {NULL};
    int n_settings = 0;
    for (; *settings; settings += 2) {
        keys[n_settings] = settings[0];
        values[n_settings++] = settings[1];
    }
    assert_ok(mxc_invoke(op, in != NULL, &in, n_settings, keys, values, n_out, arrays));
    assert_ok(mxc_ndarray_get(arrays[0], out, (size_t)n * sizeof *out));
    mxc_ndarray_release(in);
    mxc_ndarray_release(arrays[0]);
    return arrays[1];
}

static void test_integers(void **state) {
    static int64_t x[N];
    double found[7] = {0}, equal[7];
    (void)state;
    mxc_random_seed(8);
    draw_whole("_random_randint", NULL,
               (const char *[]){"low", "-2", "high", "5", "shape", "40000", "dtype", "int64", NULL}, N, 1, x);
    for (int i = 0; i < N; i++) {
        assert_in_range(x[i] + 2, 0, 6);
        found[x[i] + 2]++;
    }
    for (int i = 0; i < 7; i++)
        equal[i] = 1.0 / 7;
    expect_frequencies("_random_randint", found, equal, 7, N);
    draw_whole("_random_randint", NULL,
               (const char *[]){"low", "-9223372036854775807", "high", "9223372036854775807", "shape", "40000", "dtype",
                                "int64", NULL},
               N, 1, x);
    memset(found, 0, sizeof found);
    for (int i = 0; i < N; i++)
        found[(x[i] > 0) + 2 * (x[i] > 4611686018427387904 || (x[i] < 0 && x[i] > -4611686018427387904))]++;
    for (int i = 0; i < 4; i++)
        equal[i] = 0.25;
    expect_frequencies("_random_randint of 64 bits", found, equal, 4, N);
}

static void test_multinomial(void **state) {
    static const double p[2][4] = {{0.1, 0.2, 0.3, 0.4}, {0.5, 0.0625, 0.0625, 0.375}};
    static int64_t x[2 * N];
    mxc_ndarray *in;
    (void)state;
    mxc_random_seed(9);
    assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, 4}, MXC_F64, p, &in));
    draw_whole("_sample_multinomial", in, (const char *[]){"shape", "40000", "dtype", "int64", NULL}, 2 * N, 1, x);
    for (int row = 0; row < 2; row++) {
        double found[4] = {0};
        for (int i = 0; i < N; i++) {
            assert_in_range(x[row * N + i], 0, 3);
            found[x[row * N + i]]++;
        }
        expect_frequencies("_sample_multinomial", found, p[row], 4, N);
    }
}

/* Rows that are no probabilities fail where the indices are waited for. */
static void test_multinomial_refuses(void **state) {
    static const struct {
        double row[2];
        const char *message;
    } wrong[] = {
        {{0.5, -1}, "probability 1 of row 1 is -1, expected at least 0"},
        {{NAN, 1}, "probability 0 of row 1 is"},
        {{0, 0}, "the probabilities of row 1 add up to 0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const double p[2][2] = {{0.5, 0.5}, {wrong[i].row[0], wrong[i].row[1]}};
        mxc_ndarray *in, *out = NULL;
        assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, 2}, MXC_F64, p, &in));
        assert_ok(mxc_invoke("_sample_multinomial", 1, &in, 0, NULL, NULL, 1, &out));
        assert_fails(mxc_ndarray_wait_to_read(out), MXC_EINVAL, wrong[i].message);
        mxc_ndarray_release(in);
        mxc_ndarray_release(out);
    }
}

/* Of three elements every order is equally likely. */
static void test_shuffle(void **state) {
    enum { RUNS = 3000 };
    static const int64_t elements[3] = {0, 1, 2};
    double found[6] = {0}, equal[6];
    (void)state;
    mxc_random_seed(10);
    for (int i = 0; i < RUNS; i++) {
        int64_t x[3];
        mxc_ndarray *in;
        assert_ok(mxc_ndarray_from_data(1, (int64_t[]){3}, MXC_I64, elements, &in));
        draw_whole("_shuffle", in, (const char *[]){NULL}, 3, 1, x);
        assert_int_equal(x[0] + x[1] + x[2], 3);
        assert_int_equal(x[0] * x[0] + x[1] * x[1] + x[2] * x[2], 5);
        found[2 * x[0] + (x[1] > x[2])]++;
    }
    for (int i = 0; i < 6; i++)
        equal[i] = 1.0 / 6;
    expect_frequencies("_shuffle", found, equal, 6, RUNS);
}

static void test_zipfian(void **state) {
    static int64_t x[N], tries[N / 8];
    double found[10] = {0}, probability[10];
    mxc_ndarray *counts;
    (void)state;
    mxc_random_seed(12);
    counts = draw_whole("_sample_unique_zipfian", NULL, (const char *[]){"range_max", "10", "shape", "(40000,1)", NULL},
                        N, 2, x);
    mxc_ndarray_release(counts);
    for (int i = 0; i < N; i++) {
        assert_in_range(x[i], 0, 9);
        found[x[i]]++;
    }
    for (int i = 0; i < 10; i++)
        probability[i] = log((i + 2.0) / (i + 1.0)) / log(11);
    expect_frequencies("_sample_unique_zipfian", found, probability, 10, N);
    counts = draw_whole("_sample_unique_zipfian", NULL, (const char *[]){"range_max", "20", "shape", "(5000,8)", NULL},
                        N, 2, x);
    assert_ok(mxc_ndarray_get(counts, tries, sizeof tries));
    mxc_ndarray_release(counts);
    for (int row = 0; row < N / 8; row++) {
        unsigned seen = 0;
        for (int i = 0; i < 8; i++)
            seen |= 1u << x[8 * row + i];
        assert_int_equal(__builtin_popcount(seen), 8);
        assert_true(tries[row] >= 8);
    }
}

/* Row i has the parameters of element i. */
static void test_rows(void **state) {
    static const float mu[2] = {-3, 5}, sigma[2] = {1, 0.25f};
    static float x[2 * 20000];
    static double row[20000];
    const char *key = "shape", *value = "20000";
    mxc_ndarray *in[2], *out = NULL;
    (void)state;
    mxc_random_seed(7);
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){2}, MXC_F32, mu, &in[0]));
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){2}, MXC_F32, sigma, &in[1]));
    assert_ok(mxc_invoke("sample_normal", 2, in, 1, &key, &value, 1, &out));
    assert_ok(mxc_ndarray_get(out, x, sizeof x));
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 20000; j++)
            row[j] = x[i * 20000 + j];
        expect_moments("sample_normal", row, 20000, mu[i], sigma[i] * sigma[i]);
    }
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
    mxc_ndarray_release(out);
}

/* A parameter out of range fails where the numbers are waited for. */
static void check_refused(const char *op, float a, float b, const char *message) {
    const mxc_op_def *def = mxc_op_find(op);
    const char *key = "shape", *value = "3";
    mxc_ndarray *in[2], *out = NULL;
    const float first[2] = {1, a}, second[2] = {1, b};
    int n = strchr(def->args, ',') ? 2 : 1;
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){2}, MXC_F32, first, &in[0]));
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){2}, MXC_F32, second, &in[1]));
    assert_ok(mxc_invoke(op, n, in, 1, &key, &value, 1, &out));
    assert_fails(mxc_ndarray_wait_to_read(out), MXC_EINVAL, message);
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
    mxc_ndarray_release(out);
}

static void test_parameters_out_of_range(void **state) {
    (void)state;
    check_refused("sample_uniform", 2, 1, "of element 1, expected low <= high");
    check_refused("sample_normal", 0, -1, "deviation");
    check_refused("sample_normal", NAN, 1, "deviation");
    check_refused("sample_gamma", 0, 1, "alpha > 0");
    check_refused("sample_exponential", 0, 0, "lam > 0");
    check_refused("sample_poisson", -1, 0, "lam >= 0");
    check_refused("sample_poisson", INFINITY, 0, "lam >= 0");
    check_refused("sample_negative_binomial", 1, 0, "0 < p <= 1");
    check_refused("sample_generalized_negative_binomial", 1, -1, "alpha >= 0");
}

/* All distributions under an engine of that parallelism, from one seed. */
static void draw_under(int parallelism, double *out) {
    mxc_engine_options options = MXC_ENGINE_OPTIONS_INIT;
    mxc_engine *engine;
    options.workers = options.parallelism = parallelism;
    assert_ok(mxc_engine_create(&options, &engine));
    mxc_engine_set_default(engine);
    mxc_random_seed(99);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        draw(table[i].op, table[i].settings, out + i * N);
    mxc_engine_set_default(NULL);
    mxc_engine_destroy(engine);
}

static void test_threads_do_not_matter(void **state) {
    size_t bytes = sizeof table / sizeof table[0] * N * sizeof(double);
    double *one = malloc(bytes), *two = malloc(bytes);
    (void)state;
    assert_true(one && two);
    draw_under(1, one);
    draw_under(2, two);
    assert_memory_equal(one, two, bytes);
    free(one);
    free(two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_continuous_fit),
        cmocka_unit_test(test_discrete_fit),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_multinomial),
        cmocka_unit_test(test_multinomial_refuses),
        cmocka_unit_test(test_shuffle),
        cmocka_unit_test(test_zipfian),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_parameters_out_of_range),
        cmocka_unit_test(test_threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

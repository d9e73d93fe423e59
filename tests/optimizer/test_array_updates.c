/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that queue operators for one weight, against the papers' formulas in double: adafactor, muon, and the
 * statistics of sgld's noise. lamb, ftml and groupadagrad are compared with MXNet in test_optimizer_rules.c. Covers
 * optimizer/array_updates.c.
 */
#include <math.h>

#include <mxc/optimizer.h>
#include <mxc/random.h>

#include "support.h"

enum { STEPS = 10, MOST = 48 };

static double first_weight(int i) {
    return (2 * (i * 29 % 97) - 95) / 64.0;
}

static double gradient(int i, int t) {
    return (2 * ((i * 37 + t * 53 + i * t * 11) % 128) - 127) / 64.0;
}

static mxc_ndarray *array_of(int rows, int columns, const double *values) {
    const int64_t dims[2] = {rows, columns};
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_from_data(columns ? 2 : 1, dims, MXC_F64, values, &array));
    return array;
}

/* A weight (rows,columns), or of one axis where columns is 0, as the library and as the reference update it. */
typedef struct both {
    mxc_optimizer *optimizer;
    mxc_ndarray *weight;
    int rows, columns, n, t;
    double w[MOST], g[MOST], s[3][MOST];
} both;

static void both_open(both *b, const char *name, int n_keys, const char **keys, const char **values, int rows,
                      int columns, mxc_dtype dtype) {
    mxc_ndarray *wide;
    memset(b, 0, sizeof *b);
    b->rows = rows;
    b->columns = columns;
    b->n = rows * (columns ? columns : 1);
    for (int i = 0; i < b->n; i++)
        b->w[i] = first_weight(i);
    wide = array_of(rows, columns, b->w);
    assert_ok(mxc_ndarray_copy(wide, mxc_cpu(0), dtype, &b->weight));
    mxc_ndarray_release(wide);
    assert_ok(mxc_optimizer_create(name, n_keys, keys, values, &b->optimizer));
}

/* The library's step; g becomes the rescaled and clipped gradient. */
static void both_update(both *b) {
    mxc_ndarray *wide, *grad;
    for (int i = 0; i < b->n; i++)
        b->g[i] = gradient(i, b->t);
    wide = array_of(b->rows, b->columns, b->g);
    assert_ok(mxc_ndarray_copy(wide, mxc_cpu(0), mxc_ndarray_dtype(b->weight), &grad));
    assert_ok(mxc_optimizer_update(b->optimizer, "w", b->weight, grad));
    mxc_ndarray_release(wide);
    mxc_ndarray_release(grad);
    for (int i = 0; i < b->n; i++)
        b->g[i] = fmax(-0.6, fmin(0.6, 0.5 * b->g[i]));
    b->t++;
}

static void both_compare(const both *b, double tolerance) {
    mxc_ndarray *wide;
    double found[MOST];
    assert_ok(mxc_ndarray_copy(b->weight, mxc_cpu(0), MXC_F64, &wide));
    assert_ok(mxc_ndarray_get(wide, found, (size_t)b->n * sizeof *found));
    mxc_ndarray_release(wide);
    for (int i = 0; i < b->n; i++)
        if (!(fabs(found[i] - b->w[i]) <= tolerance * (1 + fabs(b->w[i]))))
            fail_msg("step %d, element %d: %.12g, expected %.12g", b->t, i, found[i], b->w[i]);
}

static void both_close(both *b) {
    mxc_ndarray_release(b->weight);
    mxc_optimizer_destroy(b->optimizer);
}

static double tolerance_of(mxc_dtype dtype) {
    return dtype == MXC_F64 ? 1e-12 : dtype == MXC_F32 ? 2e-5 : 2e-2;
}

static double root_mean_square(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum / n);
}

/* ---- adafactor: Shazeer and Stern (2018), algorithms 4 (matrices) and 5 (vectors)
 * ------------------------------------ */

enum { ROW, COLUMN, VAR };

static void adafactor_step(both *b, double lr, double wd) {
    const double share = 1 - pow(b->t, -0.8), rho = fmin(lr, 1 / sqrt(b->t));
    const double alpha = rho * fmax(1e-3, root_mean_square(b->w, b->n));
    double u[MOST], mean = 0;
    for (int i = 0; i < b->n; i++)
        u[i] = b->g[i] * b->g[i] + 1e-30;
    for (int i = 0; i < b->rows && b->columns; i++) {
        double sum = 0;
        for (int k = 0; k < b->columns; k++)
            sum += u[i * b->columns + k];
        b->s[ROW][i] = share * b->s[ROW][i] + (1 - share) * sum / b->columns;
        mean += b->s[ROW][i] / b->rows;
    }
    for (int k = 0; k < b->columns; k++) {
        double sum = 0;
        for (int i = 0; i < b->rows; i++)
            sum += u[i * b->columns + k];
        b->s[COLUMN][k] = share * b->s[COLUMN][k] + (1 - share) * sum / b->rows;
    }
    for (int i = 0; i < b->n; i++) {
        b->s[VAR][i] = share * b->s[VAR][i] + (1 - share) * u[i];
        u[i] =
            b->g[i] / sqrt(b->columns ? b->s[ROW][i / b->columns] * b->s[COLUMN][i % b->columns] / mean : b->s[VAR][i]);
    }
    const double size = fmax(1, root_mean_square(u, b->n));
    for (int i = 0; i < b->n; i++)
        b->w[i] -= alpha * (u[i] / size + wd * b->w[i]);
}

static void test_adafactor(void **state) {
    static const int shapes[][2] = {{3, 4}, {6, 2}, {1, 5}, {7, 0}, {1, 0}};
    static const mxc_dtype dtypes[] = {MXC_F64, MXC_F32, MXC_F16};
    const char *keys[] = {"rescale_grad", "clip_gradient", "wd", "learning_rate"},
               *values[] = {"0.5", "0.6", "0.05", "0.4"};
    (void)state;
    for (int i = 0; i < 15; i++) {
        both b;
        both_open(&b, "adafactor", 4, keys, values, shapes[i / 3][0], shapes[i / 3][1], dtypes[i % 3]);
        for (int t = 0; t < STEPS; t++) {
            both_update(&b);
            adafactor_step(&b, 0.4, 0.05);
            both_compare(&b, tolerance_of(dtypes[i % 3]));
        }
        both_close(&b);
    }
}

/* ---- muon: Jordan et al. (2024); Liu et al. (2025), equation 4
 * ---------------------------------------------------------- */

/* c = factor a b, a (n,k) or its transpose, b (k,m) or its transpose. */
static void multiply(int n, int k, int m, const double *a, int a_turned, const double *b, int b_turned, double *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            c[i * m + j] = 0;
            for (int l = 0; l < k; l++)
                c[i * m + j] += (a_turned ? a[l * n + i] : a[i * k + l]) * (b_turned ? b[j * k + l] : b[l * m + j]);
        }
}

static int ns_steps = 5;

static void orthogonalise(int rows, int columns, double *x) {
    const double norm = root_mean_square(x, rows * columns) * sqrt(rows * columns) + 1e-7;
    double square[MOST], fourth[MOST], change[MOST];
    for (int i = 0; i < rows * columns; i++)
        x[i] /= norm;
    for (int step = 0; step < ns_steps; step++) { /* always with x x', where the library takes the smaller one */
        multiply(rows, columns, rows, x, 0, x, 1, square);
        multiply(rows, rows, rows, square, 0, square, 0, fourth);
        for (int i = 0; i < rows * rows; i++)
            square[i] = -4.7750 * square[i] + 2.0315 * fourth[i];
        multiply(rows, rows, columns, square, 0, x, 0, change);
        for (int i = 0; i < rows * columns; i++)
            x[i] = 3.4445 * x[i] + change[i];
    }
}

static void muon_step(both *b, double lr, double wd, int is_nesterov) {
    const double scale = 0.2 * sqrt(b->rows > b->columns ? b->rows : b->columns);
    double u[MOST];
    for (int i = 0; i < b->n; i++) {
        b->s[0][i] = 0.95 * b->s[0][i] + b->g[i];
        u[i] = is_nesterov ? b->g[i] + 0.95 * b->s[0][i] : b->s[0][i];
    }
    orthogonalise(b->rows, b->columns, u);
    for (int i = 0; i < b->n; i++)
        b->w[i] -= lr * (scale * u[i] + wd * b->w[i]);
}

/* Loshchilov and Hutter (2019), with the bias correction of the library's adamw. */
static void adamw_step(both *b, double lr, double wd) {
    for (int i = 0; i < b->n; i++) {
        b->s[0][i] = 0.9 * b->s[0][i] + 0.1 * b->g[i];
        b->s[1][i] = 0.999 * b->s[1][i] + 0.001 * b->g[i] * b->g[i];
        const double factor = sqrt(1 - pow(0.999, b->t)) / (1 - pow(0.9, b->t));
        b->w[i] -= lr * (factor * b->s[0][i] / (sqrt(b->s[1][i]) + 1e-8) + wd * b->w[i]);
    }
}

static void test_muon(void **state) {
    static const int shapes[][2] = {{3, 5}, {6, 3}, {4, 4}, {1, 6}, {7, 0}};
    static const mxc_dtype dtypes[] = {MXC_F64, MXC_F32, MXC_F16};
    const char *keys[] = {"rescale_grad", "clip_gradient", "wd", "learning_rate", "nesterov"};
    const char *values[] = {"0.5", "0.6", "0.05", "0.02", "true"};
    (void)state;
    for (int i = 0; i < 30; i++) {
        both b;
        const int is_nesterov = i < 15, shape = i / 3 % 5;
        values[4] = is_nesterov ? "true" : "false";
        both_open(&b, "muon", 5, keys, values, shapes[shape][0], shapes[shape][1], dtypes[i % 3]);
        for (int t = 0; t < STEPS; t++) {
            both_update(&b);
            if (b.columns)
                muon_step(&b, 0.02, 0.05, is_nesterov);
            else
                adamw_step(&b, 0.02, 0.05);
            both_compare(&b, tolerance_of(dtypes[i % 3]));
        }
        both_close(&b);
    }
}

/* Intermediate results are as many for any number of iterations. The iteration does not converge to one value, so
 * differences of rounding grow: the weights are finite and change by about the step size. */
static void test_muon_with_many_iterations(void **state) {
    const char *keys[] = {"learning_rate", "ns_steps"}, *values[] = {"0.02", "200"};
    (void)state;
    for (int is_tall = 0; is_tall < 2; is_tall++) {
        both b;
        double found[MOST];
        both_open(&b, "muon", 2, keys, values, is_tall ? 6 : 3, is_tall ? 3 : 6, MXC_F64);
        both_update(&b);
        assert_ok(mxc_ndarray_get(b.weight, found, (size_t)b.n * sizeof *found));
        for (int i = 0; i < b.n; i++)
            assert_true(fabs(found[i] - b.w[i]) < 0.02 * 2);
        both_close(&b);
    }
    ns_steps = 12;
    values[1] = "12";
    both b;
    both_open(&b, "muon", 2, keys, values, 3, 5, MXC_F64);
    both_update(&b);
    for (int i = 0; i < b.n; i++)
        b.g[i] = gradient(i, 0);
    muon_step(&b, 0.02, 0, 1);
    both_compare(&b, 1e-6);
    both_close(&b);
    ns_steps = 5;
}

/* ---- sgld: w -= lr / 2 (g + wd w) + noise of variance lr --------------------------------------------------------- */

static void test_sgld(void **state) {
    enum { N = 40000 };
    const char *keys[] = {"learning_rate", "wd", "clip_gradient"}, *values[] = {"0.04", "0.5", "0.3"};
    static float w[N], g[N];
    double sum = 0, squares = 0;
    mxc_optimizer *o;
    mxc_ndarray *weight, *grad;
    (void)state;
    for (int i = 0; i < N; i++) {
        w[i] = 2;
        g[i] = 0.7f;
    }
    mxc_random_seed(5);
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){N}, MXC_F32, w, &weight));
    assert_ok(mxc_ndarray_from_data(1, (int64_t[]){N}, MXC_F32, g, &grad));
    assert_ok(mxc_optimizer_create("sgld", 3, keys, values, &o));
    assert_ok(mxc_optimizer_update(o, "w", weight, grad));
    assert_ok(mxc_ndarray_get(weight, w, sizeof w));
    for (int i = 0; i < N; i++) {
        const double noise = w[i] - (2 - 0.02 * (0.3 + 0.5 * 2));
        sum += noise;
        squares += noise * noise;
    }
    assert_true(fabs(sum / N) < 5 * 0.2 / sqrt(N));
    assert_true(fabs(squares / N / 0.04 - 1) < 0.04);
    mxc_ndarray_release(weight);
    mxc_ndarray_release(grad);
    mxc_optimizer_destroy(o);
}

/* Weights without elements, and of shapes that a rule refuses. */
static void test_shapes(void **state) {
    static const char *const names[] = {"lamb", "sgld", "adafactor", "muon", "lars", "lbsgd"};
    mxc_ndarray *weight, *grad;
    mxc_optimizer *o;
    (void)state;
    for (int i = 0; i < 6; i++) {
        assert_ok(mxc_optimizer_create(names[i], 0, NULL, NULL, &o));
        assert_ok(mxc_ndarray_create(2, (int64_t[]){0, 3}, MXC_F32, mxc_cpu(0), &weight));
        assert_ok(mxc_ndarray_create(2, (int64_t[]){0, 3}, MXC_F32, mxc_cpu(0), &grad));
        assert_ok(mxc_optimizer_update(o, "w", weight, grad));
        assert_ok(mxc_ndarray_wait_to_read(weight));
        mxc_ndarray_release(weight);
        mxc_ndarray_release(grad);
        mxc_optimizer_destroy(o);
    }
    assert_ok(mxc_optimizer_create("groupadagrad", 0, NULL, NULL, &o));
    assert_ok(mxc_ndarray_create(1, (int64_t[]){3}, MXC_F32, mxc_cpu(0), &weight));
    assert_fails(mxc_optimizer_update(o, "w", weight, weight), MXC_ESHAPE, "weight w has shape (3,), expected 2 axes");
    mxc_ndarray_release(weight);
    mxc_optimizer_destroy(o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adafactor),
        cmocka_unit_test(test_muon),
        cmocka_unit_test(test_muon_with_many_iterations),
        cmocka_unit_test(test_sgld),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

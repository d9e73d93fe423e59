/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices that cannot be factored or inverted: errors of a run, which name the matrix. */
#include "support.h"

#include <math.h>

#include <mxc/op.h>

/* The operator on a batch of three 2x2 matrices fails where the result is waited for. */
static void expect_refused(const char *op, const double *values, const char *text) {
    mxc_ndarray *in[1], *out[1] = {NULL};
    assert_ok(mxc_ndarray_from_data(3, (int64_t[]){3, 2, 2}, MXC_F64, values, &in[0]));
    assert_ok(mxc_invoke(op, 1, in, 0, NULL, NULL, 1, out));
    assert_int_equal(mxc_ndarray_wait_to_read(out[0]), MXC_EINVAL);
    if (!strstr(mxc_last_error(), op) || !strstr(mxc_last_error(), text))
        fail_msg("%s: \"%s\" does not contain \"%s\"", op, mxc_last_error(), text);
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(out[0]);
}

static void test_not_definite(void **state) {
    (void)state;
    expect_refused("_linalg_potrf", (double[]){2, 1, 1, 2, 2, 3, 3, 2, -1, 0, 0, 1},
                   "matrix 1 of the batch is not positive definite (seen at row 1)");
    expect_refused("_linalg_potrf", (double[]){2, 1, 1, 2, 1, 0, 0, 1, -1, 0, 0, 1},
                   "matrix 2 of the batch is not positive definite (seen at row 0)");
}

static void test_singular(void **state) {
    (void)state;
    expect_refused("_linalg_potri", (double[]){2, 0, 1, 2, 2, 0, 3, 0, 1, 0, 0, 1},
                   "matrix 1 of the batch has 0 on the diagonal (seen at row 1)");
}

static void test_no_inverse(void **state) {
    (void)state;
    expect_refused("_linalg_inverse", (double[]){2, 0, 1, 2, 2, 4, 1, 2, 1, 0, 0, 1},
                   "matrix 1 of the batch is singular (seen at row 1)");
}

/* The lower triangle decides. */
static void test_syevd_other_triangle(void **state) {
    const double given[2][4] = {{2, 1, 1, 3}, {2, NAN, 1, 3}};
    double vectors[2][4], values[2][2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        mxc_ndarray *in[1], *out[2] = {NULL, NULL};
        assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, 2}, MXC_F64, given[i], &in[0]));
        assert_ok(mxc_invoke("linalg_syevd", 1, in, 0, NULL, NULL, 2, out));
        assert_ok(mxc_ndarray_get(out[0], vectors[i], sizeof vectors[i]));
        assert_ok(mxc_ndarray_get(out[1], values[i], sizeof values[i]));
        mxc_ndarray_release(in[0]);
        mxc_ndarray_release(out[0]);
        mxc_ndarray_release(out[1]);
    }
    assert_memory_equal(vectors[0], vectors[1], sizeof vectors[0]);
    assert_memory_equal(values[0], values[1], sizeof values[0]);
    assert_true(fabs(values[0][0] - (5 - sqrt(5)) / 2) < 1e-12 && vectors[0][0] > 0 && vectors[0][1] < 0);
}

/* Only one triangle is read. */
static void test_other_triangle(void **state) {
    static const char *const keys[] = {"lower"}, *const values[] = {"true", "false"};
    const double given[] = {4, NAN, 2, 5}, turned[] = {4, 2, NAN, 5};
    const double expected[2][4] = {{2, 0, 1, 2}, {2, 1, 0, 2}};
    double found[4];
    (void)state;
    for (int upper = 0; upper < 2; upper++) {
        mxc_ndarray *in[1], *out[1] = {NULL};
        assert_ok(mxc_ndarray_from_data(2, (int64_t[]){2, 2}, MXC_F64, upper ? turned : given, &in[0]));
        assert_ok(mxc_invoke("linalg_potrf", 1, in, 1, keys, &values[upper], 1, out));
        assert_ok(mxc_ndarray_get(out[0], found, sizeof found));
        assert_memory_equal(found, expected[upper], sizeof found);
        mxc_ndarray_release(in[0]);
        mxc_ndarray_release(out[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_definite),         cmocka_unit_test(test_singular),
        cmocka_unit_test(test_no_inverse),           cmocka_unit_test(test_other_triangle),
        cmocka_unit_test(test_syevd_other_triangle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

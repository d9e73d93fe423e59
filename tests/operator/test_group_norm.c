/* SPDX-License-Identifier: Apache-2.0 */
/* GroupNorm with one gamma and beta for each group: as with those of each channel, repeated. */
#include <mxc/op.h>

#include "support.h"

enum { N = 2, C = 4, D = 3, GROUPS = 2 };

static mxc_ndarray *make(int ndim, const int64_t *dims, const float *values) {
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_from_data(ndim, dims, MXC_F32, values, &array));
    return array;
}

/* Output, and the gradients of data, gamma and beta, for gamma and beta of n elements. */
static void run(int64_t n, const float *gamma, const float *beta, float *out, float *dx, float *dgamma, float *dbeta) {
    static const int64_t shape[] = {N, C, D};
    static const char *const key = "num_groups", *const value = "2";
    float x[N * C * D], dy[N * C * D];
    for (int i = 0; i < N * C * D; i++) {
        x[i] = (float)((i * 7) % 11) / 3;
        dy[i] = (float)((i * 5) % 13) / 4;
    }
    mxc_ndarray *in[3] = {make(3, shape, x), make(1, &n, gamma), make(1, &n, beta)}, *outs[3] = {NULL};
    mxc_ndarray *out_grad[3] = {make(3, shape, dy), NULL, NULL};
    mxc_ndarray *in_grad[3] = {make(3, shape, x), make(1, &n, gamma), make(1, &n, beta)};
    mxc_op *op;
    assert_ok(mxc_op_create("GroupNorm", 1, &key, &value, &op));
    assert_ok(mxc_op_invoke(op, 3, in, 3, outs, NULL, 1));
    assert_ok(mxc_op_invoke_backward(op, out_grad, in, outs, in_grad, NULL));
    assert_ok(mxc_ndarray_get(outs[0], out, sizeof x));
    assert_ok(mxc_ndarray_get(in_grad[0], dx, sizeof x));
    assert_ok(mxc_ndarray_get(in_grad[1], dgamma, (size_t)n * sizeof *dgamma));
    assert_ok(mxc_ndarray_get(in_grad[2], dbeta, (size_t)n * sizeof *dbeta));
    for (int i = 0; i < 3; i++) {
        mxc_ndarray_release(in[i]);
        mxc_ndarray_release(outs[i]);
        mxc_ndarray_release(out_grad[i]);
        mxc_ndarray_release(in_grad[i]);
    }
    mxc_op_release(op);
}

static void test_parameters_of_groups(void **state) {
    static const float gamma[C] = {2, 2, -1, -1}, beta[C] = {1, 1, 3, 3}, few_gamma[GROUPS] = {2, -1},
                       few_beta[GROUPS] = {1, 3};
    float out[2][N * C * D], dx[2][N * C * D], dgamma[2][C], dbeta[2][C];
    (void)state;
    run(C, gamma, beta, out[0], dx[0], dgamma[0], dbeta[0]);
    run(GROUPS, few_gamma, few_beta, out[1], dx[1], dgamma[1], dbeta[1]);
    for (int i = 0; i < N * C * D; i++) {
        assert_float_equal(out[0][i], out[1][i], 1e-6);
        assert_float_equal(dx[0][i], dx[1][i], 1e-6);
    }
    for (int g = 0; g < GROUPS; g++) {
        assert_float_equal(dgamma[1][g], dgamma[0][2 * g] + dgamma[0][2 * g + 1], 1e-4);
        assert_float_equal(dbeta[1][g], dbeta[0][2 * g] + dbeta[0][2 * g + 1], 1e-4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parameters_of_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What reductions make of NaN and infinities at chosen places of long rows. */
#include "support.h"

#include <math.h>

#include <mxc/op.h>

enum { COLUMNS = 100 };

/* A row of ones that begins with these values and has one at a place further on. */
static mxc_ndarray *row_of(double first, double second, int place, double third, mxc_dtype dtype) {
    double values[COLUMNS];
    int64_t dims[] = {1, COLUMNS};
    mxc_ndarray *wide, *array;
    for (int i = 0; i < COLUMNS; i++)
        values[i] = 1;
    values[0] = first;
    values[1] = second;
    values[place] = third;
    assert_ok(mxc_ndarray_from_data(2, dims, MXC_F64, values, &wide));
    assert_ok(mxc_ndarray_copy(wide, mxc_cpu(0), dtype, &array));
    mxc_ndarray_release(wide);
    return array;
}

/* Along the row, and along a column of the same elements: the two loops. */
static double reduce(const char *op, mxc_ndarray *row, int down) {
    static const char *const keys[] = {"axis"};
    int64_t dims[] = {COLUMNS, 1};
    const char *axis = down ? "0" : "1";
    double value;
    mxc_ndarray *in, *out[1] = {NULL}, *wide;
    assert_ok(mxc_ndarray_reshape(row, 2, down ? dims : (int64_t[]){1, COLUMNS}, &in));
    assert_ok(mxc_invoke(op, 1, &in, 1, keys, &axis, 1, out));
    assert_ok(mxc_ndarray_copy(out[0], mxc_cpu(0), MXC_F64, &wide));
    assert_ok(mxc_ndarray_get(wide, &value, sizeof value));
    mxc_ndarray_release(wide);
    mxc_ndarray_release(out[0]);
    mxc_ndarray_release(in);
    return value;
}

static void expect(const char *op, mxc_ndarray *row, double expected) {
    for (int down = 0; down < 2; down++) {
        double found = reduce(op, row, down);
        if (isnan(expected) ? !isnan(found) : found != expected)
            fail_msg("%s in %s: found %g, expected %g", op, mxc_dtype_name(mxc_ndarray_dtype(row)), found, expected);
    }
    mxc_ndarray_release(row);
}

static void test_nan(void **state) {
    static const mxc_dtype dtypes[] = {MXC_F32, MXC_F64, MXC_F16, MXC_BF16};
    (void)state;
    for (int d = 0; d < 4; d++)
        for (int place = 2; place < COLUMNS; place += 31) {
            mxc_dtype t = dtypes[d];
            expect("sum", row_of(1, 1, place, NAN, t), NAN);
            expect("max", row_of(1, 5, place, NAN, t), NAN);
            expect("min", row_of(1, -5, place, NAN, t), NAN);
            expect("max", row_of(NAN, 5, place, 7, t), NAN);
            expect("min", row_of(NAN, -5, place, -7, t), NAN);
            expect("norm", row_of(1, 1, place, NAN, t), NAN);
            expect("nansum", row_of(NAN, 5, place, NAN, t), 5 + COLUMNS - 3);
            expect("nanprod", row_of(NAN, 5, place, NAN, t), 5);
            expect("argmax", row_of(1, 5, place, NAN, t), place);
            expect("argmin", row_of(1, -5, place, NAN, t), place);
            expect("argmax", row_of(1, NAN, place, NAN, t), 1);
        }
}

static void test_infinities(void **state) {
    (void)state;
    for (int place = 2; place < COLUMNS; place += 31) {
        expect("max", row_of(-INFINITY, 5, place, INFINITY, MXC_F32), INFINITY);
        expect("min", row_of(-INFINITY, 5, place, INFINITY, MXC_F32), -INFINITY);
        expect("sum", row_of(-INFINITY, 5, place, INFINITY, MXC_F64), NAN);
        expect("argmax", row_of(1, 5, place, INFINITY, MXC_F32), place);
        expect("norm", row_of(1, 5, place, -INFINITY, MXC_F32), INFINITY);
    }
}

/* The gradient of nansum and nanprod passes NaN by. */
/* Integers wrap to their dtype, but not on the way to a norm; of bool, whether the result is not 0. */
static void test_integers(void **state) {
    static const char *const names[] = {"sum", "nansum", "prod", "nanprod", "max", "min", "norm"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect(names[i], row_of(1, 1, 60, 1, MXC_BOOL), 1);
        expect(names[i], row_of(1, 0, 60, 1, MXC_BOOL), !strstr("prod nanprod min", names[i]));
    }
    expect("nansum", row_of(2, 100, 60, 100, MXC_I8), 299 - 256);
    expect("nanprod", row_of(100, 3, 60, 1, MXC_U8), 300 - 256);
    expect("norm", row_of(-2147483648.0, -2147483648.0, 60, -2147483648.0, MXC_I64), 3719550786);
    expect("norm", row_of(70, 70, 60, 2, MXC_I8), 99);
    expect("norm", row_of(200, 200, 60, 2, MXC_U8), 283 - 256);
}

static void test_nan_gradient(void **state) {
    static const char *const ops[] = {"nansum", "nanprod"};
    int64_t dims[] = {3}, one[] = {1};
    (void)state;
    for (int i = 0; i < 2; i++) {
        mxc_ndarray *x, *g, *dx, *y[1] = {NULL};
        float found[3];
        mxc_op *op;
        assert_ok(mxc_op_create(ops[i], 0, NULL, NULL, &op));
        assert_ok(mxc_ndarray_from_data(1, dims, MXC_F32, (float[]){2, NAN, 3}, &x));
        assert_ok(mxc_ndarray_from_data(1, one, MXC_F32, (float[]){10}, &g));
        assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &dx));
        assert_ok(mxc_op_invoke(op, 1, &x, 1, y, NULL, 1));
        assert_ok(mxc_op_invoke_backward(op, &g, &x, y, &dx, NULL));
        assert_ok(mxc_ndarray_get(dx, found, sizeof found));
        assert_true(found[1] == 0);
        assert_true(found[0] == (i ? 30 : 10) && found[2] == (i ? 20 : 10));
        mxc_ndarray_release(x);
        mxc_ndarray_release(g);
        mxc_ndarray_release(dx);
        mxc_ndarray_release(y[0]);
        mxc_op_release(op);
    }
}

/* A sum of many small numbers onto a large one loses none of them: accumulators are wide. */
static void test_accuracy(void **state) {
    int64_t dims[] = {1 << 20};
    mxc_ndarray *x, *out[1] = {NULL};
    float *values, sum;
    (void)state;
    assert_ok(mxc_ndarray_create(1, dims, MXC_F32, mxc_cpu(0), &x));
    assert_ok(mxc_ndarray_fill(x, 1));
    assert_ok(mxc_ndarray_data(x, (void **)&values));
    values[0] = 0x1p27f;
    assert_ok(mxc_invoke("sum", 1, &x, 0, NULL, NULL, 1, out));
    assert_ok(mxc_ndarray_get(out[0], &sum, sizeof sum));
    assert_true(sum == (float)(0x1p27 + 0x1p20 - 1));
    mxc_ndarray_release(x);
    mxc_ndarray_release(out[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nan),          cmocka_unit_test(test_infinities), cmocka_unit_test(test_integers),
        cmocka_unit_test(test_nan_gradient), cmocka_unit_test(test_accuracy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

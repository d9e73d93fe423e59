/* SPDX-License-Identifier: Apache-2.0 */
/* What mxc/kernel.h offers to the functions of a program's operators: loops over elements in every dtype and for every
 * request, rows, the choice by dtype, and scratch at run time. */
#include "support.h"

#include <math.h>

#include <mxc/kernel.h>

enum { N = 1500, LARGE = 200000 };

static const mxc_dtype dtypes[] = {MXC_F32, MXC_F64, MXC_F16, MXC_BF16, MXC_I8, MXC_U8, MXC_I32, MXC_I64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static mxc_tensor tensor_of(mxc_dtype dtype, void *data, int ndim, const int64_t *dim) {
    mxc_tensor t = {.data = data, .dtype = dtype, .context = mxc_cpu(0)};
    assert_ok(mxc_shape_set(&t.shape, ndim, dim));
    return t;
}

/* n numbers as elements of a dtype. */
static void fill(mxc_dtype dtype, const double *values, void *data, int64_t n) {
    assert_ok(mxc_store_row(MXC_REQ_WRITE, MXC_F64, values, dtype, data, n));
}

static void expect(mxc_dtype dtype, const void *data, int64_t i, double expected) {
    double found;
    assert_ok(mxc_store_row(MXC_REQ_WRITE, dtype, (const char *)data + (size_t)i * mxc_dtype_size(dtype), MXC_F64,
                            &found, 1));
    if (found != expected)
        fail_msg("%s: element %d is %g, expected %g", mxc_dtype_name(dtype), (int)i, found, expected);
}

/* ---- element by element: out = x0 x1 + *params ---- */

static float muladd_float(const float *x, const void *params) {
    return x[0] * x[1] + (float)*(const int *)params;
}
static double muladd_double(const double *x, const void *params) {
    return x[0] * x[1] + *(const int *)params;
}
static int64_t muladd_int(const int64_t *x, const void *params) {
    return x[0] * x[1] + *(const int *)params;
}
MXC_MAP_KERNEL(muladd_f32, float, 2, muladd_float)
MXC_MAP_KERNEL(muladd_f64, double, 2, muladd_double)
MXC_MAP_KERNEL(muladd_i64, int64_t, 2, muladd_int)
static const mxc_map_kernels muladd = {muladd_f32, muladd_f64, muladd_i64};

/* Small numbers, so that every dtype is exact: x0 = i % 5, x1 = i % 3, out = x0 x1 + 1, at most 9. */
static void map_serves_dtypes_and_requests(void **state) {
    static const mxc_req reqs[] = {MXC_REQ_NULL, MXC_REQ_WRITE, MXC_REQ_INPLACE, MXC_REQ_ADD};
    static double numbers[3][N];
    static int64_t memory[3][N];
    const int64_t n = N;
    const int one = 1;
    (void)state;
    for (int i = 0; i < N; i++) {
        numbers[0][i] = i % 5;
        numbers[1][i] = i % 3;
        numbers[2][i] = 7;
    }
    for (int d = 0; d < DTYPES; d++)
        for (int r = 0; r < 4; r++) {
            mxc_tensor t[3];
            const mxc_tensor *in[] = {&t[0], &t[1]}, *out = reqs[r] == MXC_REQ_INPLACE ? &t[0] : &t[2];
            for (int k = 0; k < 3; k++) {
                t[k] = tensor_of(dtypes[d], memory[k], 1, &n);
                fill(dtypes[d], numbers[k], memory[k], N);
            }
            assert_ok(mxc_map(NULL, &muladd, &one, 2, in, reqs[r], out));
            for (int i = 0; i < N; i++)
                expect(dtypes[d], out->data, i, r == 0 ? 7 : (i % 5) * (i % 3) + 1 + (reqs[r] == MXC_REQ_ADD ? 7 : 0));
        }
}

/* (2,3) with a row (3,), a column (2,1) and a number (). */
static void map_broadcasts(void **state) {
    float x[6] = {1, 2, 3, 4, 5, 6}, row[3] = {1, 10, 100}, column[2] = {1, -1}, number = 2, y[6];
    const int64_t dim[2] = {2, 3}, row_dim = 3, column_dim[2] = {2, 1};
    const int zero = 0;
    mxc_tensor in = tensor_of(MXC_F32, x, 2, dim), out = tensor_of(MXC_F32, y, 2, dim);
    const mxc_tensor by[3] = {tensor_of(MXC_F32, row, 1, &row_dim), tensor_of(MXC_F32, column, 2, column_dim),
                              tensor_of(MXC_F32, &number, 0, NULL)};
    const float expected[3][6] = {{1, 20, 300, 4, 50, 600}, {1, 2, 3, -4, -5, -6}, {2, 4, 6, 8, 10, 12}};
    (void)state;
    for (int k = 0; k < 3; k++) {
        const mxc_tensor *both[] = {&in, &by[k]};
        assert_ok(mxc_map(NULL, &muladd, &zero, 2, both, MXC_REQ_WRITE, &out));
        for (int i = 0; i < 6; i++)
            assert_true(y[i] == expected[k][i]);
    }
}

static void map_refuses(void **state) {
    static const mxc_map_kernels only_float = {muladd_f32, NULL, NULL};
    float x[6] = {0};
    const int64_t three = 3, two = 2;
    mxc_tensor a = tensor_of(MXC_F32, x, 1, &three), b = tensor_of(MXC_F32, x, 1, &two);
    mxc_tensor d = tensor_of(MXC_F64, x, 1, &three), none = tensor_of(MXC_F32, NULL, 1, &three);
    const mxc_tensor *pair[] = {&a, &a};
    const int zero = 0;
    (void)state;
    assert_fails(mxc_map(NULL, &muladd, &zero, 0, pair, MXC_REQ_WRITE, &a), MXC_EINVAL, "n_in is 0, expected 1 to 4");
    assert_fails(mxc_map(NULL, &only_float, &zero, 2, pair, MXC_REQ_WRITE, &d), MXC_EDTYPE,
                 "no kernel for dtype float64");
    pair[1] = &d;
    assert_fails(mxc_map(NULL, &muladd, &zero, 2, pair, MXC_REQ_WRITE, &a), MXC_EDTYPE,
                 "input 1: expected dtype float32, that of the output, found float64");
    pair[1] = &b;
    assert_fails(mxc_map(NULL, &muladd, &zero, 2, pair, MXC_REQ_WRITE, &a), MXC_ESHAPE,
                 "input 1 of shape (2,) cannot be broadcast to (3,)");
    pair[1] = &none;
    assert_fails(mxc_map(NULL, &muladd, &zero, 2, pair, MXC_REQ_WRITE, &a), MXC_EINVAL, "input 1 has no data");
    pair[1] = NULL;
    assert_fails(mxc_map(NULL, &muladd, &zero, 2, pair, MXC_REQ_WRITE, &a), MXC_EINVAL, "in[1] must not be NULL");
}

/* ---- rows ---- */

/* Adding rounds once: 2048 + (1 + 2^-11) in float16, where 2048 + 1 alone is half way and rounds to 2048. */
static void rows_are_converted(void **state) {
    const float values[4] = {1.5f, -2.5f, 70000, NAN};
    const double more = 1 + 1.0 / 2048;
    mxc_f16 halves[4];
    int8_t bytes[4];
    (void)state;
    assert_ok(mxc_store_row(MXC_REQ_WRITE, MXC_F32, values, MXC_F16, halves, 4));
    assert_true(mxc_f16_to_float(halves[0]) == 1.5f && mxc_f16_to_float(halves[1]) == -2.5f);
    assert_true(isinf(mxc_f16_to_float(halves[2])) && isnan(mxc_f16_to_float(halves[3])));
    assert_ok(mxc_store_row(MXC_REQ_WRITE, MXC_F32, values, MXC_I8, bytes, 4));
    assert_true(bytes[0] == 1 && bytes[1] == -2 && bytes[2] == 127 && bytes[3] == 0);
    assert_ok(mxc_store_row(MXC_REQ_NULL, MXC_F32, values, MXC_I8, NULL, 4));
    halves[0] = mxc_float_to_f16(2048);
    assert_ok(mxc_store_row(MXC_REQ_ADD, MXC_F64, &more, MXC_F16, halves, 1));
    assert_true(mxc_f16_to_float(halves[0]) == 2050);
    assert_true(mxc_bf16_to_float(mxc_float_to_bf16(1.00390625f)) == 1 && mxc_bf16_to_float(mxc_float_to_bf16(3)) == 3);
    assert_fails(mxc_store_row(MXC_REQ_WRITE, (mxc_dtype)99, values, MXC_I8, bytes, 4), MXC_EDTYPE, "99");
    assert_fails(mxc_store_row(MXC_REQ_WRITE, MXC_F32, NULL, MXC_I8, bytes, 4), MXC_EINVAL, "from must not be NULL");
    assert_int_equal(mxc_compute_dtype(MXC_BF16), MXC_F32);
    assert_int_equal(mxc_compute_dtype(MXC_BOOL), MXC_I64);
    assert_int_equal(mxc_compute_dtype((mxc_dtype)99), MXC_DTYPE_UNKNOWN);
}

/* A sum follows the rules of what is written: floats saturate, integers keep their low bits, anything but 0 is true. */
static void rows_are_added(void **state) {
    static const struct {
        mxc_dtype from_dtype, to_dtype;
        double from, to, sum;
    } cases[] = {
        {MXC_F32, MXC_I32, 3e9, 0, INT32_MAX},
        {MXC_F32, MXC_I32, -3e9, 5, INT32_MIN},
        {MXC_F64, MXC_I32, 10, 2147483640., INT32_MAX},
        {MXC_F16, MXC_I8, 100, 100, 127},
        {MXC_BF16, MXC_I8, -100, -100, -128},
        {MXC_F32, MXC_U8, -5.5, 3, 0},
        {MXC_F32, MXC_U8, -5.5, 13, 8},
        {MXC_F32, MXC_I8, 1.75, -1, 0},
        {MXC_F32, MXC_I8, NAN, 3, 3},
        {MXC_F64, MXC_I64, 1e30, 1e18, 0x1p63},
        {MXC_F64, MXC_I64, -1e30, -1, -0x1p63},
        {MXC_I32, MXC_I8, 100, 100, -56},
        {MXC_I32, MXC_U8, 1, 255, 0},
        {MXC_F32, MXC_BOOL, 0.5, 0, 1},
        {MXC_F32, MXC_BOOL, 0, 0, 0},
        {MXC_F32, MXC_BOOL, 0, 1, 1},
        {MXC_I32, MXC_BOOL, -1, 1, 1},
        {MXC_F64, MXC_BOOL, NAN, 0, 1},
        {MXC_BOOL, MXC_I32, 1, 41, 42},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int64_t from[N], to[N];
        double same_from[N], same_to[N];
        for (int i = 0; i < N; i++) {
            same_from[i] = cases[k].from;
            same_to[i] = cases[k].to;
        }
        fill(cases[k].from_dtype, same_from, from, N);
        fill(cases[k].to_dtype, same_to, to, N);
        assert_ok(mxc_store_row(MXC_REQ_ADD, cases[k].from_dtype, from, cases[k].to_dtype, to, N));
        for (int i = 0; i < N; i++)
            expect(cases[k].to_dtype, to, i, cases[k].sum);
    }
}

static void arrays_are_converted(void **state) {
    static float from[N];
    static mxc_bf16 to[N];
    const int64_t n = N, fewer = N - 1;
    mxc_tensor source = tensor_of(MXC_F32, from, 1, &n), target = tensor_of(MXC_BF16, to, 1, &n);
    (void)state;
    for (int i = 0; i < N; i++)
        from[i] = (float)(i % 100);
    assert_ok(mxc_store(NULL, MXC_REQ_WRITE, &source, &target));
    assert_ok(mxc_store(NULL, MXC_REQ_ADD, &source, &target));
    for (int i = 0; i < N; i++)
        expect(MXC_BF16, to, i, 2 * (i % 100));
    target.shape.dim[0] = fewer;
    assert_fails(mxc_store(NULL, MXC_REQ_WRITE, &source, &target), MXC_ESHAPE, "(1500,) to (1499,)");
}

/* ---- the choice by dtype ---- */

static mxc_status size_f32(size_t *out) {
    *out = sizeof(float);
    return MXC_OK;
}
static mxc_status size_f64(size_t *out) {
    *out = sizeof(double);
    return MXC_OK;
}
static mxc_status size_f16(size_t *out) {
    *out = sizeof(mxc_f16);
    return MXC_OK;
}
static mxc_status size_bf16(size_t *out) {
    *out = sizeof(mxc_bf16);
    return MXC_OK;
}

static mxc_status size_by_dtype(mxc_dtype dtype, size_t *out) {
    MXC_SWITCH_FLOAT(dtype, size, out)
}

static void dtype_is_switched(void **state) {
    size_t size = 0;
    (void)state;
    for (int d = 0; d < 4; d++) {
        assert_ok(size_by_dtype(dtypes[d], &size));
        assert_int_equal(size, mxc_dtype_size(dtypes[d]));
    }
    assert_fails(size_by_dtype(MXC_I32, &size), MXC_EDTYPE, "size: is not computed in dtype int32");
}

/* ---- an operator: threads, and scratch at run time ---- */

/* Sorts by counting, into scratch whose size is the largest element. temp, which the library gives, stays valid. */
static mxc_status count_forward(const mxc_op_call *call) {
    const int32_t *x = call->in[0].data;
    int64_t n = mxc_shape_size(&call->in[0].shape), most = 0, at = 0;
    int32_t *y = call->out[0].data, *counts;
    void *scratch;
    memset(call->temp, 0x55, call->temp_bytes);
    for (int64_t i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
    MXC_TRY(mxc_run_scratch(call->run, (size_t)(most + 1) * sizeof *counts, &scratch));
    if (scratch == call->temp || (uintptr_t)scratch % 64 != 0)
        return MXC_FAIL(MXC_EUSER, "scratch at %p, temp at %p", scratch, call->temp);
    counts = memset(scratch, 0, (size_t)(most + 1) * sizeof *counts);
    for (int64_t i = 0; i < n; i++)
        counts[x[i]]++;
    for (int32_t value = 0; value <= most; value++)
        for (int32_t k = 0; k < counts[value]; k++)
            y[at++] = value;
    for (size_t i = 0; i < call->temp_bytes; i++)
        if (((const unsigned char *)call->temp)[i] != 0x55)
            return MXC_FAIL(MXC_EUSER, "temp has changed");
    return MXC_OK;
}

static size_t count_temp(const mxc_op_sig *sig, mxc_pass pass) {
    (void)sig, (void)pass;
    return 128;
}

static mxc_status twice_forward(const mxc_op_call *call) {
    static const int zero;
    const mxc_tensor *in[] = {&call->in[0], &call->in[1]};
    return mxc_map(call->run, &muladd, &zero, 2, in, call->req[0], &call->out[0]);
}

static const mxc_op_def count_sort = {
    .size = sizeof count_sort,
    .name = "t_count_sort",
    .doc = "sorts",
    .flags = MXC_OP_ZERO_GRADIENT,
    .dtypes = MXC_DTYPE_BIT(MXC_I32),
    .temp_bytes = count_temp,
    .forward = MXC_ON_CPU(count_forward),
};

static const mxc_op_def product = {
    .size = sizeof product,
    .name = "t_product",
    .doc = "lhs rhs",
    .args = "lhs,rhs",
    .flags = MXC_OP_ZERO_GRADIENT,
    .dtypes = MXC_DTYPES_NUMBER,
    .forward = MXC_ON_CPU(twice_forward),
};

static void scratch_at_run_time(void **state) {
    const int32_t sizes[] = {5, 100, 20000, 7};
    const int64_t n = 4;
    void *scratch;
    (void)state;
    for (int k = 0; k < 4; k++) {
        const int32_t values[] = {sizes[k], 0, 3, 1}, expected[] = {0, 1, 3, sizes[k]};
        int32_t found[4];
        mxc_ndarray *x, *y;
        assert_ok(mxc_ndarray_from_data(1, &n, MXC_I32, values, &x));
        assert_ok(mxc_invoke("t_count_sort", 1, &x, 0, NULL, NULL, 1, &y));
        assert_ok(mxc_ndarray_get(y, found, sizeof found));
        assert_memory_equal(found, expected, sizeof found);
        mxc_ndarray_release(x);
        mxc_ndarray_release(y);
    }
    assert_fails(mxc_run_scratch(NULL, 10, &scratch), MXC_EINVAL, "run is NULL");
    assert_null(scratch);
}

static void map_in_threads(void **state) {
    static float values[LARGE];
    const int64_t n = LARGE;
    mxc_ndarray *in[2], *out;
    (void)state;
    for (int i = 0; i < LARGE; i++)
        values[i] = (float)i;
    assert_ok(mxc_ndarray_from_data(1, &n, MXC_F32, values, &in[0]));
    in[1] = in[0];
    assert_ok(mxc_invoke("t_product", 2, in, 0, NULL, NULL, 1, &out));
    assert_ok(mxc_ndarray_get(out, values, sizeof values));
    for (int i = 0; i < LARGE; i++)
        assert_true(values[i] == (float)i * (float)i);
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(out);
}

static int register_operators(void **state) {
    (void)state;
    return mxc_op_register(&count_sort) != MXC_OK || mxc_op_register(&product) != MXC_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_serves_dtypes_and_requests),
        cmocka_unit_test(map_broadcasts),
        cmocka_unit_test(map_refuses),
        cmocka_unit_test(rows_are_converted),
        cmocka_unit_test(rows_are_added),
        cmocka_unit_test(arrays_are_converted),
        cmocka_unit_test(dtype_is_switched),
        cmocka_unit_test(scratch_at_run_time),
        cmocka_unit_test(map_in_threads),
    };
    return cmocka_run_group_tests(tests, register_operators, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A program's GPU operators by mxc/kernel.cuh, on the emulator: every dtype and request, broadcast inputs, and the same
 * operator on the host by mxc/kernel.hpp. The GPU's implementation is registered apart from the descriptor. */
#include "support.h"

#include <mxc/mxc.h>

enum { ROWS = 40, COLUMNS = 30, N = ROWS * COLUMNS };

/* author/operators.cpp */
mxc_status multiply_add_on_cpu(const mxc_op_call *call);
mxc_status multiply_add_on_gpu(const mxc_op_call *call);
mxc_status dice_on_gpu(const mxc_op_call *call);
mxc_status square_on_gpu(const mxc_op_call *call);

/* out has the shape of lhs. */
static mxc_status infer(mxc_op_sig *sig) {
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &sig->in_shape[0]);
}

static const mxc_op_def multiply_add = {
    .size = sizeof multiply_add,
    .name = "t_multiply_add",
    .doc = "lhs rhs + 1, rhs broadcast",
    .args = "lhs,rhs",
    .flags = MXC_OP_ZERO_GRADIENT,
    .version = 2,
    .infer_shape = infer,
    .dtypes = MXC_DTYPES_NUMBER,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .forward = MXC_ON_CPU(multiply_add_on_cpu),
};
static const mxc_op_part on_gpu = {
    .size = sizeof on_gpu,
    .op = "t_multiply_add",
    .device = MXC_GPU,
    .version = 2,
    .forward = multiply_add_on_gpu,
};
static const mxc_op_def square = {
    .size = sizeof square,
    .name = "t_square",
    .doc = "data squared",
    .flags = MXC_OP_ZERO_GRADIENT,
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .forward = MXC_ON_CPU_AND_GPU(NULL, square_on_gpu),
};

static mxc_status dice_on_cpu(const mxc_op_call *call) {
    double *y = call->out[0].data;
    for (int64_t i = 0; i < mxc_shape_size(&call->out[0].shape); i++) {
        const uint64_t at = 3 * (uint64_t)i;
        y[i] = mxc_random_normal(&call->random, at, 100, 1) + (double)mxc_random_integer(&call->random, at + 1, 1, 7) +
               (double)mxc_random_uniform(&call->random, at + 2);
    }
    return MXC_OK;
}

static uint64_t dice_count(const mxc_op_sig *sig) {
    return 3 * (uint64_t)mxc_shape_size(&sig->in_shape[0]);
}

static const mxc_op_def dice = {
    .size = sizeof dice,
    .name = "t_dice",
    .doc = "random numbers",
    .flags = MXC_OP_ZERO_GRADIENT,
    .dtypes = MXC_DTYPE_BIT(MXC_F64),
    .random_count = dice_count,
    .forward = MXC_ON_CPU_AND_GPU(dice_on_cpu, dice_on_gpu),
};

/* An array of i % modulus in a dtype. */
static mxc_ndarray *array_of(mxc_context context, mxc_dtype dtype, int ndim, const int64_t *dim, int modulus) {
    static double values[N];
    static int64_t elements[N];
    mxc_ndarray *array;
    mxc_shape shape;
    int64_t n;
    assert_ok(mxc_shape_set(&shape, ndim, dim));
    n = mxc_shape_size(&shape);
    for (int64_t i = 0; i < n; i++)
        values[i] = (double)(i % modulus);
    assert_ok(mxc_store_row(MXC_REQ_WRITE, MXC_F64, values, dtype, elements, n));
    assert_ok(mxc_ndarray_create(ndim, dim, dtype, context, &array));
    assert_ok(mxc_ndarray_set(array, elements, (size_t)n * mxc_dtype_size(dtype)));
    return array;
}

/* rhs has the shape of lhs, or is a row or a column that is broadcast. */
static void check_run(mxc_context context, mxc_dtype dtype, mxc_req req, int broadcast) {
    static const int64_t dim[2] = {ROWS, COLUMNS}, column[2] = {ROWS, 1};
    static int64_t elements[N];
    static double found[N];
    mxc_ndarray *in[2] = {
        array_of(context, dtype, 2, dim, 5),
        broadcast == 0   ? array_of(context, dtype, 2, dim, 3)
        : broadcast == 1 ? array_of(context, dtype, 1, &dim[1], 3)
                         : array_of(context, dtype, 2, column, 3),
    };
    mxc_ndarray *out = req == MXC_REQ_INPLACE ? in[0] : array_of(context, dtype, 2, dim, 2);
    const mxc_req given = req == MXC_REQ_INPLACE ? MXC_REQ_WRITE : req;
    mxc_op *op;
    assert_ok(mxc_op_create("t_multiply_add", 0, NULL, NULL, &op));
    assert_ok(mxc_op_invoke(op, 2, in, 1, &out, &given, 0));
    assert_ok(mxc_ndarray_get(out, elements, N * mxc_dtype_size(dtype)));
    assert_ok(mxc_store_row(MXC_REQ_WRITE, dtype, elements, MXC_F64, found, N));
    for (int i = 0; i < N; i++) {
        const int by = broadcast == 0 ? i % 3 : broadcast == 1 ? i % COLUMNS % 3 : i / COLUMNS % 3;
        const double expected = i % 5 * by + 1 + (req == MXC_REQ_ADD ? i % 2 : 0);
        if (found[i] != expected)
            fail_msg("%s, request %d, broadcast %d: element %d is %g, expected %g", mxc_dtype_name(dtype), (int)req,
                     broadcast, i, found[i], expected);
    }
    mxc_op_release(op);
    if (out != in[0])
        mxc_ndarray_release(out);
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
}

static void check_context(mxc_context context) {
    static const mxc_dtype dtypes[] = {MXC_F32, MXC_F64, MXC_F16, MXC_BF16, MXC_I8, MXC_U8, MXC_I32, MXC_I64};
    static const mxc_req reqs[] = {MXC_REQ_WRITE, MXC_REQ_INPLACE, MXC_REQ_ADD};
    for (int d = 0; d < 8; d++)
        for (int r = 0; r < 3; r++)
            for (int broadcast = 0; broadcast < 3; broadcast++)
                check_run(context, dtypes[d], reqs[r], broadcast);
}

static void on_the_host(void **state) {
    (void)state;
    check_context(mxc_cpu(0));
}

static void without_the_part(void **state) {
    (void)state;
    assert_int_equal(mxc_op_place(&multiply_add, MXC_GPU, MXC_FORWARD), MXC_PLACE_HOST);
    check_run(mxc_gpu(0), MXC_F32, MXC_REQ_WRITE, 1);
}

static void with_the_part(void **state) {
    (void)state;
    assert_ok(mxc_op_register_part(&on_gpu));
    assert_fails(mxc_op_register_part(&on_gpu), MXC_EEXIST, "t_multiply_add has an implementation on gpu already");
    assert_int_equal(mxc_op_place(&multiply_add, MXC_GPU, MXC_FORWARD), MXC_PLACE_DEVICE);
    check_context(mxc_gpu(0));
}

static void a_loop_of_its_own(void **state) {
    static const int64_t n = N;
    static float found[N];
    mxc_ndarray *x = array_of(mxc_gpu(0), MXC_F32, 1, &n, 9), *y;
    (void)state;
    assert_ok(mxc_invoke("t_square", 1, &x, 0, NULL, NULL, 1, &y));
    assert_ok(mxc_ndarray_get(y, found, sizeof found));
    for (int i = 0; i < N; i++)
        assert_true(found[i] == (float)(i % 9 * (i % 9)));
    mxc_ndarray_release(x);
    mxc_ndarray_release(y);
}

/* From one seed the same numbers, by the functions of mxc/random.h and by those for kernels. */
static void random_numbers_are_the_hosts(void **state) {
    static const int64_t n = N;
    static double found[2][N];
    const mxc_context contexts[2] = {mxc_cpu(0), mxc_gpu(0)};
    (void)state;
    for (int k = 0; k < 2; k++) {
        mxc_ndarray *x = array_of(contexts[k], MXC_F64, 1, &n, 9), *y;
        mxc_random_seed(12);
        assert_ok(mxc_invoke("t_dice", 1, &x, 0, NULL, NULL, 1, &y));
        assert_ok(mxc_ndarray_get(y, found[k], sizeof found[k]));
        mxc_ndarray_release(x);
        mxc_ndarray_release(y);
    }
    for (int i = 0; i < N; i++)
        assert_true(found[0][i] == found[1][i] && found[0][i] > 90 && found[0][i] < 120);
    assert_true(found[0][0] != found[0][1]);
}

/* What the mapper refuses is reported by the wait on the result. */
static void wrong_shapes_are_named(void **state) {
    static const int64_t n = N, two = 2;
    mxc_ndarray *in[2] = {array_of(mxc_gpu(0), MXC_F32, 1, &n, 9), array_of(mxc_gpu(0), MXC_F32, 1, &two, 9)}, *out;
    float found[N];
    (void)state;
    assert_ok(mxc_invoke("t_multiply_add", 2, in, 0, NULL, NULL, 1, &out));
    assert_fails(mxc_ndarray_get(out, found, sizeof found), MXC_ESHAPE, "(2,) cannot be broadcast to (1200,)");
    mxc_ndarray_release(in[0]);
    mxc_ndarray_release(in[1]);
    mxc_ndarray_release(out);
}

static int register_operators(void **state) {
    (void)state;
    return mxc_op_register(&multiply_add) != MXC_OK || mxc_op_register(&square) != MXC_OK ||
           mxc_op_register(&dice) != MXC_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_host),
        cmocka_unit_test(without_the_part),
        cmocka_unit_test(with_the_part),
        cmocka_unit_test(a_loop_of_its_own),
        cmocka_unit_test(wrong_shapes_are_named),
        cmocka_unit_test(random_numbers_are_the_hosts),
    };
    return cmocka_run_group_tests(tests, register_operators, NULL);
}

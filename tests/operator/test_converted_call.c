/* SPDX-License-Identifier: Apache-2.0 */
/* A program's operators that compute float32 or channels second only, called with other dtypes and layouts. */
#include "support.h"

#include <mxc/op.h>

/* ---- out = data^2, in float32 and float64 only ------------------------------------------------------------------- */

static mxc_status square_forward(const mxc_op_call *call) {
    if (call->in[0].dtype != MXC_F32 || call->out[0].dtype != MXC_F32)
        return MXC_FAIL(MXC_EUSER, "t_square: dtype %s", mxc_dtype_name(call->in[0].dtype));
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    for (int64_t i = 0; i < mxc_shape_size(&call->in[0].shape); i++)
        y[i] = call->req[0] == MXC_REQ_ADD ? y[i] + x[i] * x[i] : x[i] * x[i];
    return MXC_OK;
}

static const mxc_op_def square = {
    .size = sizeof square,
    .name = "t_square_f32",
    .doc = "out = data^2",
    .args = "data",
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .forward = {[MXC_CPU] = square_forward},
};

static void test_dtype(void **state) {
    const int64_t n = 3;
    const uint16_t half[] = {0x3c00, 0x4000, 0x4200}; /* 1, 2, 3 in float16 */
    uint16_t squares[3];
    mxc_ndarray *in, *out = NULL;
    (void)state;
    assert_ok(mxc_ndarray_from_data(1, &n, MXC_F16, half, &in));
    assert_ok(mxc_invoke("t_square_f32", 1, &in, 0, NULL, NULL, 1, &out));
    assert_int_equal(mxc_ndarray_dtype(out), MXC_F16);
    assert_ok(mxc_ndarray_get(out, squares, sizeof squares));
    assert_int_equal(squares[0], 0x3c00);
    assert_int_equal(squares[1], 0x4400);
    assert_int_equal(squares[2], 0x4880);
    mxc_ndarray_release(in);
    mxc_ndarray_release(out);
}

/* ---- out = data times the number of its channel, channels second only -------------------------------------------- */

typedef struct number_params {
    int32_t last;
} number_params;

static const mxc_param number_schema[] = {
    {MXC_PARAM_FIELD(number_params, last), .name = "last", .type = MXC_PARAM_BOOL, .doc = "channels are last"},
    MXC_PARAM_END,
};

static int to_channels_second(const void *params, mxc_pass pass, void *out) {
    (void)pass;
    ((number_params *)out)->last = 0;
    return ((const number_params *)params)->last;
}

static mxc_status number_forward(const mxc_op_call *call) {
    const mxc_shape *s = &call->in[0].shape;
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    if (((const number_params *)call->params)->last)
        return MXC_FAIL(MXC_EUSER, "t_number: channels are last");
    for (int64_t i = 0; i < mxc_shape_size(s); i++)
        y[i] = x[i] * (float)(i / (s->dim[2] * s->dim[3]) % s->dim[1]);
    return MXC_OK;
}

static const mxc_op_def number = {
    .size = sizeof number,
    .name = "t_number_channels",
    .doc = "out = data times the number of the channel",
    .args = "data",
    .params = number_schema,
    .param_size = sizeof(number_params),
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .to_channels_second = to_channels_second,
    .forward = {[MXC_CPU] = number_forward},
};

static void test_layout(void **state) {
    const int64_t dims[] = {2, 1, 2, 3}; /* (N,H,W,C) */
    const char *key = "last", *value = "True";
    float data[12], out_data[12];
    mxc_ndarray *in, *out = NULL;
    (void)state;
    for (int i = 0; i < 12; i++)
        data[i] = (float)(i + 1);
    assert_ok(mxc_ndarray_from_data(4, dims, MXC_F32, data, &in));
    assert_ok(mxc_invoke("t_number_channels", 1, &in, 1, &key, &value, 1, &out));
    assert_ok(mxc_ndarray_get(out, out_data, sizeof out_data));
    for (int i = 0; i < 12; i++)
        assert_true(out_data[i] == data[i] * (float)(i % 3));
    mxc_ndarray_release(in);
    mxc_ndarray_release(out);
}

/* ---- the same where forward computes both layouts, and backward channels second only ----------------------------- */

static int backward_second(const void *params, mxc_pass pass, void *out) {
    return to_channels_second(params, pass, out) && pass == MXC_BACKWARD;
}

static mxc_status both_forward(const mxc_op_call *call) {
    if (!((const number_params *)call->params)->last)
        return number_forward(call);
    const mxc_shape *s = &call->in[0].shape;
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    for (int64_t i = 0; i < mxc_shape_size(s); i++)
        y[i] = x[i] * (float)(i % s->dim[3]);
    return MXC_OK;
}

static mxc_status both_backward(const mxc_op_call *call) {
    const mxc_tensor gradient = call->in_grad[0];
    mxc_op_call again = *call;
    again.in = call->out_grad, again.out = &gradient;
    return number_forward(&again);
}

static const mxc_op_def both = {
    .size = sizeof both,
    .name = "t_number_both",
    .doc = "out = data times the number of the channel",
    .args = "data",
    .params = number_schema,
    .param_size = sizeof(number_params),
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .to_channels_second = backward_second,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = both_forward},
    .backward = {[MXC_CPU] = both_backward},
};

static void test_layout_of_a_pass(void **state) {
    const int64_t dims[] = {2, 1, 2, 3};
    const char *key = "last", *value = "True";
    float data[12], out_data[12], grad_data[12];
    mxc_ndarray *in, *out = NULL, *grad;
    mxc_op *op;
    (void)state;
    for (int i = 0; i < 12; i++)
        data[i] = (float)(i + 1);
    assert_ok(mxc_op_create("t_number_both", 1, &key, &value, &op));
    assert_ok(mxc_ndarray_from_data(4, dims, MXC_F32, data, &in));
    assert_ok(mxc_ndarray_from_data(4, dims, MXC_F32, data, &grad));
    assert_ok(mxc_op_invoke(op, 1, &in, 1, &out, NULL, 1));
    assert_ok(mxc_op_invoke_backward(op, &in, &in, &out, &grad, NULL));
    assert_ok(mxc_ndarray_get(out, out_data, sizeof out_data));
    assert_ok(mxc_ndarray_get(grad, grad_data, sizeof grad_data));
    for (int i = 0; i < 12; i++) {
        assert_true(out_data[i] == data[i] * (float)(i % 3));
        assert_true(grad_data[i] == out_data[i]);
    }
    mxc_ndarray_release(in);
    mxc_ndarray_release(out);
    mxc_ndarray_release(grad);
    mxc_op_release(op);
}

static void test_refused(void **state) {
    mxc_op_def bad = number;
    (void)state;
    bad.name = "t_large_params";
    bad.param_size = 4096;
    assert_int_equal(mxc_op_register(&bad), MXC_EINVAL);
    assert_non_null(strstr(mxc_last_error(), "param_size 4096"));
    bad = square;
    bad.name = "t_callback";
    bad.flags = MXC_OP_CALLBACK;
    assert_int_equal(mxc_op_register(&bad), MXC_EINVAL);
    assert_non_null(strstr(mxc_last_error(), "cpu_dtypes"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtype),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_layout_of_a_pass),
        cmocka_unit_test(test_refused),
    };
    assert_ok(mxc_op_register(&square));
    assert_ok(mxc_op_register(&number));
    assert_ok(mxc_op_register(&both));
    return cmocka_run_group_tests(tests, NULL, NULL);
}

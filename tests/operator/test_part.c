/* SPDX-License-Identifier: Apache-2.0 */
/* Operators in parts: implementations registered apart from the descriptor, and libraries that have them. */
#include "support.h"

#include <mxc/executor.h>
#include <mxc/op.h>

#include "base/sys.h"

typedef struct part_params {
    double by;
} part_params;

static const mxc_param schema[] = {
    MXC_PARAM(part_params, by, MXC_PARAM_FLOAT, "2", "Factor."),
    MXC_PARAM_END,
};

static mxc_status scale(const mxc_op_call *call) {
    const double by = ((const part_params *)call->params)->by;
    for (int64_t i = 0; i < mxc_shape_size(&call->in[0].shape); i++)
        ((float *)call->out[0].data)[i] = (float)by * ((const float *)call->in[0].data)[i];
    return MXC_OK;
}

static mxc_status scale_backward(const mxc_op_call *call) {
    const double by = ((const part_params *)call->params)->by;
    for (int64_t i = 0; i < mxc_shape_size(&call->in_grad[0].shape); i++)
        ((float *)call->in_grad[0].data)[i] = (float)by * ((const float *)call->out_grad[0].data)[i];
    return MXC_OK;
}

/* Without any implementation of its own; those of t_parts come from a library, those of t_scaled from this program. */
static const mxc_op_def parts = {
    .size = sizeof parts,
    .name = "t_parts",
    .doc = "data + 1",
    .flags = MXC_OP_PARTS,
    .version = 3,
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
};
static const mxc_op_def scaled = {
    .size = sizeof scaled,
    .name = "t_scaled",
    .aliases = "t_scaled_too",
    .doc = "by data",
    .flags = MXC_OP_PARTS,
    .version = 1,
    .params = schema,
    .param_size = sizeof(part_params),
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .needs = {.out_grad = 1},
};
static const mxc_op_def whole = {
    .size = sizeof whole,
    .name = "t_whole",
    .doc = "2 data",
    .params = schema,
    .param_size = sizeof(part_params),
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .needs = {.out_grad = 1},
    .forward = MXC_ON_CPU(scale),
    .backward = MXC_ON_CPU(scale_backward),
};

static const mxc_op_part good = {
    .size = sizeof good,
    .op = "t_scaled",
    .device = MXC_CPU,
    .version = 1,
    .param_size = sizeof(part_params),
    .forward = scale,
    .backward = scale_backward,
};

static mxc_ndarray *ones(void) {
    const int64_t n = 2;
    const float values[] = {1, 1};
    mxc_ndarray *array;
    assert_ok(mxc_ndarray_from_data(1, &n, MXC_F32, values, &array));
    return array;
}

static void expect(const char *op, float expected) {
    mxc_ndarray *in = ones(), *out;
    float found[2];
    assert_ok(mxc_invoke(op, 1, &in, 0, NULL, NULL, 1, &out));
    assert_ok(mxc_ndarray_get(out, found, sizeof found));
    assert_true(found[0] == expected && found[1] == expected);
    mxc_ndarray_release(in);
    mxc_ndarray_release(out);
}

static mxc_symbol *symbol_of(const char *op) {
    mxc_symbol *x, *y;
    assert_ok(mxc_symbol_variable("x", &x));
    assert_ok(mxc_symbol_op(op, "y", 0, NULL, NULL, 1, NULL, &x, &y));
    mxc_symbol_release(x);
    return y;
}

static void missing_parts_are_named(void **state) {
    mxc_ndarray *in = ones(), *out;
    mxc_symbol *net = symbol_of("t_scaled");
    mxc_executor *executor;
    (void)state;
    assert_int_equal(mxc_op_place(&scaled, MXC_CPU, MXC_FORWARD), MXC_PLACE_NONE);
    assert_fails(mxc_invoke("t_scaled", 1, &in, 0, NULL, NULL, 1, &out), MXC_EDEVICE,
                 "t_scaled: is not implemented on cpu(0); no part for this device is registered");
    assert_fails(mxc_executor_bind(net, NULL, &in, NULL, NULL, NULL, &executor), MXC_EDEVICE,
                 "operator t_scaled (node y) is not implemented on cpu(0); no part");
    mxc_symbol_release(net);
    mxc_ndarray_release(in);
}

static void refuse(mxc_op_part part, mxc_status status, const char *message) {
    assert_fails(mxc_op_register_part(&part), status, message);
}

static void wrong_parts_are_refused(void **state) {
    mxc_op_part part = good;
    (void)state;
    part.size = 8;
    refuse(part, MXC_EINVAL, "size is 8, expected");
    part = good, part.op = NULL;
    refuse(part, MXC_EINVAL, "op must not be NULL");
    part = good, part.op = "t_scalde";
    refuse(part, MXC_ENOTFOUND, "no operator is called 't_scalde': register its descriptor");
    part = good, part.device = MXC_CPU_PINNED;
    refuse(part, MXC_EINVAL, "device is 3, expected MXC_CPU or MXC_GPU");
    part = good, part.version = 2;
    refuse(part, MXC_EINVAL, "t_scaled on cpu is of version 2, expected 1");
    part = good, part.param_size = 4;
    refuse(part, MXC_EINVAL, "reads parameters of 4 bytes, expected 8");
    part = good, part.forward = NULL;
    refuse(part, MXC_EINVAL, "t_scaled on cpu has no forward function");
    part = good, part.op = "t_whole", part.version = 0;
    refuse(part, MXC_EEXIST, "t_whole has an implementation on cpu already");
    assert_fails(mxc_op_register_part(NULL), MXC_EINVAL, "part must not be NULL");
    assert_int_equal(mxc_op_place(&scaled, MXC_CPU, MXC_FORWARD), MXC_PLACE_NONE);
}

/* By the name that users know, and with a gradient through an executor. */
static void a_part_computes(void **state) {
    mxc_ndarray *x = ones(), *dx = ones(), *head = ones();
    mxc_symbol *net = symbol_of("t_scaled_too");
    mxc_executor *executor;
    float found[2];
    (void)state;
    mxci_test_fail_alloc(1, 0);
    assert_fails(mxc_op_register_part(&good), MXC_ENOMEM, "t_scaled");
    mxci_test_fail_alloc(0, 0);
    assert_ok(mxc_op_register_part(&good));
    assert_fails(mxc_op_register_part(&good), MXC_EEXIST, "t_scaled has an implementation on cpu already");
    assert_int_equal(mxc_op_place(&scaled, MXC_CPU, MXC_BACKWARD), MXC_PLACE_DEVICE);
    expect("t_scaled", 2);
    assert_ok(mxc_executor_bind(net, NULL, &x, &dx, NULL, NULL, &executor));
    assert_ok(mxc_executor_forward(executor, 1));
    assert_ok(mxc_executor_backward(executor, 1, &head));
    assert_ok(mxc_ndarray_get(dx, found, sizeof found));
    assert_true(found[0] == 2 && found[1] == 2);
    mxc_executor_destroy(executor);
    mxc_symbol_release(net);
    mxc_ndarray_release(x);
    mxc_ndarray_release(dx);
    mxc_ndarray_release(head);
}

static void libraries_are_loaded(void **state) {
    const char *const good_library = LIBRARIES "/libtest_op_library_GOOD.so";
    mxc_ndarray *in = ones(), *out;
    (void)state;
    assert_fails(mxc_op_load(NULL), MXC_EINVAL, "path must not be NULL");
    assert_fails(mxc_op_load("libtest_op_library_GOOD.so"), MXC_EINVAL, "absolute");
    assert_fails(mxc_op_load(LIBRARIES "/absent.so"), MXC_ENOTFOUND, "absent.so");
    assert_fails(mxc_op_load(LIBRARIES "/libtest_op_library_FOREIGN.so"), MXC_EINVAL, "is not a library of operators");
    assert_fails(mxc_op_load(LIBRARIES "/libtest_op_library_OLD.so"), MXC_EINVAL, "compiled for version 1 of libmxc");
    for (int again = 0; again < 2; again++) /* a library that failed is not loaded */
        assert_fails(mxc_op_load(LIBRARIES "/libtest_op_library_FAILING.so"), MXC_ENOTFOUND, "'t_absent'");
    assert_fails(mxc_invoke("t_parts", 1, &in, 0, NULL, NULL, 1, &out), MXC_EDEVICE, "mxc_op_load");
    mxci_test_fail_alloc(1, 0);
    assert_fails(mxc_op_load(good_library), MXC_ENOMEM, "libtest_op_library_GOOD");
    mxci_test_fail_alloc(0, 0);
    assert_ok(mxc_op_load(good_library));
    expect("t_parts", 2);
    assert_fails(mxc_op_load(good_library), MXC_EEXIST, "is loaded already");
    mxc_ndarray_release(in);
}

static int register_operators(void **state) {
    (void)state;
    return mxc_op_register(&parts) != MXC_OK || mxc_op_register(&scaled) != MXC_OK || mxc_op_register(&whole) != MXC_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_parts_are_named),
        cmocka_unit_test(wrong_parts_are_refused),
        cmocka_unit_test(a_part_computes),
        cmocka_unit_test(libraries_are_loaded),
    };
    return cmocka_run_group_tests(tests, register_operators, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Merging what is known into slots, and the words of a conflict: operator, slot, expected, found. */
#include "support.h"

#include <mxc/op.h>

typedef struct known {
    mxc_op *op;
    mxc_op_sig sig;
    mxc_shape in_shape[4], out_shape[4], aux_shape[4];
    mxc_dtype in_type[4], out_type[4], aux_type[4];
} known;

static mxc_shape shape_of(int ndim, int64_t a, int64_t b, int64_t c) {
    return (mxc_shape){.ndim = ndim, .dim = {a, b, c}};
}

/* Nothing known of one use of an operator. */
static void open_sig_given(known *k, const char *name, int n, const char *const *keys, const char *const *values) {
    memset(k, 0, sizeof *k);
    assert_ok(mxc_op_create(name, n, keys, values, &k->op));
    k->sig = (mxc_op_sig){.op = k->op,
                          .params = mxc_op_params(k->op),
                          .n_in = mxc_op_n_args(k->op),
                          .n_out = mxc_op_n_outputs(k->op),
                          .n_aux = mxc_op_n_aux(k->op),
                          .in_shape = k->in_shape,
                          .out_shape = k->out_shape,
                          .aux_shape = k->aux_shape,
                          .in_type = k->in_type,
                          .out_type = k->out_type,
                          .aux_type = k->aux_type};
    for (int i = 0; i < 4; i++) {
        k->in_shape[i].ndim = k->out_shape[i].ndim = k->aux_shape[i].ndim = -1;
        k->in_type[i] = k->out_type[i] = k->aux_type[i] = MXC_DTYPE_UNKNOWN;
    }
}

static void open_sig(known *k, const char *name, const char *key, const char *value) {
    open_sig_given(k, name, key != NULL, &key, &value);
}

static void expect_shape(const mxc_shape *found, const char *expected) {
    char text[MXC_SHAPE_TEXT];
    assert_string_equal(mxc_shape_format(found, text, sizeof text), expected);
}

static void test_merge(void **state) {
    mxc_shape rows = shape_of(2, 4, -1, 0), columns = shape_of(2, -1, 5, 0), unknown = {.ndim = -1};
    known k;
    (void)state;
    open_sig(&k, "BatchNorm", NULL, NULL);
    assert_ok(mxc_sig_set_shape(&k.sig, 0, &unknown));
    assert_int_equal(k.in_shape[0].ndim, -1);
    assert_ok(mxc_sig_set_shape(&k.sig, 0, &rows));
    expect_shape(&k.in_shape[0], "(4,?)");
    assert_ok(mxc_sig_set_shape(&k.sig, 0, &columns));
    expect_shape(&k.in_shape[0], "(4,5)");
    assert_ok(mxc_sig_set_type(&k.sig, 0, MXC_DTYPE_UNKNOWN));
    assert_ok(mxc_sig_set_type(&k.sig, 0, MXC_F64));
    assert_int_equal(k.in_type[0], MXC_F64);
    mxc_op_release(k.op);
}

/* A conflict leaves the slot as it was. */
static void test_conflicts(void **state) {
    mxc_shape three = shape_of(1, 3, 0, 0), four = shape_of(1, 4, 0, 0), matrix = shape_of(2, 3, 1, 0);
    known k;
    (void)state;
    open_sig(&k, "BatchNorm", NULL, NULL);
    assert_ok(mxc_sig_set_shape(&k.sig, 1, &three));
    assert_fails(mxc_sig_set_shape(&k.sig, 1, &four), MXC_ESHAPE,
                 "BatchNorm: argument 'gamma': expected shape (4,), found (3,)");
    assert_fails(mxc_sig_set_shape(&k.sig, 1, &matrix), MXC_ESHAPE, "expected shape (3,1), found (3,)");
    expect_shape(&k.in_shape[1], "(3,)");
    assert_ok(mxc_sig_set_shape(&k.sig, MXC_SLOT_OUT(2), &three));
    assert_fails(mxc_sig_set_shape(&k.sig, MXC_SLOT_OUT(2), &four), MXC_ESHAPE, "BatchNorm: output 'var'");
    assert_ok(mxc_sig_set_shape(&k.sig, MXC_SLOT_AUX(0), &three));
    assert_fails(mxc_sig_set_shape(&k.sig, MXC_SLOT_AUX(0), &four), MXC_ESHAPE,
                 "BatchNorm: auxiliary state 'moving_mean'");
    assert_ok(mxc_sig_set_type(&k.sig, 2, MXC_F32));
    assert_fails(mxc_sig_set_type(&k.sig, 2, MXC_F64), MXC_EDTYPE,
                 "BatchNorm: argument 'beta': expected dtype float64, found float32");
    assert_int_equal(k.in_type[2], MXC_F32);
    assert_fails(mxc_sig_fail(&k.sig, "no %s at all", "sense"), MXC_ESHAPE, "BatchNorm: no sense at all");
    mxc_op_release(k.op);
}

static void test_operators_say_what_is_wrong(void **state) {
    known k;
    (void)state;
    open_sig(&k, "FullyConnected", "num_hidden", "3");
    k.in_shape[0] = shape_of(2, 8, 5, 0);
    k.in_shape[1] = shape_of(2, 4, 5, 0);
    assert_fails(mxc_op_infer_shape(&k.sig), MXC_ESHAPE,
                 "FullyConnected: argument 'weight': expected shape (3,5), found (4,5)");
    k.in_type[0] = MXC_F32;
    k.in_type[1] = MXC_F64;
    assert_fails(mxc_op_infer_type(&k.sig), MXC_EDTYPE,
                 "FullyConnected: argument 'weight': expected dtype float32, found float64");
    k.in_type[0] = k.in_type[1] = MXC_I32;
    assert_fails(mxc_op_infer_type(&k.sig), MXC_EDTYPE, "dtype int32 is not supported, expected one of float32");
    mxc_op_release(k.op);
}

/* Shapes with no function of their own: all one, from any side, and types too. */
static void test_one_shape_for_all(void **state) {
    known k;
    (void)state;
    open_sig(&k, "_maximum", NULL, NULL);
    k.out_shape[0] = shape_of(2, 3, -1, 0);
    k.in_shape[1] = shape_of(2, -1, 7, 0);
    k.out_type[0] = MXC_F16;
    assert_ok(mxc_op_infer_shape(&k.sig));
    assert_ok(mxc_op_infer_type(&k.sig));
    expect_shape(&k.in_shape[0], "(3,7)");
    expect_shape(&k.in_shape[1], "(3,7)");
    expect_shape(&k.out_shape[0], "(3,7)");
    assert_int_equal(k.in_type[1], MXC_F16);
    mxc_op_release(k.op);
}

/* amp_cast and amp_multicast convert between float32 and 16 bits only; other dtypes stay. */
static void test_amp_types(void **state) {
    static const char *const keys[] = {"num_outputs", "cast_narrow"};
    static const struct {
        const char *narrow;
        mxc_dtype in[3], out[3];
    } rows[] = {
        {"False", {MXC_F16, MXC_F32, MXC_F16}, {MXC_F32, MXC_F32, MXC_F32}},
        {"True", {MXC_F16, MXC_F32, MXC_F32}, {MXC_F16, MXC_F16, MXC_F16}},
        {"True", {MXC_F32, MXC_BF16, MXC_F32}, {MXC_BF16, MXC_BF16, MXC_BF16}},
        {"False", {MXC_F16, MXC_F16, MXC_F16}, {MXC_F16, MXC_F16, MXC_F16}},
        {"False", {MXC_F16, MXC_BF16, MXC_F16}, {MXC_F32, MXC_F32, MXC_F32}},
        {"False", {MXC_F32, MXC_F64, MXC_F16}, {MXC_F32, MXC_F64, MXC_F32}},
        {"False", {MXC_I32, MXC_F16, MXC_F32}, {MXC_I32, MXC_F32, MXC_F32}},
        {"True", {MXC_I32, MXC_I64, MXC_U8}, {MXC_I32, MXC_I64, MXC_U8}},
    };
    known k;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *values[] = {"3", rows[i].narrow};
        open_sig_given(&k, "amp_multicast", 2, keys, values);
        for (int j = 0; j < 3; j++)
            k.in_type[j] = rows[i].in[j];
        assert_ok(mxc_op_infer_type(&k.sig));
        for (int j = 0; j < 3; j++)
            assert_int_equal(k.out_type[j], rows[i].out[j]);
        mxc_op_release(k.op);
        open_sig(&k, "amp_cast", "dtype", "float16");
        k.in_type[0] = rows[i].in[0];
        assert_ok(mxc_op_infer_type(&k.sig));
        assert_int_equal(k.out_type[0], rows[i].in[0] == MXC_F32 ? MXC_F16 : rows[i].in[0]);
        mxc_op_release(k.op);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_operators_say_what_is_wrong),
        cmocka_unit_test(test_one_shape_for_all),
        cmocka_unit_test(test_amp_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

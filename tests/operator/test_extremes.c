/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose arrays or parameters are far from ordinary and which end at once all the same: arrays without elements
 * whose other axes are huge, and parameters far larger than the data. */
#include "support.h"

#include "operator/driver.h"

/* Forward and backward of an operator on arrays of ones; in as in the cases. Where out is not NULL, output 0's elements
 * are out, and gradient (of input 0, for gradients of ones) likewise. */
static void run(const char *name, const char *params, const char *in, const double *out, const double *gradient) {
    case_params given;
    case_input inputs[CASE_SLOTS];
    mxc_ndarray *arrays[CASE_SLOTS] = {NULL}, *outs[CASE_SLOTS] = {NULL}, *ones[CASE_SLOTS], *grads[CASE_SLOTS];
    int n = case_parse_inputs(in, inputs), n_out;
    double *values;
    mxc_op *op;
    case_parse_params(params, &given);
    assert_ok(mxc_op_create(name, given.n, given.keys, given.values, &op));
    n_out = mxc_op_n_outputs(op);
    for (int i = 0; i < n; i++) {
        assert_ok(mxc_ndarray_create(inputs[i].shape.ndim, inputs[i].shape.dim, MXC_F32, mxc_cpu(0), &arrays[i]));
        assert_ok(mxc_ndarray_fill(arrays[i], 1));
        assert_ok(mxc_ndarray_create(inputs[i].shape.ndim, inputs[i].shape.dim, MXC_F32, mxc_cpu(0), &grads[i]));
    }
    assert_ok(mxc_op_invoke(op, n, arrays, n_out, outs, NULL, 1));
    for (int i = 0; i < n_out; i++) {
        assert_ok(mxc_ndarray_wait_to_read(outs[i]));
        assert_ok(mxc_ndarray_copy(outs[i], mxc_cpu(0), mxc_ndarray_dtype(outs[i]), &ones[i]));
        assert_ok(mxc_ndarray_fill(ones[i], 1));
    }
    values = values_of(outs[0]);
    for (int64_t i = 0; out && i < mxc_ndarray_size(outs[0]); i++)
        assert_true(values[i] == out[i]);
    free(values);
    assert_ok(mxc_op_invoke_backward(op, ones, arrays, outs, grads, NULL));
    values = values_of(grads[0]);
    for (int64_t i = 0; gradient && i < mxc_ndarray_size(grads[0]); i++)
        assert_true(values[i] == gradient[i]);
    free(values);
    for (int i = 0; i < n; i++) {
        assert_ok(mxc_ndarray_wait_to_read(grads[i]));
        mxc_ndarray_release(grads[i]);
        mxc_ndarray_release(arrays[i]);
    }
    for (int i = 0; i < n_out; i++) {
        mxc_ndarray_release(ones[i]);
        mxc_ndarray_release(outs[i]);
    }
    mxc_op_release(op);
}

/* 1099511627776 is 2^40. */
static void test_huge_axes_without_elements(void **state) {
    (void)state;
    run("SequenceMask", "", "1099511627776x2x0", NULL, NULL);
    run("SequenceReverse", "", "1099511627776x2x0", NULL, NULL);
    run("SequenceLast", "", "1099511627776x2x0", NULL, NULL);
    run("L2Normalization", "", "1099511627776x0", NULL, NULL);
    run("L2Normalization", "mode=spatial", "0x1099511627776x2", NULL, NULL);
    run("GroupNorm", "num_groups=2", "0x4x1099511627776 4 4", NULL, NULL);
    run("scaled_dot_product_attention", "causal=True", "2x4x0 2x1099511627776x0 2x1099511627776x0", NULL, NULL);
    run("linalg_potrf", "", "1099511627776x0x0", NULL, NULL);
    run("transpose", "", "1099511627776x0x3", NULL, NULL);
    run("softmax", "", "1099511627776x0", NULL, NULL);
    run("Concat", "num_args=2 dim=1", "1099511627776x0 1099511627776x0", NULL, NULL);
}

/* Outputs that have elements although what they are made of has none. */
static void test_sums_over_nothing(void **state) {
    const double nothing[] = {0, 0, 0};
    (void)state;
    run("sum", "", "1099511627776x0", nothing, NULL);
    run("sum", "axis=(0,2)", "1099511627776x3x0", nothing, NULL);
    run("sum", "axis=(1,2)", "3x0x1099511627776", nothing, NULL);
    run("norm", "", "1099511627776x0", nothing, NULL);
    run("prod", "", "0x1099511627776", (double[]){1}, NULL);
    run("BatchNorm", "fix_gamma=False", "1099511627776x3x0 3 3 3 3", NULL, NULL);
    run("RNN", "state_size=2 num_layers=1 mode=rnn_tanh", "1099511627776x0x3 14 1x0x2", NULL, NULL);
    run("SequenceMask", "use_sequence_length=true axis=1", "8x1099511627776x0 8", NULL, NULL);
}

/* Windows that are far larger than the data, and each of which holds all of it. */
static void test_windows_larger_than_data(void **state) {
    const double ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, fours[4] = {4, 4, 4, 4};
    const double sixteens[4] = {16, 16, 16, 16}, first[4] = {16, 0, 0, 0};
    (void)state;
#define LARGE "kernel=(2147483647,2147483647) pad=(1073741824,1073741824) "
    double sums[16];
    for (int i = 0; i < 16; i++)
        sums[i] = 4;
    run("Pooling", LARGE "pool_type=sum", "1x1x2x2", sums, sixteens);
    run("Pooling", LARGE "pool_type=max", "1x1x2x2", ones, first);
    run("Pooling", "kernel=(1073741824,1073741824) pad=(536870912,536870912) stride=(32768,32768) pool_type=sum",
        "1x1x2x2", fours, ones);
    run("Pooling",
        "kernel=(1073741824,1073741824,1073741824) pad=(536870912,536870912,536870912) "
        "stride=(32768,32768,32768) pool_type=avg",
        "1x1x2x2x2", NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_huge_axes_without_elements),
        cmocka_unit_test(test_sums_over_nothing),
        cmocka_unit_test(test_windows_larger_than_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

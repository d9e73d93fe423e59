/* SPDX-License-Identifier: Apache-2.0 */
/* Rewriting a network for mixed precision: which variables are in 16 bits, and which are not. */
#include "rewrite/mixed_precision.h"
#include "train/toy.h"

static mxc_dtype arg_type(const mxc_symbol *symbol, const mxc_inferred *inferred, const char *name) {
    mxc_names args;
    assert_ok(mxc_symbol_list_arguments(symbol, &args));
    int64_t at = mxc_names_find(&args, name);
    mxc_names_release(&args);
    return at < 0 ? MXC_DTYPE_UNKNOWN : inferred->arg_types[at];
}

static void test_lowered(void **state) {
    static const char *const fed[] = {"data", "softmax_label"}, *const names[] = {"data"};
    const mxc_shape shape = {.ndim = 2, .dim = {TOY_BATCH, TOY_WIDTH}};
    const mxc_dtype type = MXC_F32;
    const mxci_mixed_precision p = {.dtype = MXC_F16, .is_scaled = 1, .n_fed = 2, .fed = fed};
    mxc_symbol *net, *low;
    mxc_inferred inferred;
    (void)state;
    assert_ok(toy_net("8", &net));
    assert_ok(mxci_mixed_precision_rewrite(&p, net, &low));
    assert_ok(mxc_symbol_infer(low, 1, names, &shape, &type, &inferred));
    assert_int_equal(arg_type(low, &inferred, "fc1_weight"), MXC_F16);
    assert_int_equal(arg_type(low, &inferred, "fc2_bias"), MXC_F16);
    assert_int_equal(arg_type(low, &inferred, "bn_gamma"), MXC_F32);
    assert_int_equal(arg_type(low, &inferred, "softmax_label"), MXC_F32);
    assert_int_equal(arg_type(low, &inferred, MXCI_LOSS_SCALE), MXC_F32);
    assert_int_equal(inferred.output_types[0], MXC_F32);
    assert_int_equal(inferred.aux_types[0], MXC_F32);
    mxc_inferred_release(&inferred);
    mxc_symbol_release(low);
    mxc_symbol_release(net);
}

/* Indices keep their dtype, and so does a weight that is read in f32. */
static void test_not_lowered(void **state) {
    static const char *const fed[] = {"data", "softmax_label"}, *const names[] = {"data"};
    static const char *const keys[] = {"input_dim", "output_dim"}, *const values[] = {"50000", "4"};
    const mxc_shape shape = {.ndim = 1, .dim = {3}};
    const mxc_dtype type = MXC_F32;
    const mxci_mixed_precision p = {.dtype = MXC_BF16, .n_fed = 2, .fed = fed};
    mxc_symbol *x, *low, *in;
    mxc_inferred inferred;
    (void)state;
    assert_ok(mxc_symbol_variable("data", &in));
    assert_ok(mxc_symbol_op("Embedding", "embed", 2, keys, values, 1, NULL, &in, &x));
    mxc_symbol_release(in);
    assert_ok(toy_layer("FullyConnected", "fc", "num_hidden", "3", &x));
    assert_ok(toy_layer("SoftmaxOutput", "softmax", NULL, NULL, &x));
    assert_ok(mxci_mixed_precision_rewrite(&p, x, &low));
    assert_ok(mxc_symbol_infer(low, 1, names, &shape, &type, &inferred));
    assert_int_equal(arg_type(low, &inferred, "data"), MXC_F32);
    assert_int_equal(arg_type(low, &inferred, "embed_weight"), MXC_F32);
    assert_int_equal(arg_type(low, &inferred, "fc_weight"), MXC_BF16);
    assert_int_equal(arg_type(low, &inferred, MXCI_LOSS_SCALE), MXC_DTYPE_UNKNOWN); /* there is none */
    mxc_inferred_release(&inferred);
    mxc_symbol_release(low);
    mxc_symbol_release(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lowered),
        cmocka_unit_test(test_not_lowered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

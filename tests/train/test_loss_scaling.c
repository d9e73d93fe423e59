/* SPDX-License-Identifier: Apache-2.0 */
/* Training in 16 bits: what is rewritten, that it learns as in f32, and steps that are skipped. */
#include <math.h>

#include "base/sys.h"
#include "rewrite/mixed_precision.h"
#include "train/toy.h"

/* ---- the rewritten network --------------------------------------------------------------------------------------- */

static mxc_dtype arg_type(const mxc_symbol *symbol, const mxc_inferred *inferred, const char *name) {
    mxc_names args;
    assert_ok(mxc_symbol_list_arguments(symbol, &args));
    int64_t at = mxc_names_find(&args, name);
    mxc_names_release(&args);
    return at < 0 ? MXC_DTYPE_UNKNOWN : inferred->arg_types[at];
}

static void test_what_is_lowered(void **state) {
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

/* Indices stay whole, and a weight that is also read in f32 is cast where it is not. */
static void test_what_is_not_lowered(void **state) {
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

/* ---- training ---------------------------------------------------------------------------------------------------- */

static void fit(const char *dtype, const char *scale, int n_contexts, mxc_fit_progress *result,
                mxc_ndarray_list *params) {
    const mxc_context contexts[] = {mxc_cpu(0), mxc_cpu(1)};
    toy t;
    assert_ok(toy_open(&t, "8"));
    t.options.epochs = 10;
    t.options.schedule.total = 120;
    t.options.dtype = dtype;
    t.options.loss_scale = scale;
    t.options.n_contexts = n_contexts;
    t.options.contexts = contexts;
    assert_ok(mxc_fit(&t.options, result, params));
    toy_close(&t);
}

static void test_learns(void **state) {
    static const char *const dtypes[] = {"float32", "float16", "bfloat16"};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int contexts = 1; contexts <= 2; contexts++) {
            mxc_fit_progress result;
            mxc_ndarray_list params;
            fit(dtypes[i], NULL, contexts, &result, &params);
            assert_true(result.valid_accuracy > 0.95);
            assert_true(result.valid_loss < 0.4);
            assert_true(i == 1 ? result.loss_scale >= 1024 && result.loss_scale < 65536 : result.loss_scale == 0);
            assert_int_equal(params.n, 6 + 2);
            assert_int_equal(mxc_ndarray_dtype(mxc_ndarray_list_find(&params, "arg:fc1_weight")), MXC_F32);
            mxc_ndarray_list_release(&params);
        }
}

/* A power of two changes no bit of f32. */
static void test_scale_leaves_f32(void **state) {
    mxc_fit_progress plain, scaled;
    mxc_ndarray_list a, b;
    (void)state;
    fit(NULL, NULL, 1, &plain, &a);
    fit("float32", "1024", 1, &scaled, &b);
    assert_true(plain.loss == scaled.loss && scaled.loss_scale == 1024);
    toy_expect_same(&a, &b);
    mxc_ndarray_list_release(&a);
    mxc_ndarray_list_release(&b);
}

typedef struct watch {
    const mxc_fit_options *options;
    int steps;
} watch;

static mxc_status stop_after(const mxc_fit_progress *progress, int epoch_end, void *user) {
    watch *w = user;
    (void)progress;
    if (!epoch_end && --w->steps == 0)
        *w->options->stop = 1;
    return MXC_OK;
}

/* Gradients of 16 bits times this are too large: no step is made. */
static void test_skips(void **state) {
    static const char *const keys[] = {"momentum"}, *const values[] = {"0.9"};
    volatile int stop = 0;
    mxc_fit_progress result;
    mxc_ndarray_list first, later;
    toy t;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    watch w = {&t.options, 1};
    t.options.dtype = "float16";
    t.options.loss_scale = "1e7"; /* more than 65504, whatever the gradient is */
    t.options.n_optimizer_params = 1;
    t.options.optimizer_keys = keys;
    t.options.optimizer_values = values;
    t.options.stop = &stop;
    t.options.callback = stop_after;
    t.options.user = &w;
    assert_ok(mxc_fit(&t.options, &result, &first));
    assert_true(result.loss_scale == 1e7); /* it was given, so it stays */
    stop = 0;
    w.steps = 5;
    assert_ok(mxc_iter_reset(t.train));
    assert_ok(mxc_fit(&t.options, &result, &later));
    for (int64_t i = 0; i < first.n; i++) /* nothing moved but what BatchNorm measures */
        if (strncmp(first.names[i], "arg:", 4) == 0) {
            void *a, *b;
            assert_ok(mxc_ndarray_data(first.arrays[i], &a));
            assert_ok(mxc_ndarray_data(later.arrays[i], &b));
            assert_memory_equal(a, b, mxc_ndarray_bytes(first.arrays[i]));
        }
    mxc_ndarray_list_release(&first);
    mxc_ndarray_list_release(&later);
    toy_close(&t);
}

static void test_refusals(void **state) {
    toy t;
    (void)state;
    assert_ok(toy_open(&t, "8"));
    t.options.dtype = "int8";
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "expected float32, float16 or bfloat16");
    t.options.dtype = "float16";
    t.options.loss_scale = "much";
    assert_fails(mxc_fit(&t.options, NULL, NULL), MXC_EINVAL, "expected \"dynamic\" or a number");
    toy_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_lowered), cmocka_unit_test(test_what_is_not_lowered),
        cmocka_unit_test(test_learns),          cmocka_unit_test(test_scale_leaves_f32),
        cmocka_unit_test(test_skips),           cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

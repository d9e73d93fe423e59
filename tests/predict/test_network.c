/* SPDX-License-Identifier: Apache-2.0 */
/* Which parameters, inputs and outputs a predictor accepts, and networks rewritten for 16 and 8 bits. */
#include <math.h>

#include "predict/saved.h"

static saved net;
static float *data, *answer;
static mxc_data_desc input;

static int set_up(void **state) {
    (void)state;
    saved_open(&net);
    data = saved_data(1, 1);
    answer = saved_answer(&net, 1, data);
    input = saved_input(1);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(data);
    free(answer);
    saved_close(&net);
    return 0;
}

static mxc_predictor_options options_with(unsigned params_flags) {
    mxc_predictor_options options;
    mxc_predictor_options_init(&options, sizeof options);
    options.params_flags = params_flags;
    return options;
}

static mxc_status create(const mxc_ndarray_list *params, const mxc_predictor_options *options, mxc_predictor **out) {
    return mxc_predictor_create(net.symbol, params, 1, &input, options, out);
}

/* Loads, runs and compares. */
static void check_with(const mxc_ndarray_list *params, const mxc_predictor_options *options, double tolerance) {
    mxc_predictor *p;
    assert_ok(create(params, options, &p));
    saved_check(p, data, 1, answer, tolerance);
    mxc_predictor_destroy(p);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static void test_plain_and_prefixed_names(void **state) {
    mxc_ndarray_list plain = saved_plain(&net, NULL);
    (void)state;
    check_with(&net.params, NULL, 0);
    check_with(&plain, NULL, 0);
    plain.names[2] = net.params.names[2]; /* one of both kinds */
    check_with(&plain, NULL, 0);
    saved_free_list(&plain);
}

static void test_left_over_and_missing(void **state) {
    mxc_ndarray_list extra = saved_plain(&net, "fc9_weight"), fewer = saved_plain(&net, NULL);
    mxc_predictor_options options = options_with(MXC_PARAMS_ALLOW_EXTRA);
    mxc_predictor *p;
    (void)state;
    assert_fails(create(&extra, NULL, &p), MXC_EINVAL, "1 not of this network: \"fc9_weight\"");
    assert_null(p);
    check_with(&extra, &options, 0);
    fewer.n -= 2;
    assert_fails(create(&fewer, &options, &p), MXC_ENOTFOUND,
                 "2 missing: bn_moving_mean (auxiliary state), bn_moving_var (auxiliary state)");
    fewer.n += 2;
    fewer.names[0] = (char *)(uintptr_t) "kernel";
    assert_fails(create(&fewer, NULL, &p), MXC_ENOTFOUND, "conv_weight; not of this network: \"kernel\"");
    options = options_with(MXC_PARAMS_ALLOW_MISSING | MXC_PARAMS_ALLOW_EXTRA);
    assert_ok(create(&fewer, &options, &p)); /* the weight is zeros */
    assert_ok(mxc_predictor_forward(p));
    assert_ok(mxc_ndarray_wait_to_read(mxc_predictor_output(p, 0)));
    mxc_predictor_destroy(p);
    saved_free_list(&extra);
    saved_free_list(&fewer);
}

static void test_names_twice_and_arrays_that_are_none(void **state) {
    mxc_ndarray_list both = saved_plain(&net, NULL);
    mxc_predictor *p;
    (void)state;
    both.names[1] = both.names[0];
    assert_fails(create(&both, NULL, &p), MXC_EEXIST, "twice");
    both.names[1] = net.params.names[0];
    assert_fails(create(&both, NULL, &p), MXC_EEXIST, "both");
    both.names[1] = NULL;
    assert_fails(create(&both, NULL, &p), MXC_EINVAL, "NULL");
    both.names[1] = net.params.names[1];
    both.arrays[1] = NULL;
    assert_fails(create(&both, NULL, &p), MXC_EINVAL, "no array");
    saved_free_list(&both);
}

static void test_shapes_and_dtypes_that_disagree(void **state) {
    mxc_ndarray_list list = saved_plain(&net, NULL);
    mxc_predictor_options convert = options_with(MXC_PARAMS_CONVERT);
    mxc_ndarray *original, *half, *view;
    mxc_predictor *p;
    (void)state;
    for (int64_t i = 0; i < list.n; i++) {
        const mxc_shape *shape = mxc_ndarray_shape(list.arrays[i]);
        char name[64];
        original = list.arrays[i];
        snprintf(name, sizeof name, "\"%s\"", list.names[i]);
        assert_ok(mxc_ndarray_create(1, (int64_t[]){shape->dim[0] + 1}, MXC_F32, mxc_cpu(0), &view));
        list.arrays[i] = view;
        assert_fails(create(&list, NULL, &p), MXC_ESHAPE, name);
        mxc_ndarray_release(view);
        assert_ok(mxc_ndarray_copy(original, mxc_cpu(0), MXC_F16, &half));
        list.arrays[i] = half;
        assert_fails(create(&list, NULL, &p), MXC_EDTYPE, name);
        check_with(&list, &convert, 1e-2);
        mxc_ndarray_release(half);
        list.arrays[i] = original;
    }
    saved_free_list(&list);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static void test_inputs(void **state) {
    mxc_data_desc two[] = {saved_input(3), {"softmax_label", {-1, {0}}, MXC_DTYPE_UNKNOWN}}, bad = input;
    mxc_ndarray_list fewer = saved_plain(&net, NULL);
    mxc_predictor *p;
    (void)state;
    assert_ok(mxc_predictor_create(net.symbol, &net.params, 2, two, NULL, &p)); /* a label may be named */
    assert_int_equal(mxc_predictor_n_inputs(p), 2);
    assert_int_equal(mxc_ndarray_shape(mxc_predictor_input(p, 1))->dim[0], 3);
    mxc_predictor_destroy(p);
    two[1] = two[0];
    assert_fails(mxc_predictor_create(net.symbol, &net.params, 2, two, NULL, &p), MXC_EEXIST, "data");
    assert_fails(mxc_predictor_create(net.symbol, &net.params, 0, NULL, NULL, &p), MXC_ENOTFOUND, "1 missing: data");
    bad.name = "image";
    assert_fails(mxc_predictor_create(net.symbol, &net.params, 1, &bad, NULL, &p), MXC_ENOTFOUND, "\"image\"");
    bad = input;
    bad.dtype = (mxc_dtype)99;
    assert_fails(mxc_predictor_create(net.symbol, &net.params, 1, &bad, NULL, &p), MXC_EDTYPE, "99");
    bad = input;
    bad.shape.ndim = 9;
    assert_int_not_equal(mxc_predictor_create(net.symbol, &net.params, 1, &bad, NULL, &p), MXC_OK);
    bad.shape = (mxc_shape){.ndim = -1};
    assert_fails(mxc_predictor_create(net.symbol, &net.params, 1, &bad, NULL, &p), MXC_ESHAPE, "data");
    bad.shape = (mxc_shape){4, {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}};
    assert_int_not_equal(mxc_predictor_create(net.symbol, &net.params, 1, &bad, NULL, &p), MXC_OK);
    bad.shape = input.shape;
    bad.shape.dim[1] = 3;
    assert_fails(mxc_predictor_create(net.symbol, &net.params, 1, &bad, NULL, &p), MXC_ESHAPE, "\"arg:conv_weight\"");
    bad = input;
    bad.name = NULL; /* the only one */
    assert_ok(mxc_predictor_create(net.symbol, &net.params, 1, &bad, NULL, &p));
    assert_string_equal(mxc_predictor_input_name(p, 0), "data");
    saved_check(p, data, 1, answer, 0);
    mxc_predictor_destroy(p);
    two[0] = bad;
    two[1] = (mxc_data_desc){"conv_weight", {-1, {0}}, MXC_F32};
    fewer.arrays++; /* a parameter becomes an input */
    fewer.names++;
    fewer.n--;
    assert_ok(mxc_predictor_create(net.symbol, &fewer, 2, two, NULL, &p));
    assert_string_equal(mxc_predictor_input_name(p, 0), "data");
    assert_int_equal(mxc_ndarray_shape(mxc_predictor_input(p, 1))->dim[3], 3);
    mxc_predictor_destroy(p);
    two[1].name = NULL;
    assert_fails(mxc_predictor_create(net.symbol, &fewer, 2, two, NULL, &p), MXC_EINVAL, "found 2: data, conv_weight");
    assert_fails(mxc_predictor_create(net.symbol, &net.params, 2, two, NULL, &p), MXC_EEXIST, "\"data\"");
    fewer.arrays--;
    fewer.names--;
    fewer.names[0] = (char *)(uintptr_t) "x";
    assert_fails(mxc_predictor_create(net.symbol, &fewer, 1, &bad, NULL, &p), MXC_EINVAL,
                 "expected; found 2: data, conv_weight");
    saved_free_list(&fewer);
}

static void test_options(void **state) {
    struct {
        mxc_predictor_options options;
        uint64_t unknown;
    } newer = {options_with(0), 1};
    mxc_predictor_options options = options_with(0);
    mxc_predictor *p;
    (void)state;
    assert_int_equal(options.size, sizeof options);
    options.size = 3;
    assert_fails(create(&net.params, &options, &p), MXC_EINVAL, "mxc_predictor_options_init");
    newer.options.size = sizeof newer;
    assert_fails(create(&net.params, &newer.options, &p), MXC_EINVAL, "use a newer libmxc");
    mxc_predictor_options_init(&options, offsetof(mxc_predictor_options, dtype)); /* of an older version */
    options.dtype = (mxc_dtype)99;
    check_with(&net.params, &options, 0);
    options = options_with(1u << 30);
    assert_fails(create(&net.params, &options, &p), MXC_EINVAL, "params_flags");
    options = options_with(0);
    options.dtype = MXC_I32;
    assert_fails(create(&net.params, &options, &p), MXC_EINVAL, "int32");
    options = options_with(0);
    options.n_outputs = -1;
    assert_fails(create(&net.params, &options, &p), MXC_EINVAL, "-1");
    options = options_with(0);
    options.context = (mxc_context){77, 0};
    assert_int_not_equal(create(&net.params, &options, &p), MXC_OK);
    assert_null(p);
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

/* By the names of nodes and of outputs; the layers behind are not computed, and their parameters not left over. */
static void test_inner_outputs(void **state) {
    const char *names[] = {"relu", "conv_output"}, *absent[] = {"relu9"}, *both[] = {"softmax", "data", "relu"};
    mxc_predictor_options options = options_with(0);
    float inner[4 * 4 * 4], whole[4 * 4 * 4];
    mxc_predictor *p;
    (void)state;
    options.n_outputs = 2;
    options.outputs = names;
    assert_ok(create(&net.params, &options, &p));
    assert_int_equal(mxc_predictor_n_outputs(p), 2);
    assert_string_equal(mxc_predictor_output_name(p, 0), "relu_output");
    assert_string_equal(mxc_predictor_output_name(p, 1), "conv_output");
    assert_null(mxc_executor_find_arg(mxc_predictor_executor(p), "fc_weight"));
    assert_ok(mxc_predictor_set_input(p, "data", data, SAVED_SIZE * sizeof *data));
    assert_ok(mxc_predictor_forward(p));
    assert_ok(mxc_predictor_get_output(p, "relu", inner, sizeof inner));
    mxc_predictor_destroy(p);
    options.n_outputs = 3;
    options.outputs = both;
    assert_ok(create(&net.params, &options, &p));
    saved_check(p, data, 1, answer, 1e-6);
    assert_ok(mxc_predictor_get_output(p, "relu", whole, sizeof whole));
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        assert_true(fabsf(whole[i] - inner[i]) <= 1e-5f);
    assert_ptr_equal(mxc_predictor_find_output(p, "data"), mxc_predictor_input(p, 0));
    mxc_predictor_destroy(p);
    options.n_outputs = 1;
    options.outputs = absent;
    assert_fails(create(&net.params, &options, &p), MXC_ENOTFOUND,
                 "\"relu9\"; there are: softmax_output, fc_output, relu_output, bn_output, conv_output");
    absent[0] = NULL;
    assert_fails(create(&net.params, &options, &p), MXC_EINVAL, "NULL");
}

/* The outputs asked for do not depend on an input. */
static void test_input_that_is_not_read(void **state) {
    const mxc_data_desc two[] = {input, {"softmax_label", {1, {1}}, MXC_F32}};
    const mxc_data_desc unknown[] = {input, {"softmax_label", {-1, {0}}, MXC_F32}};
    const char *names[] = {"fc"};
    mxc_predictor_options options = options_with(0);
    const float label = 2;
    mxc_predictor *p, *clone;
    (void)state;
    options.n_outputs = 1;
    options.outputs = names;
    assert_ok(mxc_predictor_create(net.symbol, &net.params, 2, two, &options, &p));
    assert_ok(mxc_predictor_set_input(p, "softmax_label", &label, sizeof label));
    assert_ok(mxc_predictor_clone(p, &clone));
    assert_fails(mxc_predictor_reshape(clone, 1, names, &two[0].shape), MXC_ENOTFOUND, "data, softmax_label");
    assert_ok(mxc_predictor_reshape(clone, 1, &two[1].name, &(mxc_shape){1, {4}}));
    assert_int_equal(mxc_ndarray_size(mxc_predictor_input(clone, 1)), 4);
    mxc_predictor_destroy(p);
    mxc_predictor_destroy(clone);
    assert_ok(mxc_predictor_create(net.symbol, &net.params, 2, unknown, &options, &p));
    assert_null(mxc_predictor_input(p, 1));
    assert_fails(mxc_predictor_set_input(p, "softmax_label", &label, sizeof label), MXC_ENOTFOUND, "do not depend");
    mxc_predictor_destroy(p);
}

/* ---- rewriting --------------------------------------------------------------------------------------------------- */

static void test_folded_norms(void **state) {
    mxc_predictor_options options = options_with(0);
    mxc_ndarray_list plain = saved_plain(&net, NULL);
    mxc_predictor *p;
    (void)state;
    options.fold_norms = 1;
    check_with(&plain, &options, 1e-5);
    assert_ok(create(&plain, &options, &p));
    assert_non_null(mxc_executor_find_arg(mxc_predictor_executor(p), "conv_folded_weight"));
    assert_null(mxc_executor_find_arg(mxc_predictor_executor(p), "bn_gamma"));
    mxc_predictor_destroy(p);
    plain.n--;
    assert_fails(create(&plain, &options, &p), MXC_ENOTFOUND, "bn_moving_var");
    saved_free_list(&plain);
}

static void test_16_bits(void **state) {
    static const mxc_dtype dtypes[] = {MXC_F16, MXC_BF16};
    const char *names[] = {"fc", "softmax"};
    (void)state;
    for (int fold = 0; fold < 2; fold++)
        for (int i = 0; i < 2; i++) {
            mxc_predictor_options options = options_with(0);
            mxc_predictor *p;
            options.dtype = dtypes[i];
            options.fold_norms = fold;
            check_with(&net.params, &options, i ? 5e-2 : 5e-3);
            options.n_outputs = 2;
            options.outputs = names;
            assert_ok(create(&net.params, &options, &p));
            mxc_ndarray *weight = mxc_executor_find_arg(mxc_predictor_executor(p), "fc_weight");
            assert_int_equal(mxc_ndarray_dtype(weight), dtypes[i]);
            assert_int_equal(mxc_ndarray_dtype(mxc_predictor_input(p, 0)), MXC_F32);
            assert_int_equal(mxc_ndarray_dtype(mxc_predictor_output(p, 0)), MXC_F32);
            assert_string_equal(mxc_predictor_output_name(p, 0), "fc_output");
            mxc_predictor_destroy(p);
        }
}

/* Parameters and inputs that are float16 themselves. */
static void test_dtype_of_the_input(void **state) {
    mxc_predictor_options options = options_with(MXC_PARAMS_CONVERT);
    mxc_data_desc half = input;
    mxc_ndarray *array;
    mxc_predictor *p;
    uint16_t found[SAVED_CLASSES];
    (void)state;
    half.dtype = MXC_F16;
    assert_fails(mxc_predictor_create(net.symbol, &net.params, 1, &half, NULL, &p), MXC_EDTYPE, "conv_weight");
    assert_ok(mxc_predictor_create(net.symbol, &net.params, 1, &half, &options, &p));
    assert_int_equal(mxc_ndarray_dtype(mxc_predictor_input(p, 0)), MXC_F16);
    assert_ok(mxc_ndarray_from_data(4, input.shape.dim, MXC_F32, data, &array));
    assert_ok(mxc_predictor_set_input_array(p, "data", array)); /* converts */
    assert_ok(mxc_predictor_forward(p));
    assert_ok(mxc_predictor_get_output_at(p, 0, found, sizeof found));
    mxc_ndarray_release(array);
    mxc_predictor_destroy(p);
}

static void test_8_bits(void **state) {
    mxc_predictor_options options = options_with(0);
    mxc_quantize_options quantize = MXC_QUANTIZE_OPTIONS_INIT;
    mxc_predictor *p;
    (void)state;
    options.quantize = &quantize;
    check_with(&net.params, &options, 5e-2);
    assert_ok(create(&net.params, &options, &p));
    assert_non_null(mxc_executor_find_arg(mxc_predictor_executor(p), "fc_weight_quantize"));
    mxc_predictor_destroy(p);
    options.dtype = MXC_F16;
    assert_fails(create(&net.params, &options, &p), MXC_EINVAL, "exclude");
    options.dtype = MXC_DTYPE_UNKNOWN;
    quantize.size = 0;
    assert_fails(create(&net.params, &options, &p), MXC_EINVAL, "mxc_quantize_options_init");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_and_prefixed_names),
        cmocka_unit_test(test_left_over_and_missing),
        cmocka_unit_test(test_names_twice_and_arrays_that_are_none),
        cmocka_unit_test(test_shapes_and_dtypes_that_disagree),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_inner_outputs),
        cmocka_unit_test(test_input_that_is_not_read),
        cmocka_unit_test(test_folded_norms),
        cmocka_unit_test(test_16_bits),
        cmocka_unit_test(test_dtype_of_the_input),
        cmocka_unit_test(test_8_bits),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

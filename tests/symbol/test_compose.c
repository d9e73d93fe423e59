/* SPDX-License-Identifier: Apache-2.0 */
/* Applying operators: by position and by name, default variables, counts, operators not applied yet. */
#include "ops.h"

#include "base/sys.h"

static int64_t live;

static void arguments_are(const mxc_symbol *symbol, const char *expected) {
    mxc_names names;
    assert_ok(mxc_symbol_list_arguments(symbol, &names));
    test_names(&names, expected);
}

static void outputs_are(const mxc_symbol *symbol, const char *expected) {
    mxc_names names;
    assert_ok(mxc_symbol_list_outputs(symbol, &names));
    test_names(&names, expected);
}

static void aux_are(const mxc_symbol *symbol, const char *expected) {
    mxc_names names;
    assert_ok(mxc_symbol_list_aux(symbol, &names));
    test_names(&names, expected);
}

static void test_by_position(void **state) {
    mxc_symbol *mlp = test_mlp();
    (void)state;
    arguments_are(mlp, "data,fc1_weight,fc1_bias,fc2_weight");
    outputs_are(mlp, "fc2_output");
    assert_string_equal(mxc_symbol_name(mlp), "fc2");
    mxc_symbol_release(mlp);
}

static void test_by_name(void **state) {
    static const char *const keys[] = {"num_hidden"}, *const values[] = {"3"}, *const args[] = {"bias", "data"};
    mxc_symbol *in[] = {test_var("b"), test_var("x")}, *fc;
    (void)state;
    assert_ok(mxc_symbol_op("t_fc", "fc", 1, keys, values, 2, args, in, &fc));
    arguments_are(fc, "x,fc_weight,b");
    mxc_symbol_release(in[0]);
    mxc_symbol_release(in[1]);
    mxc_symbol_release(fc);
}

static void test_all_missing(void **state) {
    mxc_symbol *fc = test_op("T_FullyConnected", "a", 0, NULL, "num_hidden", "3", NULL);
    mxc_symbol *bn = test_op("t_bn", "n", 1, &fc, NULL);
    (void)state;
    arguments_are(bn, "a_data,a_weight,a_bias,n_gamma,n_beta");
    aux_are(bn, "n_moving_mean,n_moving_var");
    outputs_are(bn, "n_output");
    mxc_symbol_release(fc);
    mxc_symbol_release(bn);
}

static void test_aux_given(void **state) {
    mxc_symbol *in[] = {test_var("x"), test_var("g"), test_var("b"), test_var("m"), test_var("v")}, *bn, *bad;
    (void)state;
    bn = test_op("t_bn", "n", 5, in, NULL);
    arguments_are(bn, "x,g,b");
    aux_are(bn, "m,v");
    mxc_symbol_release(in[4]);
    in[4] = bn;
    assert_fails(mxc_symbol_op("t_bn", "n2", 0, NULL, NULL, 5, NULL, in, &bad), MXC_EINVAL,
                 "t_bn \"n2\": auxiliary state moving_var must be a variable, found node \"n\"");
    assert_null(bad);
    for (int i = 0; i < 5; i++)
        mxc_symbol_release(in[i]);
}

static void test_several_outputs_expand(void **state) {
    mxc_symbol *x = test_var("x"), *split = test_op("t_split", "s", 1, &x, "num_outputs", "3", NULL), *in[2], *concat;
    (void)state;
    outputs_are(split, "s_output0,s_output1,s_output2");
    assert_int_equal(mxc_symbol_n_outputs(split), 3);
    in[0] = split;
    in[1] = x;
    concat = test_op("t_concat", "c", 2, in, NULL);
    assert_string_equal(mxc_symbol_attr(concat, "num_args"), "4");
    outputs_are(concat, "c_output");
    mxc_symbol_release(x);
    mxc_symbol_release(split);
    mxc_symbol_release(concat);
}

static void test_count(void **state) {
    static const char *const args[] = {"arg1", "arg0"}, *const bad_args[] = {"arg1", "arg01"};
    mxc_symbol *in[] = {test_var("x"), test_var("y")}, *concat;
    (void)state;
    assert_ok(mxc_symbol_op("t_concat", "c", 0, NULL, NULL, 2, args, in, &concat));
    arguments_are(concat, "y,x");
    mxc_symbol_release(concat);
    concat = test_op("t_concat", "c", 2, in, "num_args", "3", NULL);
    arguments_are(concat, "x,y,c_arg2");
    mxc_symbol_release(concat);
    assert_fails(mxc_symbol_op("t_concat", "c", 0, NULL, NULL, 2, bad_args, in, &concat), MXC_EINVAL, "'arg01'");
    assert_status(mxc_symbol_op("t_concat", "c", 0, NULL, NULL, 0, NULL, NULL, &concat), MXC_EINVAL);
    mxc_symbol_release(in[0]);
    mxc_symbol_release(in[1]);
}

static void fails(mxc_status code, const char *text, const char *op, const char *key, const char *value, int n,
                  const char *const *args, mxc_symbol *const *in) {
    mxc_symbol *out = (mxc_symbol *)&live;
    int64_t before = mxci_alloc_live();
    assert_fails(mxc_symbol_op(op, "node", key != NULL, &key, &value, n, args, in, &out), code, text);
    assert_null(out);
    assert_int_equal(mxci_alloc_live(), before);
}

/* A count and names by turns, as parameters say: UpSampling. */
static void test_named_instead_of_counted(void **state) {
    static const char *const keys[] = {"scale", "sample_type", "num_filter"}, *const args[] = {"weight", "data"};
    static const char *const values[] = {"2", "bilinear", "3"};
    mxc_symbol *in[] = {test_var("w"), test_var("x")}, *both, *one;
    (void)state;
    assert_ok(mxc_symbol_op("UpSampling", "up", 3, keys, values, 2, args, in, &both));
    arguments_are(both, "x,w");
    assert_ok(mxc_symbol_op("UpSampling", "up", 3, keys, values, 1, NULL, in, &one));
    arguments_are(one, "w,up_weight");
    mxc_symbol_release(one);
    assert_fails(mxc_symbol_op("UpSampling", "up", 3, keys, values, 1, (const char *const[]){"arg0"}, in, &one),
                 MXC_EINVAL, "'arg0'");
    mxc_symbol_release(in[0]);
    mxc_symbol_release(in[1]);
    mxc_symbol_release(both);
}

static void test_errors(void **state) {
    static const char *const unknown[] = {"wait"}, *const twice[] = {"data", "data"};
    mxc_symbol *x = test_var("x"), *many[] = {x, x, x, x}, *atomic, *null = NULL;
    (void)state;
    fails(MXC_ENOTFOUND, "t_fcc", "t_fcc", NULL, NULL, 0, NULL, NULL);
    fails(MXC_EINVAL, "num_hiden", "t_fc", "num_hiden", "3", 0, NULL, NULL);
    fails(MXC_EINVAL, "num_hidden", "t_fc", NULL, NULL, 0, NULL, NULL);
    fails(MXC_EINVAL, "t_fc \"node\": too many inputs, expected at most 3: data, weight, bias", "t_fc", "num_hidden",
          "3", 4, NULL, many);
    fails(MXC_EINVAL, "t_fc \"node\": has no argument 'wait', expected one of: data, weight, bias", "t_fc",
          "num_hidden", "3", 1, unknown, many);
    fails(MXC_EINVAL, "argument data is given twice", "t_fc", "num_hidden", "3", 2, twice, many);
    fails(MXC_EINVAL, "input 0 is NULL", "t_fc", "num_hidden", "3", 1, NULL, &null);
    assert_ok(mxc_symbol_atomic("t_bn", 0, NULL, NULL, &atomic));
    fails(MXC_EINVAL, "not applied", "t_fc", "num_hidden", "3", 1, NULL, &atomic);
    mxc_symbol_release(atomic);
    atomic = test_op("t_split", "s", 1, &x, "num_outputs", "2", NULL);
    fails(MXC_EINVAL, "2 outputs, expected 1", "t_fc", "num_hidden", "3", 1, twice, &atomic);
    mxc_symbol_release(atomic);
    mxc_symbol_release(x);
    assert_fails(mxc_symbol_variable("", &atomic), MXC_EINVAL, "empty");
}

static void test_atomic(void **state) {
    static const char *const keys[] = {"num_hidden", "lr_mult"}, *const values[] = {"3", "0.5"};
    mxc_symbol *fc, *copy, *x = test_var("x"), *out;
    mxc_names names;
    char *text;
    (void)state;
    assert_ok(mxc_symbol_atomic("t_fc", 2, keys, values, &fc));
    assert_string_equal(mxc_symbol_attr(fc, "num_hidden"), "3");
    assert_string_equal(mxc_symbol_attr(fc, "__lr_mult__"), "0.5");
    assert_ok(mxc_symbol_set_attr(fc, "mood", "calm"));
    assert_fails(mxc_symbol_set_attr(fc, "num_hidden", "4"), MXC_EINVAL, "is a parameter of t_fc");
    assert_ok(mxc_symbol_copy(fc, &copy));
    assert_null(mxc_symbol_name(fc));
    assert_status(mxc_symbol_list_arguments(fc, &names), MXC_ESTATE);
    assert_status(mxc_symbol_list_outputs(fc, &names), MXC_ESTATE);
    assert_status(mxc_symbol_to_json(fc, &text), MXC_ESTATE);
    assert_status(mxc_symbol_output(fc, 0, &out), MXC_ESTATE);
    assert_status(mxc_symbol_find_output(fc, "", &out), MXC_ENOTFOUND);
    assert_status(mxc_symbol_group(1, &fc, &out), MXC_EINVAL);
    assert_ok(mxc_symbol_compose(fc, "fc", 1, NULL, &x));
    arguments_are(fc, "x,fc_weight,fc_bias");
    assert_string_equal(mxc_symbol_attr(fc, "mood"), "calm");
    mxc_symbol_release(fc);
    assert_status(mxc_symbol_compose(copy, "fc", 1, &keys[1], &x), MXC_EINVAL);
    assert_ok(mxc_symbol_compose(copy, "again", 0, NULL, NULL));
    arguments_are(copy, "again_data,again_weight,again_bias");
    mxc_symbol_release(copy);
    mxc_symbol_release(x);
}

static void test_atomic_counts_later(void **state) {
    static const char *const keys[] = {"num_hidden", "__a__", "__a__"}, *const values[] = {"3", "1", "2"};
    mxc_symbol *concat, *in[] = {test_var("x"), test_var("y")};
    (void)state;
    assert_ok(mxc_symbol_atomic("t_concat", 0, NULL, NULL, &concat));
    assert_ok(mxc_symbol_compose(concat, NULL, 2, NULL, in));
    assert_string_equal(mxc_symbol_attr(concat, "num_args"), "2");
    mxc_symbol_release(concat);
    mxc_symbol_release(in[0]);
    mxc_symbol_release(in[1]);
    assert_fails(mxc_symbol_atomic("t_concat", 1, keys, values, &concat), MXC_EINVAL, "num_hidden");
    assert_fails(mxc_symbol_atomic("t_concat", 2, keys + 1, values + 1, &concat), MXC_EINVAL, "twice");
    assert_status(mxc_symbol_atomic("t_none", 0, NULL, NULL, &concat), MXC_ENOTFOUND);
    assert_status(mxc_symbol_atomic("t_fc", 0, NULL, NULL, &concat), MXC_EINVAL);
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    live = mxci_alloc_live();
    return 0;
}

static int nothing_left(void **state) {
    (void)state;
    return mxci_alloc_live() != live;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_position),
        cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_all_missing),
        cmocka_unit_test(test_aux_given),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_several_outputs_expand),
        cmocka_unit_test(test_named_instead_of_counted),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_atomic),
        cmocka_unit_test(test_atomic_counts_later),
    };
    return cmocka_run_group_tests(tests, setup, nothing_left);
}

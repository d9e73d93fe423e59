/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of symbols: variables together, places of outputs, cutting along an attribute, removing casts, and operators of
 * control flow applied to subgraphs. */
#include "symbol/ops.h"

static void list_outputs(const mxc_symbol *symbol, const char *expected) {
    mxc_names names;
    assert_ok(mxc_symbol_list_outputs(symbol, &names));
    test_names(&names, expected);
}

static void list_arguments(const mxc_symbol *symbol, const char *expected) {
    mxc_names names;
    assert_ok(mxc_symbol_list_arguments(symbol, &names));
    test_names(&names, expected);
}

static void test_inputs(void **state) {
    mxc_symbol *data = test_var("data"), *bn = test_op("t_bn", "bn", 1, &data, NULL), *inputs;
    (void)state;
    assert_ok(mxc_symbol_inputs(bn, &inputs));
    list_outputs(inputs, "data,bn_gamma,bn_beta,bn_moving_mean,bn_moving_var");
    mxc_symbol_release(inputs);
    mxc_symbol *zeros = test_op("_zeros", "z", 0, NULL, "shape", "(2,)", NULL);
    assert_ok(mxc_symbol_inputs(zeros, &inputs));
    assert_null(inputs);
    mxc_symbol_release(zeros);
    mxc_symbol_release(bn);
    mxc_symbol_release(data);
}

static void test_output_index(void **state) {
    mxc_symbol *data = test_var("data"), *split = test_op("t_split", "s", 1, &data, "num_outputs", "3", NULL), *last;
    (void)state;
    assert_int_equal(mxc_symbol_output_index(data), 0);
    assert_int_equal(mxc_symbol_output_index(split), -1);
    assert_ok(mxc_symbol_output(split, 2, &last));
    assert_int_equal(mxc_symbol_output_index(last), 2);
    assert_int_equal(mxc_symbol_output_index(NULL), -1);
    mxc_symbol_release(last);
    mxc_symbol_release(split);
    mxc_symbol_release(data);
}

/* x -> before -> two, of which the second and three, which reads before too, have the attribute. */
static void test_cut(void **state) {
    mxc_symbol *x = test_var("x"), *before = test_op("t_act", "before", 1, &x, "act_type", "relu", NULL), *inside,
               *outside;
    mxc_symbol *two = test_op("t_act", "two", 1, &before, "act_type", "relu", "__part__", "p", NULL);
    mxc_symbol *pair[2] = {two, before}, *three = test_op("t_add", "three", 2, pair, "__part__", "p", NULL);
    (void)state;
    assert_ok(mxc_symbol_cut(three, "__part__", "p", &inside, &outside));
    list_arguments(inside, "before_output");
    list_outputs(inside, "three_output");
    list_outputs(outside, "before_output");
    list_arguments(outside, "x");
    list_arguments(three, "x"); /* as it was */
    mxc_symbol_release(inside);
    mxc_symbol_release(outside);
    assert_ok(mxc_symbol_cut(three, "__part__", "other", &inside, &outside));
    assert_null(outside);
    list_arguments(inside, "x");
    mxc_symbol_release(inside);
    assert_fails(mxc_symbol_cut(NULL, "a", "b", &inside, &outside), MXC_EINVAL, "symbol");
    mxc_symbol_release(three);
    mxc_symbol_release(two);
    mxc_symbol_release(before);
    mxc_symbol_release(x);
}

static void test_remove_amp_casts(void **state) {
    mxc_symbol *x = test_var("x"), *half = test_op("amp_cast", "half", 1, &x, "dtype", "float16", NULL), *removed;
    mxc_symbol *pair[2] = {half, x};
    mxc_symbol *both = test_op("amp_multicast", "both", 2, pair, "num_outputs", "2", NULL), *one;
    assert_ok(mxc_symbol_output(both, 0, &one));
    mxc_symbol *act = test_op("t_act", "act", 1, &one, "act_type", "relu", NULL), *internals;
    (void)state;
    assert_ok(mxc_symbol_remove_amp_casts(act, &removed));
    assert_ok(mxc_symbol_internals(removed, &internals));
    list_outputs(internals, "x,act_output");
    mxc_symbol *made[] = {internals, removed, act, one, both, half, x};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        mxc_symbol_release(made[i]);
}

/* What MXNet's front ends do: the subgraph comes as the first input. */
static void test_subgraphs_as_inputs(void **state) {
    static const char *const keys[] = {"num_outputs", "num_out_data", "in_state_locs", "in_data_locs", "remain_locs"};
    static const char *const values[] = {"2", "1", "[1]", "[0]", "[]"};
    mxc_symbol *pair[2] = {test_var("row"), test_var("old")}, *sum = test_op("elemwise_add", "sum", 2, pair, NULL),
               *body;
    mxc_symbol *outputs[2] = {sum, sum}, *loop, *in[3];
    (void)state;
    assert_ok(mxc_symbol_group(2, outputs, &body));
    in[0] = body;
    in[1] = test_var("rows");
    in[2] = test_var("first");
    assert_ok(mxc_symbol_op("_foreach", "loop", 5, keys, values, 3, NULL, in, &loop));
    list_arguments(loop, "rows,first");
    assert_int_equal(mxc_symbol_n_outputs(loop), 2);
    mxc_symbol_release(loop);
    assert_ok(mxc_symbol_atomic("_foreach", 5, keys, values, &loop));
    assert_fails(mxc_symbol_compose(loop, "loop", 0, NULL, in), MXC_EINVAL, "expected 1 subgraphs");
    assert_fails(mxc_symbol_compose(loop, "loop", 3, keys, in), MXC_EINVAL, "by name");
    assert_ok(mxc_symbol_compose(loop, "loop", 3, NULL, in));
    list_arguments(loop, "rows,first");
    mxc_symbol *made[] = {loop, in[0], in[1], in[2], sum, pair[0], pair[1]};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        mxc_symbol_release(made[i]);
}

static int set_up(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs),           cmocka_unit_test(test_output_index),        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_remove_amp_casts), cmocka_unit_test(test_subgraphs_as_inputs),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

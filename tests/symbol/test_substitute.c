/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, and variables of composed symbols replaced by other symbols. */
#include "ops.h"

#include "base/sys.h"

static void arguments_are(const mxc_symbol *symbol, const char *expected) {
    mxc_names names;
    assert_ok(mxc_symbol_list_arguments(symbol, &names));
    test_names(&names, expected);
}

static void test_replace(void **state) {
    static const char *const keys[] = {"data"};
    int64_t live = mxci_alloc_live();
    mxc_symbol *top = test_mlp(), *shared, *below = test_op("t_fc", "fc0", 0, NULL, "num_hidden", "7", NULL);
    (void)state;
    assert_ok(mxc_symbol_output(top, 0, &shared));
    assert_ok(mxc_symbol_compose(top, "whole", 1, keys, &below));
    arguments_are(top, "fc0_data,fc0_weight,fc0_bias,fc1_weight,fc1_bias,fc2_weight");
    assert_string_equal(mxc_symbol_name(top), "whole");
    assert_string_equal(mxc_symbol_attr(top, "num_hidden"), "4");
    arguments_are(shared, "data,fc1_weight,fc1_bias,fc2_weight"); /* shares nodes, and has not changed */
    assert_string_equal(mxc_symbol_name(shared), "fc2");
    mxc_symbol_release(top);
    mxc_symbol_release(shared);
    mxc_symbol_release(below);
    assert_int_equal(mxci_alloc_live(), live);
}

static void test_replace_by_itself(void **state) {
    static const char *const keys[] = {"data"};
    mxc_symbol *net = test_mlp(), *all;
    (void)state;
    assert_ok(mxc_symbol_compose(net, NULL, 1, keys, &net));
    arguments_are(net, "data,fc1_weight,fc1_bias,fc2_weight"); /* weights are shared */
    assert_ok(mxc_symbol_internals(net, &all));
    assert_int_equal(mxc_symbol_n_outputs(all), 4 + 2 * 3);
    mxc_symbol_release(all);
    mxc_symbol_release(net);
}

static void test_replace_every_use(void **state) {
    static const char *const keys[] = {"x", "y"};
    mxc_symbol *in[] = {test_var("x"), test_var("x"), test_var("y")}, *concat = test_op("t_concat", "c", 3, in, NULL);
    mxc_symbol *to[] = {test_var("p"), test_op("t_act", "q", 0, NULL, "act_type", "tanh", NULL)};
    (void)state;
    assert_ok(mxc_symbol_compose(concat, NULL, 2, keys, to));
    arguments_are(concat, "p,q_data");
    assert_string_equal(mxc_symbol_name(concat), "c");
    for (int i = 0; i < 3; i++)
        mxc_symbol_release(in[i]);
    mxc_symbol_release(to[0]);
    mxc_symbol_release(to[1]);
    mxc_symbol_release(concat);
}

static void test_head_is_replaced(void **state) {
    static const char *const keys[] = {"x"};
    mxc_symbol *x = test_var("x"), *mlp = test_mlp();
    (void)state;
    assert_ok(mxc_symbol_compose(x, NULL, 1, keys, &mlp));
    assert_string_equal(mxc_symbol_name(x), "fc2");
    mxc_symbol_release(x);
    mxc_symbol_release(mlp);
}

static void test_errors(void **state) {
    static const char *const keys[] = {"data", "data"}, *const none[] = {"dato"}, *const aux[] = {"n_moving_var"};
    mxc_symbol *net = test_mlp(), *in[] = {test_var("a"), test_var("b")}, *split, *bn;
    int64_t live = mxci_alloc_live();
    (void)state;
    assert_fails(mxc_symbol_compose(net, NULL, 1, NULL, in), MXC_EINVAL, "by name");
    assert_fails(mxc_symbol_compose(net, NULL, 2, keys, in), MXC_EINVAL, "\"data\" is given twice");
    assert_fails(mxc_symbol_compose(net, NULL, 1, none, in), MXC_EINVAL,
                 "no variable is called \"dato\"; there are: data, fc1_weight");
    split = test_op("t_split", "s", 0, NULL, "num_outputs", "2", NULL);
    assert_fails(mxc_symbol_compose(net, NULL, 1, keys, &split), MXC_EINVAL, "one output");
    mxc_symbol_release(split);
    bn = test_op("t_bn", "n", 0, NULL, NULL);
    assert_fails(mxc_symbol_compose(bn, NULL, 1, aux, &net), MXC_EINVAL, "auxiliary state of \"n\"");
    assert_ok(mxc_symbol_compose(bn, NULL, 1, aux, in));
    mxc_symbol_release(bn);
    assert_int_equal(mxci_alloc_live(), live);
    arguments_are(net, "data,fc1_weight,fc1_bias,fc2_weight");
    mxc_symbol_release(net);
    mxc_symbol_release(in[0]);
    mxc_symbol_release(in[1]);
}

static void test_copy_shares_nothing(void **state) {
    mxc_symbol *net = test_mlp(), *copy;
    char *before, *after;
    (void)state;
    assert_ok(mxc_symbol_to_json(net, &before));
    assert_ok(mxc_symbol_copy(net, &copy));
    assert_ok(mxc_symbol_set_attr(net, "ctx_group", "a"));
    assert_null(mxc_symbol_attr(copy, "ctx_group"));
    mxc_symbol_release(net);
    assert_ok(mxc_symbol_to_json(copy, &after));
    assert_string_equal(before, after);
    mxci_free(before);
    mxci_free(after);
    mxc_symbol_release(copy);
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replace),          cmocka_unit_test(test_replace_by_itself),
        cmocka_unit_test(test_head_is_replaced), cmocka_unit_test(test_replace_every_use),
        cmocka_unit_test(test_errors),           cmocka_unit_test(test_copy_shares_nothing),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}

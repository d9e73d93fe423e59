/* SPDX-License-Identifier: Apache-2.0 */
/* Handles: groups, outputs, internals, children; lists of names. */
#include "ops.h"

#include "base/sys.h"

static void outputs_are(const mxc_symbol *symbol, const char *expected) {
    mxc_names names;
    assert_ok(mxc_symbol_list_outputs(symbol, &names));
    test_names(&names, expected);
}

static void test_group(void **state) {
    mxc_symbol *parts[] = {test_mlp(), test_op("t_split", "s", 0, NULL, "num_outputs", "2", NULL)};
    mxc_symbol *group, *null = NULL;
    mxc_names names;
    (void)state;
    assert_ok(mxc_symbol_group(2, parts, &group));
    outputs_are(group, "fc2_output,s_output0,s_output1");
    assert_null(mxc_symbol_name(group));
    assert_null(mxc_symbol_op_name(group));
    assert_null(mxc_symbol_attr(group, "num_hidden"));
    assert_ok(mxc_symbol_list_arguments(group, &names));
    test_names(&names, "data,fc1_weight,fc1_bias,fc2_weight,s_data");
    assert_fails(mxc_symbol_group(0, NULL, &null), MXC_EINVAL, "at least one");
    mxc_symbol_release(group);
    assert_fails(mxc_symbol_group(1, &null, &group), MXC_EINVAL, "symbol 0 is NULL");
    assert_null(group);
    mxc_symbol_release(parts[0]);
    mxc_symbol_release(parts[1]);
}

static void test_outputs(void **state) {
    mxc_symbol *split = test_op("t_split", "s", 0, NULL, "num_outputs", "3", NULL), *out;
    (void)state;
    assert_ok(mxc_symbol_output(split, 1, &out));
    outputs_are(out, "s_output1");
    assert_string_equal(mxc_symbol_name(out), "s");
    mxc_symbol_release(out);
    assert_fails(mxc_symbol_output(split, 3, &out), MXC_EINVAL, "index 3, expected 0 to 2");
    assert_status(mxc_symbol_output(split, -1, &out), MXC_EINVAL);
    assert_ok(mxc_symbol_find_output(split, "s_output2", &out));
    outputs_are(out, "s_output2");
    mxc_symbol_release(out);
    assert_fails(mxc_symbol_find_output(split, "s_output", &out), MXC_ENOTFOUND, "\"s_output\"");
    mxc_symbol_release(split);
}

static void test_internals(void **state) {
    mxc_symbol *x = test_var("x"), *bn = test_op("t_bn", "n", 1, &x, NULL), *all, *inner, *parts[] = {bn, bn};
    (void)state;
    assert_ok(mxc_symbol_internals(bn, &all));
    outputs_are(all, "x,n_gamma,n_beta,n_moving_mean,n_moving_var,n_output"); /* not the hidden mean and var */
    assert_ok(mxc_symbol_find_output(all, "n_gamma", &inner));
    outputs_are(inner, "n_gamma");
    mxc_symbol_release(inner);
    mxc_symbol_release(all);
    assert_ok(mxc_symbol_group(2, parts, &all));
    assert_fails(mxc_symbol_find_output(all, "n_output", &inner), MXC_EINVAL, "several");
    mxc_symbol_release(all);
    mxc_symbol_release(bn);
    mxc_symbol_release(x);
}

static void test_children(void **state) {
    mxc_symbol *mlp = test_mlp(), *children, *split = test_op("t_split", "s", 1, &mlp, "num_outputs", "2", NULL), *none;
    (void)state;
    assert_ok(mxc_symbol_children(mlp, &children));
    outputs_are(children, "relu1_output,fc2_weight");
    mxc_symbol_release(children);
    assert_ok(mxc_symbol_children(split, &children)); /* two outputs, one node */
    outputs_are(children, "fc2_output");
    mxc_symbol_release(children);
    children = test_var("x");
    assert_ok(mxc_symbol_children(children, &none));
    assert_null(none);
    mxc_symbol_release(children);
    mxc_symbol_release(split);
    mxc_symbol_release(mlp);
}

static void test_shared_variable_is_listed_once(void **state) {
    mxc_symbol *x = test_var("x"), *in[] = {x, x}, *again = test_var("x"), *both;
    mxc_symbol *sum = test_op("t_add", "a", 2, in, NULL);
    mxc_names names;
    (void)state;
    assert_ok(mxc_symbol_list_arguments(sum, &names));
    test_names(&names, "x");
    in[0] = again; /* another variable of the same name */
    both = test_op("t_add", "b", 2, in, NULL);
    assert_ok(mxc_symbol_list_arguments(both, &names));
    assert_int_equal(mxc_names_find(&names, "x"), 0);
    assert_int_equal(mxc_names_find(&names, "y"), -1);
    test_names(&names, "x,x");
    assert_null(names.items);
    mxc_symbol_release(x);
    mxc_symbol_release(again);
    mxc_symbol_release(sum);
    mxc_symbol_release(both);
}

static void test_references(void **state) {
    int64_t live = mxci_alloc_live();
    mxc_symbol *x = test_var("x");
    (void)state;
    assert_ptr_equal(mxc_symbol_retain(x), x);
    mxc_symbol_release(x);
    assert_string_equal(mxc_symbol_name(x), "x");
    assert_null(mxc_symbol_op_name(x));
    mxc_symbol_release(x);
    mxc_symbol_release(NULL);
    assert_int_equal(mxci_alloc_live(), live);
}

static void test_null(void **state) {
    static const char *const keys[] = {"num_hidden", NULL}, *const values[] = {NULL, "3"};
    mxc_symbol *x = test_var("x"), *out, *null = NULL;
    mxc_inferred in;
    mxc_names names;
    char *text;
    (void)state;
    assert_fails(mxc_symbol_variable("x", NULL), MXC_EINVAL, "out must not be NULL");
    assert_status(mxc_symbol_variable(NULL, &out), MXC_EINVAL);
    assert_status(mxc_symbol_op(NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, &out), MXC_EINVAL);
    assert_fails(mxc_symbol_op("t_fc", NULL, 1, NULL, NULL, 0, NULL, NULL, &out), MXC_EINVAL, "keys must not be NULL");
    assert_fails(mxc_symbol_op("t_fc", NULL, -1, keys, keys, 0, NULL, NULL, &out), MXC_EINVAL, "-1 parameters");
    assert_fails(mxc_symbol_op("t_fc", NULL, 1, keys, values, 0, NULL, NULL, &out), MXC_EINVAL, "parameter 0 is NULL");
    assert_fails(mxc_symbol_atomic("t_fc", 2, keys, keys, &out), MXC_EINVAL, "parameter 1 is NULL");
    assert_fails(mxc_symbol_op("t_act", NULL, 0, NULL, NULL, 1, NULL, NULL, &out), MXC_EINVAL, "1 inputs at NULL");
    assert_fails(mxc_symbol_op("t_act", NULL, 0, NULL, NULL, 1, values, &x, &out), MXC_EINVAL, "input 0 is NULL");
    assert_fails(mxc_symbol_op("t_act", NULL, 0, NULL, NULL, -1, NULL, &x, &out), MXC_EINVAL, "-1 inputs");
    assert_status(mxc_symbol_compose(NULL, NULL, 0, NULL, NULL), MXC_EINVAL);
    assert_status(mxc_symbol_compose(x, NULL, 1, values, &x), MXC_EINVAL);
    assert_status(mxc_symbol_compose(x, NULL, 1, keys, NULL), MXC_EINVAL);
    assert_status(mxc_symbol_group(1, NULL, &out), MXC_EINVAL);
    assert_status(mxc_symbol_group(1, &null, &out), MXC_EINVAL);
    assert_status(mxc_symbol_copy(NULL, &out), MXC_EINVAL);
    assert_status(mxc_symbol_output(NULL, 0, &out), MXC_EINVAL);
    assert_status(mxc_symbol_find_output(x, NULL, &out), MXC_EINVAL);
    assert_status(mxc_symbol_internals(NULL, &out), MXC_EINVAL);
    assert_status(mxc_symbol_children(NULL, &out), MXC_EINVAL);
    assert_status(mxc_symbol_list_arguments(NULL, &names), MXC_EINVAL);
    assert_status(mxc_symbol_list_outputs(x, NULL), MXC_EINVAL);
    assert_status(mxc_symbol_list_aux(NULL, &names), MXC_EINVAL);
    assert_status(mxc_symbol_set_attr(x, "key", NULL), MXC_EINVAL);
    assert_status(mxc_symbol_list_attrs(NULL, 1, &names), MXC_EINVAL);
    assert_status(mxc_attr_scope_enter(1, keys, NULL), MXC_EINVAL);
    assert_status(mxc_attr_scope_enter(1, keys, values), MXC_EINVAL);
    assert_status(mxc_symbol_infer(x, 1, NULL, NULL, NULL, &in), MXC_EINVAL);
    assert_status(mxc_symbol_infer(x, 1, values, NULL, NULL, &in), MXC_EINVAL);
    assert_status(mxc_symbol_to_json(NULL, &text), MXC_EINVAL);
    assert_status(mxc_symbol_from_json(NULL, 3, &out), MXC_EINVAL);
    assert_status(mxc_symbol_from_json(NULL, 0, &out), MXC_EFORMAT);
    assert_status(mxc_symbol_save(x, NULL), MXC_EINVAL);
    assert_status(mxc_symbol_load(NULL, &out), MXC_EINVAL);
    assert_status(mxc_symbol_print(NULL, &text), MXC_EINVAL);
    assert_status(mxc_symbol_to_dot(x, 0, NULL, NULL, NULL), MXC_EINVAL);
    assert_null(mxc_symbol_name(NULL));
    assert_null(mxc_symbol_op_name(NULL));
    assert_null(mxc_symbol_attr(x, NULL));
    assert_null(mxc_symbol_retain(NULL));
    assert_int_equal(mxc_symbol_n_outputs(NULL), 0);
    assert_int_equal(mxc_names_find(NULL, "x"), -1);
    mxc_names_release(NULL);
    mxc_inferred_release(NULL);
    mxc_symbol_release(x);
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group),     cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_internals), cmocka_unit_test(test_shared_variable_is_listed_once),
        cmocka_unit_test(test_children),  cmocka_unit_test(test_references),
        cmocka_unit_test(test_null),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes: both spellings, variables made by composition, scopes, lists; automatic names. */
#include <pthread.h>

#include "ops.h"

#include "symbol/scope.h"

static const char *argument_attr(const mxc_symbol *symbol, const char *name, const char *key) {
    static char value[64];
    mxc_symbol *all, *argument;
    const char *found;
    assert_ok(mxc_symbol_internals(symbol, &all));
    assert_ok(mxc_symbol_find_output(all, name, &argument));
    found = mxc_symbol_attr(argument, key);
    snprintf(value, sizeof value, "%s", found ? found : "");
    mxc_symbol_release(argument);
    mxc_symbol_release(all);
    return found ? value : NULL;
}

static void test_propagation(void **state) {
    mxc_symbol *fc = test_op("t_fc", "fc", 0, NULL, "num_hidden", "3", "ctx_group", "left", "__mine__", "1",
                             "weight_lr_mult", "0.1", "lr_mult", "5", NULL);
    (void)state;
    assert_string_equal(mxc_symbol_attr(fc, "ctx_group"), "left");
    assert_string_equal(argument_attr(fc, "fc_bias", "ctx_group"), "left");
    assert_string_equal(argument_attr(fc, "fc_bias", "__mine__"), "1");
    assert_string_equal(argument_attr(fc, "fc_bias", "__lr_mult__"), "5");
    assert_string_equal(argument_attr(fc, "fc_weight", "lr_mult"), "0.1");
    assert_null(mxc_symbol_attr(fc, "weight_lr_mult"));
    assert_ok(mxc_symbol_set_attr(fc, "bias_wd_mult", "0"));
    assert_string_equal(argument_attr(fc, "fc_bias", "wd_mult"), "0");
    assert_fails(mxc_symbol_set_attr(fc, "num_hidden", "0"), MXC_EINVAL, "\"fc\": num_hidden is a parameter of t_fc");
    mxc_symbol_release(fc);
}

static void test_suffix_of_computed_argument_stays(void **state) {
    mxc_symbol *mlp = test_mlp(), *fc = test_op("t_fc", "fc", 1, &mlp, "num_hidden", "3", "data_lr_mult", "2", NULL);
    (void)state;
    assert_string_equal(mxc_symbol_attr(fc, "data_lr_mult"), "2");
    assert_null(mxc_symbol_attr(mlp, "lr_mult"));
    mxc_symbol_release(mlp);
    mxc_symbol_release(fc);
}

static void test_scopes(void **state) {
    static const char *const keys[] = {"ctx_group", "mood"}, *const outer[] = {"a", "calm"}, *const inner[] = {"b"};
    mxc_symbol *x, *fc;
    (void)state;
    assert_ok(mxc_attr_scope_enter(2, keys, outer));
    assert_ok(mxc_attr_scope_enter(1, keys, inner));
    x = test_var("x");
    assert_string_equal(mxc_symbol_attr(x, "ctx_group"), "b");
    assert_string_equal(mxc_symbol_attr(x, "mood"), "calm");
    mxc_symbol_release(x);
    mxc_attr_scope_leave();
    fc = test_op("t_fc", "fc", 0, NULL, "num_hidden", "3", "__mood__", "own", NULL);
    assert_string_equal(mxc_symbol_attr(fc, "ctx_group"), "a");
    assert_string_equal(mxc_symbol_attr(fc, "mood"), "own");
    assert_string_equal(argument_attr(fc, "fc_weight", "mood"), "own");
    assert_string_equal(argument_attr(fc, "fc_weight", "ctx_group"), "a");
    mxc_symbol_release(fc);
    mxc_attr_scope_leave();
    mxc_attr_scope_leave();
    x = test_var("x");
    assert_null(mxc_symbol_attr(x, "ctx_group"));
    mxc_symbol_release(x);
}

static void test_lists(void **state) {
    mxc_symbol *x = test_var("x"), *fc, *group, *parts[2];
    mxc_names names;
    (void)state;
    assert_ok(mxc_symbol_set_attr(x, "__shape__", "(2,3)"));
    fc = test_op("t_fc", "fc", 1, &x, "no_bias", "1", "num_hidden", "3", "lr_mult", "2", NULL);
    assert_ok(mxc_symbol_list_attrs(fc, 0, &names));
    test_names(&names, "no_bias,1,num_hidden,3,__lr_mult__,2,lr_mult,2");
    assert_ok(mxc_symbol_list_attrs(fc, 1, &names));
    test_names(&names, "x$__shape__,(2,3),fc_weight$__lr_mult__,2,fc_weight$lr_mult,2,fc$no_bias,1,fc$num_hidden,3,"
                       "fc$__lr_mult__,2,fc$lr_mult,2");
    parts[0] = x;
    parts[1] = fc;
    assert_ok(mxc_symbol_group(2, parts, &group));
    assert_fails(mxc_symbol_list_attrs(group, 0, &names), MXC_EINVAL, "several nodes");
    assert_ok(mxc_symbol_set_attr(group, "mood", "calm"));
    assert_string_equal(mxc_symbol_attr(x, "mood"), "calm");
    assert_string_equal(mxc_symbol_attr(fc, "mood"), "calm");
    mxc_symbol_release(group);
    mxc_symbol_release(x);
    mxc_symbol_release(fc);
}

static char other_thread[2][64];

static void *name_elsewhere(void *unused) {
    (void)unused;
    mxci_name_auto("T_Fc", other_thread[0], 64);
    mxci_name_auto("T_Fc", other_thread[1], 64);
    return NULL;
}

static void test_automatic_names(void **state) {
    char name[64], last[64];
    pthread_t thread;
    mxc_symbol *fc;
    (void)state;
    assert_string_equal(mxci_name_auto("T_Fc", name, sizeof name), "t_fc0");
    assert_string_equal(mxci_name_auto("t_fc", name, sizeof name), "t_fc1");
    assert_string_equal(mxci_name_auto("_Other", name, sizeof name), "_other0");
    fc = test_op("t_fc", NULL, 0, NULL, "num_hidden", "3", NULL);
    assert_string_equal(mxc_symbol_name(fc), "t_fc2");
    mxc_symbol_release(fc);
    assert_int_equal(pthread_create(&thread, NULL, name_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    assert_string_equal(other_thread[0], "t_fc0");
    assert_string_equal(other_thread[1], "t_fc1");
    for (int i = 0; i < 2000; i++) { /* more than the table holds: names stay distinct */
        char op[32];
        snprintf(op, sizeof op, "many%dx", i);
        mxci_name_auto(op, last, sizeof last);
        mxci_name_auto(op, name, sizeof name);
        assert_string_not_equal(name, last);
    }
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_propagation),     cmocka_unit_test(test_suffix_of_computed_argument_stays),
        cmocka_unit_test(test_scopes),          cmocka_unit_test(test_lists),
        cmocka_unit_test(test_automatic_names),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}

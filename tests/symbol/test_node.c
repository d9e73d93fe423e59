/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes: life, attributes, names of outputs. */
#include "ops.h"

#include "base/sys.h"
#include "symbol/node.h"

static mxci_node *new_node(mxci_node_kind kind, const char *name, mxc_op *op) {
    mxci_node *node;
    assert_ok(mxci_node_create(kind, name, op, &node));
    return node;
}

static mxc_op *new_op(const char *name, const char *key, const char *value) {
    mxc_op *op;
    assert_ok(mxc_op_create(name, key != NULL, &key, &value, &op));
    return op;
}

static void test_release_follows_inputs_and_forward(void **state) {
    int64_t live = mxci_alloc_live();
    mxc_op *op = new_op("t_act", "act_type", "relu");
    mxci_node *x = new_node(MXCI_VARIABLE, "x", NULL), *f = new_node(MXCI_FORWARD, "f", op);
    mxci_node *b = new_node(MXCI_BACKWARD, "b", op);
    (void)state;
    mxc_op_release(op);
    assert_ok(mxci_node_reserve_inputs(f, 1));
    mxci_node_add_input(f, (mxci_entry){x, 0});
    b->forward = mxci_node_retain(f);
    mxci_node_release(x);
    mxci_node_release(f);
    assert_int_equal(x->refs, 1);
    mxci_node_release(b);
    mxci_node_release(NULL);
    assert_int_equal(mxci_alloc_live(), live);
}

static void check_output_name(mxci_node *node, int index, const char *expected) {
    char *name;
    assert_ok(mxci_node_output_name(node, index, &name));
    assert_string_equal(name, expected);
    mxci_free(name);
}

static void test_outputs(void **state) {
    mxc_op *bn = new_op("t_bn", NULL, NULL), *split = new_op("t_split", "num_outputs", "3");
    mxci_node *x = new_node(MXCI_VARIABLE, "x", NULL), *n = new_node(MXCI_FORWARD, "bn0", bn);
    mxci_node *b = new_node(MXCI_BACKWARD, "bn0_back", bn), *s = new_node(MXCI_FORWARD, "s", split);
    (void)state;
    assert_int_equal(mxci_node_n_outputs(x), 1);
    assert_int_equal(mxci_node_n_outputs(n), 3);
    assert_int_equal(mxci_node_n_visible(n), 1);
    assert_int_equal(mxci_node_n_outputs(b), 3);
    assert_int_equal(mxci_node_n_visible(s), 3);
    check_output_name(x, 0, "x");
    check_output_name(n, 0, "bn0_output");
    check_output_name(n, 2, "bn0_var");
    check_output_name(b, 1, "bn0_back_gamma_grad");
    check_output_name(s, 2, "s_output2");
    mxci_node_release(x);
    mxci_node_release(n);
    mxci_node_release(b);
    mxci_node_release(s);
    mxc_op_release(bn);
    mxc_op_release(split);
}

static void test_attributes_of_variables(void **state) {
    mxci_node *x = new_node(MXCI_VARIABLE, "x", NULL);
    char key[40];
    (void)state;
    for (int i = 99; i >= 0; i--) {
        snprintf(key, sizeof key, "key%02d", i);
        assert_ok(mxci_node_set_attr(x, key, key + 3));
    }
    for (int i = 1; i < x->n_attrs; i++)
        assert_true(strcmp(x->attr_keys[i - 1], x->attr_keys[i]) < 0);
    assert_string_equal(mxci_node_attr(x, "key42"), "42");
    assert_ok(mxci_node_set_attr(x, "key42", "other"));
    assert_string_equal(mxci_node_attr(x, "key42"), "other");
    assert_int_equal(x->n_attrs, 100);
    mxci_node_drop_attr(x, "key00");
    mxci_node_drop_attr(x, "absent");
    assert_null(mxci_node_attr(x, "key00"));
    assert_int_equal(x->n_attrs, 99);
    mxci_node_release(x);
}

static void test_spellings(void **state) {
    mxc_op *op = new_op("t_bn", NULL, NULL);
    mxci_node *x = new_node(MXCI_VARIABLE, "x", NULL), *n = new_node(MXCI_FORWARD, "n", op);
    (void)state;
    assert_ok(mxci_node_set_attr(x, "lr_mult", "2"));
    assert_ok(mxci_node_set_attr(x, "mood", "calm"));
    assert_ok(mxci_node_set_attr(n, "mood", "calm"));
    assert_ok(mxci_node_set_attr(n, "gamma_lr_mult", "3"));
    assert_string_equal(mxci_node_attr(x, "__lr_mult__"), "2");
    assert_string_equal(mxci_node_attr(x, "lr_mult"), "2");
    assert_null(mxci_node_attr(x, "__mood__"));
    assert_string_equal(mxci_node_attr(n, "__mood__"), "calm");
    assert_string_equal(mxci_node_attr(n, "mood"), "calm");
    assert_string_equal(mxci_node_attr(n, "gamma_lr_mult"), "3");
    assert_null(mxci_node_attr(n, "lr_mult"));
    mxci_node_release(x);
    mxci_node_release(n);
    mxc_op_release(op);
}

static void test_limits(void **state) {
    mxci_node *x = new_node(MXCI_VARIABLE, "x", NULL);
    char key[300];
    (void)state;
    memset(key, 'k', sizeof key);
    key[251] = '\0';
    assert_ok(mxci_node_set_attr(x, key, ""));
    key[251] = 'k';
    key[252] = '\0';
    assert_fails(mxci_node_set_attr(x, key, ""), MXC_EINVAL, "252 bytes");
    assert_fails(mxci_node_set_attr(x, "", ""), MXC_EINVAL, "expected 1 to 251");
    assert_null(mxci_node_attr(x, key));
    for (int i = 1; i < 4096; i++) {
        snprintf(key, sizeof key, "%d", i);
        assert_ok(mxci_node_set_attr(x, key, ""));
    }
    assert_fails(mxci_node_set_attr(x, "one more", ""), MXC_EUNSUPPORTED, "4096");
    assert_ok(mxci_node_set_attr(x, "7", "again"));
    mxci_node_release(x);
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_release_follows_inputs_and_forward),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_attributes_of_variables),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}

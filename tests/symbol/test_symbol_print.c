/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols as text: one line a node. */
#include "ops.h"

#include "base/sys.h"

static void test_lines(void **state) {
    mxc_symbol *mlp = test_mlp(), *split = test_op("t_split", "s", 1, &mlp, "num_outputs", "2", "lr_mult", "3", NULL);
    mxc_symbol *all = test_op("t_concat", "c", 1, &split, NULL), *fc = NULL;
    char *text;
    (void)state;
    assert_ok(mxc_symbol_print(all, &text));
    assert_string_equal(text, "data = variable\n"
                              "fc1_weight = variable\n"
                              "fc1_bias = variable\n"
                              "fc1 = t_fc(data, fc1_weight, fc1_bias; num_hidden=10)\n"
                              "relu1 = t_act(fc1; act_type=relu)\n"
                              "fc2_weight = variable\n"
                              "fc2 = t_fc(relu1, fc2_weight; num_hidden=4, no_bias=True)\n"
                              "s = t_split(fc2; num_outputs=2)  {__lr_mult__=3}\n"
                              "c = t_concat(s[0], s[1]; num_args=2)\n"
                              "outputs: c\n");
    mxci_free(text);
    assert_ok(mxc_symbol_atomic("t_bn", 0, NULL, NULL, &fc));
    assert_status(mxc_symbol_print(fc, &text), MXC_ESTATE);
    assert_null(text);
    mxc_symbol_release(fc);
    mxc_symbol_release(mlp);
    mxc_symbol_release(split);
    mxc_symbol_release(all);
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines)};
    return cmocka_run_group_tests(tests, setup, NULL);
}

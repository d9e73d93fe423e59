/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols as pictures: what is drawn, quoting, and that Graphviz reads it where it is installed. */
#include "ops.h"

#include "base/sys.h"

static char *dot_of(const mxc_symbol *symbol, const mxc_shape *shape) {
    static const char *const names[] = {"data"};
    char *dot;
    assert_ok(mxc_symbol_to_dot(symbol, shape != NULL, names, shape, &dot));
    return dot;
}

static void has(const char *dot, const char *text) {
    if (!strstr(dot, text))
        fail_msg("\"%s\" is not in\n%s", text, dot);
}

static void test_drawing(void **state) {
    mxc_symbol *mlp = test_mlp();
    mxc_shape shape = test_shape(2, 32, 784);
    char *dot = dot_of(mlp, NULL), *again;
    (void)state;
    has(dot, "digraph symbol {");
    has(dot, "n0 [label=\"data\", shape=ellipse");
    has(dot, "n3 [label=\"fc1\\nt_fc\\nnum_hidden 10\\nbias (10,)\", fillcolor=\"#"); /* follows without shapes */
    has(dot, "    n3 -> n4;\n");
    assert_null(strstr(dot, "fc1_weight"));
    mxci_free(dot);
    dot = dot_of(mlp, &shape);
    has(dot, "n3 [label=\"fc1\\nt_fc\\nnum_hidden 10\\nweight (10,784)\\nbias (10,)\"");
    has(dot, "n0 -> n3 [label=\" (32,784)\"];");
    has(dot, "no_bias True\\nweight (4,10)\", fillcolor=\"#f5d5e6\", penwidth=2];");
    again = dot_of(mlp, &shape);
    assert_string_equal(dot, again);
    mxci_free(dot);
    mxci_free(again);
    mxc_symbol_release(mlp);
}

static void test_weights_elsewhere(void **state) {
    mxc_symbol *w = test_var("w"), *in[] = {w, w}, *parts[2];
    mxc_symbol *fc = test_op("t_fc", "fc", 2, in, "num_hidden", "3", NULL);
    mxc_symbol *group;
    char *dot;
    (void)state;
    dot = dot_of(fc, NULL); /* w is also data: one ellipse, one edge */
    has(dot, "n0 [label=\"w\"");
    has(dot, "    n0 -> n2;\n}\n");
    mxci_free(dot);
    parts[0] = fc;
    assert_ok(mxc_symbol_internals(fc, &parts[1]));
    assert_ok(mxc_symbol_group(2, parts, &group));
    dot = dot_of(group, NULL); /* outputs are drawn */
    has(dot, "[label=\"fc_bias\\n(3,)\", shape=ellipse, fillcolor=\"#cdebe3\", penwidth=2];");
    mxci_free(dot);
    mxc_symbol_release(group);
    mxc_symbol_release(parts[1]);
    mxc_symbol_release(fc);
    mxc_symbol_release(w);
}

static void test_quoting(void **state) {
    mxc_symbol *x = test_var("a\"];b\\\n");
    char *dot = dot_of(x, NULL);
    (void)state;
    has(dot, "n0 [label=\"a\\\"];b\\\\ \", shape");
    mxci_free(dot);
    mxc_symbol_release(x);
}

static void test_conflict_is_reported(void **state) {
    static const char *const names[] = {"data", "fc1_weight"};
    mxc_shape shapes[] = {test_shape(2, 2, 3), test_shape(2, 10, 4)};
    mxc_symbol *mlp = test_mlp();
    char *dot;
    (void)state;
    assert_fails(mxc_symbol_to_dot(mlp, 2, names, shapes, &dot), MXC_ESHAPE, "node \"fc1\"");
    assert_null(dot);
    mxc_symbol_release(mlp);
}

static void test_graphviz_reads_it(void **state) {
    mxc_symbol *mlp = test_mlp();
    mxc_shape shape = test_shape(2, 32, 784);
    char *dot = dot_of(mlp, &shape), command[1200];
    test_path folder, path;
    (void)state;
    test_temp_dir(folder);
    test_join(path, folder, "net.dot");
    test_write_file(path, dot, strlen(dot));
    mxci_free(dot);
    mxc_symbol_release(mlp);
    snprintf(command, sizeof command, "dot -V 2>/dev/null && dot -Tsvg %s -o %s/net.svg", path, folder);
    if (system("command -v dot >/dev/null 2>&1") != 0) {
        test_remove_dir(folder);
        skip();
    }
    assert_int_equal(system(command), 0);
    test_remove_dir(folder);
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drawing),           cmocka_unit_test(test_weights_elsewhere),
        cmocka_unit_test(test_quoting),           cmocka_unit_test(test_conflict_is_reported),
        cmocka_unit_test(test_graphviz_reads_it),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}

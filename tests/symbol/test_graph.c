/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols to flat graphs and back. */
#include "ops.h"

#include "base/sys.h"
#include "symbol/graph.h"

static mxci_graph *flatten(mxc_symbol *symbol) {
    mxci_graph *g;
    assert_ok(mxci_graph_from_symbol(symbol, &g));
    mxc_symbol_release(symbol);
    return g;
}

static void test_layout(void **state) {
    mxc_symbol *x = test_var("x"), *in[2];
    mxci_graph *g;
    (void)state;
    in[0] = x;
    in[1] = test_op("t_bn", "n", 1, &x, NULL);
    g = flatten(test_op("t_add", "a", 2, in, NULL));
    mxc_symbol_release(x);
    mxc_symbol_release(in[1]);
    assert_int_equal(g->n_nodes, 7); /* x gamma beta mean var n a */
    assert_int_equal(g->n_entries, 9);
    assert_int_equal(g->n_inputs, 7);
    assert_string_equal(g->nodes[5].name, "n");
    assert_int_equal(g->nodes[5].n_aux, 2);
    assert_int_equal(g->nodes[5].n_outputs, 3);
    assert_int_equal(g->nodes[5].forward, -1);
    assert_int_equal(mxci_graph_inputs(g, 6)[0], 0);
    assert_int_equal(mxci_graph_inputs(g, 6)[1], 5);
    assert_int_equal(g->entry_node[7], 5);
    assert_int_equal(g->shapes[7].ndim, -1);
    assert_int_equal(g->n_args, 3);
    assert_int_equal(g->args[2], 2);
    assert_int_equal(g->n_aux, 2);
    assert_int_equal(g->aux[0], 3);
    assert_int_equal(g->n_outputs, 1);
    assert_int_equal(g->outputs[0], 8);
    assert_int_equal(g->nodes[6].context.device, MXC_CPU);
    mxci_graph_destroy(g);
    mxci_graph_destroy(NULL);
}

static char *json_of(mxc_symbol *symbol) {
    char *json;
    assert_ok(mxc_symbol_to_json(symbol, &json));
    return json;
}

static void test_back_reuses_nodes(void **state) {
    mxc_symbol *mlp = test_mlp(), *back;
    mxci_graph *g;
    (void)state;
    assert_ok(mxci_graph_from_symbol(mlp, &g));
    assert_ok(mxci_graph_to_symbol(g, g->n_outputs, g->outputs, &back));
    assert_ptr_equal(back->outputs[0].node, mlp->outputs[0].node);
    mxci_graph_destroy(g);
    mxc_symbol_release(back);
    mxc_symbol_release(mlp);
}

/* data -> fc -> relu becomes data -> fc -> tanh -> relu. */
static void test_added_and_rewired(void **state) {
    mxc_symbol *fc = test_op("t_fc", "fc", 0, NULL, "num_hidden", "3", NULL);
    mxc_symbol *relu = test_op("t_act", "r", 1, &fc, "act_type", "relu", "ctx_group", "a", NULL), *back, *all;
    const char *key = "act_type", *value = "tanh";
    mxci_graph *g;
    mxc_op *tanh_op;
    mxc_names names;
    int32_t fc_entry, added;
    (void)state;
    assert_ok(mxci_graph_from_symbol(relu, &g));
    fc_entry = mxci_graph_inputs(g, 4)[0];
    assert_ok(mxc_op_create("t_act", 1, &key, &value, &tanh_op));
    assert_ok(mxci_graph_add(g, MXCI_FORWARD, tanh_op, "t", 1, &fc_entry, 1, -1, &added));
    assert_int_equal(added, 5);
    assert_int_equal(g->types[g->nodes[added].first_entry], MXC_DTYPE_UNKNOWN);
    assert_ok(mxci_graph_to_symbol(g, 1, &g->nodes[added].first_entry, &back));
    assert_ok(mxc_symbol_list_outputs(back, &names));
    test_names(&names, "t_output");
    assert_ptr_equal(back->outputs[0].node->inputs[0].node, fc->outputs[0].node); /* fc itself */
    mxc_symbol_release(back);
    /* r now reads something else, so it is made anew, with its attributes */
    g->inputs[g->nodes[4].first_input] = g->nodes[0].first_entry;
    assert_ok(mxci_graph_to_symbol(g, 1, g->outputs, &back));
    assert_ptr_not_equal(back->outputs[0].node, relu->outputs[0].node);
    assert_string_equal(mxc_symbol_attr(back, "ctx_group"), "a");
    assert_ok(mxc_symbol_internals(back, &all));
    assert_ok(mxc_symbol_list_outputs(all, &names));
    test_names(&names, "fc_data,r_output");
    mxc_symbol_release(all);
    mxc_symbol_release(back);
    mxc_op_release(tanh_op);
    mxci_graph_destroy(g);
    mxc_symbol_release(fc);
    mxc_symbol_release(relu);
}

/* Append the backward node of node at, which needs out_grad[0] and inputs 0 and 1 (t_fc). */
static int32_t add_fc_backward(mxci_graph *g, int32_t at) {
    int32_t head, added, in[3];
    assert_ok(mxci_graph_add(g, MXCI_VARIABLE, NULL, "head", 0, NULL, 1, -1, &head));
    in[0] = g->nodes[head].first_entry;
    in[1] = mxci_graph_inputs(g, at)[0];
    in[2] = mxci_graph_inputs(g, at)[1];
    assert_ok(mxci_graph_add(g, MXCI_BACKWARD, g->nodes[at].op, "fc_back", 3, in, 3, at, &added));
    return added;
}

static void test_backward(void **state) {
    mxci_graph *g = flatten(test_op("t_fc", "fc", 0, NULL, "num_hidden", "3", NULL));
    int32_t back = add_fc_backward(g, 3), outputs[2];
    mxc_symbol *grads, *again;
    mxc_names names;
    char *json, *json2;
    (void)state;
    outputs[0] = g->nodes[back].first_entry + 1;
    outputs[1] = g->nodes[back].first_entry;
    g->shapes[0] = test_shape(2, 5, 7);
    assert_ok(mxci_graph_infer(g));
    assert_int_equal(g->shapes[outputs[0]].dim[1], 7);
    assert_int_equal(g->shapes[mxci_graph_inputs(g, back)[0]].dim[0], 5); /* head has the output's shape */
    assert_ok(mxci_graph_to_symbol(g, 2, outputs, &grads));
    mxci_graph_destroy(g);
    assert_ok(mxc_symbol_list_outputs(grads, &names));
    test_names(&names, "fc_back_weight_grad,fc_back_data_grad");
    assert_ok(mxc_symbol_list_arguments(grads, &names));
    test_names(&names, "head,fc_data,fc_weight,fc_bias");
    json = json_of(grads);
    assert_non_null(strstr(json, "\"op\": \"_backward_t_fc\""));
    assert_ok(mxc_symbol_from_json(json, strlen(json), &again));
    json2 = json_of(again);
    assert_string_equal(json, json2);
    mxci_free(json);
    mxci_free(json2);
    mxc_symbol_release(grads);
    mxc_symbol_release(again);
}

static int setup(void **state) {
    (void)state;
    test_ops_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_back_reuses_nodes),
        cmocka_unit_test(test_added_and_rewired),
        cmocka_unit_test(test_backward),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}

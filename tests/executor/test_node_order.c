/* SPDX-License-Identifier: Apache-2.0 */
/* The running order: what runs, and when. */
#include "executor/graphs.h"

#include "symbol/graph_edit.h"

static mxci_program *make(mxc_symbol *symbol) {
    mxc_shape shape = net_shape(2, 4, 5, 0, 0);
    return graph_program(symbol, &shape, MXC_F32, mxc_cpu(0));
}

/* Names of the nodes in running order. */
static void assert_order(const mxci_program *p, const char *names) {
    char found[256] = "";
    for (int32_t i = 0; i < p->n_steps; i++) {
        strcat(found, i ? " " : "");
        strcat(found, p->graph->nodes[p->order[i]].name);
        assert_int_equal(p->step_of[p->order[i]], i);
    }
    assert_string_equal(found, names);
}

static mxc_symbol *net(void) {
    return net_on("square", "b", "", net_on("tanh", "a", "", net_variable("data")));
}

static void test_forward_and_backward(void **state) {
    mxci_program *p = make(net());
    (void)state;
    p->wanted[0] = 1;
    assert_ok(mxci_pass_differentiate(p->graph, p->wanted, p->grads, p->heads));
    assert_ok(mxci_pass_node_order(p, 0));
    assert_order(p, "a b b_backward a_backward");
    assert_int_equal(p->n_forward, 2);
    mxci_program_destroy(p);
}

/* A node behind the symbol's that one of them reads runs just before it; one that nobody reads does not run. */
static void test_added_nodes(void **state) {
    mxci_program *p = make(net());
    mxci_graph *g = p->graph;
    int32_t a = g->nodes[graph_find(g, "a")].first_entry, copy, unused;
    (void)state;
    assert_ok(mxci_graph_add_like(g, "_copy", "copy", 1, &a, &copy));
    assert_ok(mxci_graph_add_like(g, "_copy", "unused", 1, &a, &unused));
    g->inputs[g->nodes[graph_find(g, "b")].first_input] = copy;
    assert_ok(mxci_pass_node_order(p, 0));
    assert_order(p, "a a_copy b");
    assert_int_equal(p->step_of[graph_find(g, "a_unused")], -1);
    mxci_program_destroy(p);
}

/* Nodes without a node of the symbol that read variables only, as folded weights. */
static void test_params_first(void **state) {
    mxci_program *p = make(net_on2("elemwise_add", "sum", "", net(), net_variable("w")));
    mxci_graph *g = p->graph;
    int32_t w = g->nodes[graph_find(g, "w")].first_entry, twice;
    (void)state;
    assert_ok(mxci_graph_add_like(g, "square", "squared", 1, &w, &twice));
    g->inputs[g->nodes[graph_find(g, "sum")].first_input + 1] = twice;
    p->n_symbol_nodes = g->n_nodes;
    assert_ok(mxci_pass_node_order(p, 0));
    assert_order(p, "a b w_squared sum");
    mxci_program_clear_steps(p);
    assert_ok(mxci_pass_node_order(p, 1));
    assert_order(p, "w_squared a b sum");
    mxci_program_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward_and_backward),
        cmocka_unit_test(test_added_nodes),
        cmocka_unit_test(test_params_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The recompute pass: which forward results backward reads from a second run of their nodes. */
#include "executor/graphs.h"

static mxci_program *run(mxc_symbol *symbol, mxc_recompute mode) {
    mxc_shape shape = net_shape(2, 4, 5, 0, 0);
    mxci_program *p = graph_program(symbol, &shape, MXC_F32, mxc_cpu(0));
    p->wanted[0] = 1;
    assert_ok(mxci_pass_differentiate(p->graph, p->wanted, p->grads, p->heads));
    p->n_base_nodes = p->graph->n_nodes;
    assert_ok(mxci_pass_recompute(p, mode));
    return p;
}

/* Backward of exp and of square read what exp has made. */
static mxc_symbol *net(void) {
    return net_on("square", "y", "", net_on("exp", "e", "", net_variable("data")));
}

static int second_runs(const mxci_program *p) {
    int n = 0;
    for (int32_t i = p->n_base_nodes; i < p->graph->n_nodes; i++)
        n += strstr(p->graph->nodes[i].name, "_again") != NULL;
    return n;
}

static void test_none(void **state) {
    mxci_program *p = run(net(), MXC_RECOMPUTE_NONE);
    (void)state;
    assert_int_equal(second_runs(p), 0);
    assert_entry(p->graph, p->grads[0], "exp_backward(square_backward(head_grad,exp(data)),exp(data))");
    mxci_program_destroy(p);
}

/* The text is the same, but of the second run's node, which forward does not read. */
static void test_cheap(void **state) {
    mxci_program *p = run(net(), MXC_RECOMPUTE_CHEAP);
    const mxci_graph *g = p->graph;
    int32_t again, backward;
    (void)state;
    assert_int_equal(second_runs(p), 1);
    again = graph_find(g, "e_again");
    backward = graph_find(g, "y_backward");
    assert_int_equal(g->entry_node[mxci_graph_inputs(g, backward)[1]], again);
    assert_string_equal(g->nodes[g->entry_node[mxci_graph_inputs(g, graph_find(g, "y"))[0]]].name, "e");
    assert_entry(g, g->nodes[again].first_entry, "exp(data)");
    mxci_program_destroy(p);
}

/* An output of the graph is kept in any case. */
static void test_output_stays(void **state) {
    mxci_program *p = run(net_on("exp", "e", "", net_variable("data")), MXC_RECOMPUTE_CHEAP);
    (void)state;
    assert_int_equal(second_runs(p), 0);
    mxci_program_destroy(p);
}

/* All: of nine operators every third is kept. */
static void test_all(void **state) {
    mxc_symbol *s = net_variable("data");
    mxci_program *p;
    char name[8] = "t0";
    (void)state;
    for (; name[1] < '9'; name[1]++)
        s = net_on("tanh", name, "", s);
    p = run(net_on("square", "last", "", s), MXC_RECOMPUTE_ALL);
    for (int i = 0; i < 8; i++) {
        char again[32];
        int32_t found = -1;
        snprintf(again, sizeof again, "t%d_again", i);
        for (int32_t j = 0; j < p->graph->n_nodes; j++)
            found = strcmp(p->graph->nodes[j].name, again) ? found : j;
        assert_int_equal(found >= 0, i % 3 != 0);
    }
    mxci_program_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_cheap),
        cmocka_unit_test(test_output_stays),
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The pass that copies entries between contexts. */
#include "executor/graphs.h"

static const mxc_context second = {MXC_CPU, 1};

/* tanh(data) on cpu(0) and what reads it on cpu(1). */
static mxci_program *make(mxc_symbol *symbol) {
    mxc_shape shape = net_shape(2, 4, 5, 0, 0);
    mxci_program *p = graph_program(symbol, &shape, MXC_F32, mxc_cpu(0));
    for (int32_t i = 0; i < p->graph->n_nodes; i++)
        if (p->graph->nodes[i].name[0] == 'z')
            p->graph->nodes[i].context = second;
    return p;
}

static void test_copy(void **state) {
    mxci_program *p = make(net_on("exp", "z", "", net_on("tanh", "a", "", net_variable("data"))));
    const mxci_graph *g = p->graph;
    (void)state;
    assert_ok(mxci_pass_device_copies(p));
    assert_output(p, "exp(_CrossDeviceCopy(tanh(data)))");
    assert_true(mxc_context_equal(g->nodes[g->n_nodes - 1].context, second));
    mxci_program_destroy(p);
}

/* Two readers on a context share one copy; one on the entry's own context reads it as it is. */
static void test_one_copy(void **state) {
    mxc_symbol *a = net_on("tanh", "a", "", net_variable("data"));
    mxc_symbol *both = net_on2("elemwise_add", "z", "", net_on("exp", "z1", "", mxc_symbol_retain(a)),
                               net_on("square", "z2", "", mxc_symbol_retain(a)));
    mxci_program *p = make(net_on2("elemwise_mul", "y", "", both, a));
    int32_t before = p->graph->n_nodes;
    (void)state;
    assert_ok(mxci_pass_device_copies(p));
    assert_int_equal(p->graph->n_nodes, before + 2); /* of tanh to cpu(1), and of the sum back */
    assert_output(p, "elemwise_mul(_CrossDeviceCopy(elemwise_add(exp(_CrossDeviceCopy(tanh(data))),square("
                     "_CrossDeviceCopy(tanh(data))))),tanh(data))");
    mxci_program_destroy(p);
}

static void test_state_elsewhere(void **state) {
    mxc_shape shape = net_shape(4, 2, 3, 4, 4);
    mxci_program *p = graph_program(net_on("BatchNorm", "bn", "", net_variable("data")), &shape, MXC_F32, mxc_cpu(0));
    (void)state;
    p->graph->nodes[graph_find(p->graph, "bn_moving_mean")].context = second;
    assert_fails(mxci_pass_device_copies(p), MXC_EINVAL, "bn_moving_mean");
    mxci_program_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_one_copy),
        cmocka_unit_test(test_state_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

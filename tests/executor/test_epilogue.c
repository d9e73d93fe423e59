/* SPDX-License-Identifier: Apache-2.0 */
/* The epilogue pass: functions behind layers whose descriptors list them. */
#include "executor/graphs.h"

static const mxc_context gpu = {MXC_GPU, 0}, cpu = {MXC_CPU, 0};

static mxc_symbol *layer(void) {
    return net_on("FullyConnected", "fc", "num_hidden=3", net_variable("data"));
}

static mxci_program *run(mxc_symbol *symbol, mxc_context context) {
    mxc_shape shape = net_shape(2, 4, 5, 0, 0);
    mxci_program *p = graph_program(symbol, &shape, MXC_F32, context);
    assert_ok(mxci_pass_epilogue(p));
    return p;
}

static void expect(mxc_symbol *symbol, mxc_context context, const char *text) {
    mxci_program *p = run(symbol, context);
    assert_output(p, text);
    assert_int_equal(p->is_rewritten, strncmp(text, "_fc_relu", 8) == 0);
    mxci_program_destroy(p);
}

static void test_relu(void **state) {
    (void)state;
    expect(net_on("relu", "act", "", layer()), gpu, "_fc_relu(data,fc_weight,fc_bias)");
    expect(net_on("Activation", "act", "act_type=relu", layer()), gpu, "_fc_relu(data,fc_weight,fc_bias)");
}

static void test_others_stay(void **state) {
    (void)state;
    expect(net_on("relu", "act", "", layer()), cpu, "relu(FullyConnected(data,fc_weight,fc_bias))");
    expect(net_on("tanh", "act", "", layer()), gpu, "tanh(FullyConnected(data,fc_weight,fc_bias))");
    expect(net_on("relu", "act", "", net_variable("data")), gpu, "relu(data)");
}

/* The product has another reader. */
static void test_shared_layer(void **state) {
    mxc_symbol *fc = layer(), *act = net_on("relu", "act", "", mxc_symbol_retain(fc));
    (void)state;
    expect(net_on2("elemwise_add", "sum", "", act, fc), gpu,
           "elemwise_add(relu(FullyConnected(data,fc_weight,fc_bias)),FullyConnected(data,fc_weight,fc_bias))");
}

/* The new node has the name, context and shape of the function's. */
static void test_node(void **state) {
    mxci_program *p = run(net_on("relu", "act", "", layer()), gpu);
    const mxci_graph *g = p->graph;
    const mxci_gnode *node = &g->nodes[g->entry_node[g->outputs[0]]];
    (void)state;
    assert_string_equal(node->name, "act");
    assert_true(mxc_context_equal(node->context, gpu));
    assert_int_equal(g->shapes[g->outputs[0]].dim[1], 3);
    mxci_program_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relu),
        cmocka_unit_test(test_others_stay),
        cmocka_unit_test(test_shared_layer),
        cmocka_unit_test(test_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The fusion pass: element-wise operators that become one _chain. */
#include "executor/graphs.h"

static const mxc_context gpu = {MXC_GPU, 0}, cpu = {MXC_CPU, 0};

static mxci_program *run(mxc_symbol *symbol, mxc_context context) {
    mxc_shape shape = net_shape(2, 4, 5, 0, 0);
    mxci_program *p = graph_program(symbol, &shape, MXC_F32, context);
    assert_ok(mxci_pass_fusion(p));
    return p;
}

static void expect(mxc_symbol *symbol, mxc_context context, const char *text, const char *steps) {
    mxci_program *p = run(symbol, context);
    const mxci_graph *g = p->graph;
    const mxc_op *op = g->nodes[g->entry_node[g->outputs[0]]].op;
    assert_output(p, text);
    assert_int_equal(p->is_rewritten, steps != NULL);
    for (int i = 0; steps && i < mxc_op_n_given(op); i++) {
        const char *key, *value;
        mxc_op_given(op, i, &key, &value);
        if (!strcmp(key, "steps"))
            assert_string_equal(value, steps);
    }
    mxci_program_destroy(p);
}

static mxc_symbol *chain(void) {
    return net_on("_mul_scalar", "twice", "scalar=2", net_on("relu", "act", "", net_variable("data")));
}

static void test_chain(void **state) {
    (void)state;
    expect(chain(), gpu, "_chain(data)", "relu:i0,mul:s0:2");
    expect(net_on("_rminus_scalar", "rest", "scalar=1", chain()), gpu, "_chain(data)", "relu:i0,mul:s0:2,sub:1:s1");
    expect(net_on2("elemwise_add", "sum", "", chain(), net_variable("other")), gpu, "_chain(data,other)",
           "relu:i0,mul:s0:2,add:s1:i1");
}

static void test_others_stay(void **state) {
    (void)state;
    expect(chain(), cpu, "_mul_scalar(relu(data))", NULL);
    expect(net_on("relu", "act", "", net_variable("data")), gpu, "relu(data)", NULL); /* one is no chain */
    expect(net_on("softmax", "probabilities", "", chain()), gpu, "softmax(_chain(data))", "relu:i0,mul:s0:2");
}

/* What has another reader is computed by itself. */
static void test_shared(void **state) {
    mxc_symbol *act = net_on("relu", "act", "", net_variable("data"));
    mxc_symbol *twice = net_on("_mul_scalar", "twice", "scalar=2", mxc_symbol_retain(act));
    (void)state;
    expect(net_on2("elemwise_add", "sum", "", twice, act), gpu, "_chain(relu(data))", "mul:i0:2,add:s0:i0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_others_stay),
        cmocka_unit_test(test_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

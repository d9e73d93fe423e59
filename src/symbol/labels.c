/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which arguments are labels: variables whose values reach the outputs through label arguments of losses alone
 * (mxc_op_def.labels), perhaps by way of other operators, as in SoftmaxOutput(fc1, Reshape(label)). Uses are propagated
 * from the outputs to the variables in one sweep.
 */
#include "base/sys.h"
#include "symbol/graph.h"

/* How a node's outputs are used, directly or through other operators. */
typedef struct use {
    uint8_t as_value; /* by a graph output or a loss other than as its label */
    int32_t label_of; /* the loss that has it, or what is made of it, as its label; -1: none */
} use;

static void add_use(use *to, int as_value, int32_t label_of) {
    to->as_value |= (uint8_t)as_value;
    to->label_of = to->label_of >= 0 ? to->label_of : label_of;
}

/* Labels of a loss are used as such; every other input is used as the operator itself is. */
static void propagate_use(const mxci_graph *g, int32_t node, use *uses) {
    const mxci_gnode *n = &g->nodes[node];
    uint64_t labels = n->kind == MXCI_FORWARD ? mxc_op_get_def(n->op)->labels : 0;
    for (int32_t i = 0; i < n->n_inputs; i++) {
        use *input = &uses[g->entry_node[mxci_graph_inputs(g, node)[i]]];
        if (i < 64 && labels >> i & 1)
            add_use(input, 0, node);
        else
            add_use(input, uses[node].as_value, uses[node].label_of);
    }
}

mxc_status mxci_graph_find_labels(const mxci_graph *g, int32_t *label_of) {
    use *uses = mxci_alloc((size_t)(g->n_nodes + 1) * sizeof *uses);
    if (!uses)
        return MXC_FAIL(MXC_ENOMEM, "no memory for the uses of %d nodes", (int)g->n_nodes);
    for (int32_t i = 0; i < g->n_nodes; i++)
        uses[i] = (use){0, -1};
    for (int32_t i = 0; i < g->n_outputs; i++)
        uses[g->entry_node[g->outputs[i]]].as_value = 1;
    for (int32_t i = g->n_nodes - 1; i >= 0; i--)
        if (g->nodes[i].kind != MXCI_VARIABLE)
            propagate_use(g, i, uses);
    for (int32_t i = 0; i < g->n_args; i++)
        label_of[i] = uses[g->args[i]].as_value ? -1 : uses[g->args[i]].label_of;
    mxci_free(uses);
    return MXC_OK;
}

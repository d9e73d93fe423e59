/* SPDX-License-Identifier: Apache-2.0 */
/* A graph run as calls on arrays: the nodes are in topological order, so each finds its inputs computed. */
#include "autograd/call_by_node.h"

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"

typedef struct by_node {
    const mxci_graph *graph;
    const mxci_node_monitor *monitor;
    mxc_ndarray **entries; /* of the graph, retained; NULL: not computed yet, or hidden */
    mxc_ndarray **slots;   /* inputs of the node that is called, borrowed */
} by_node;

int mxci_graph_needs_arrays(const mxci_graph *graph) {
    for (int32_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].op && mxc_op_get_def(graph->nodes[i].op)->infer_from_data)
            return 1;
    return 0;
}

static void show(const by_node *b, const mxci_gnode *node, const char *slot, mxc_ndarray *array) {
    char name[256];
    mxci_format(name, sizeof name, "%s_%s", node->name, slot);
    b->monitor->fn(name, mxc_op_name(node->op), array, b->monitor->user);
}

static void show_inputs(const by_node *b, const mxci_gnode *node) {
    const int n_args = mxci_graph_n_args(node);
    char slot[128];
    for (int i = 0; i < node->n_inputs; i++) {
        if (i < n_args)
            mxc_op_arg_name(node->op, i, slot, sizeof slot);
        else
            mxc_op_aux_name(node->op, i - n_args, slot, sizeof slot);
        show(b, node, slot, b->slots[i]);
    }
}

static mxc_status call_node(const by_node *b, const mxci_gnode *node) {
    const int32_t *inputs = b->graph->inputs + node->first_input;
    mxc_ndarray **out = b->entries + node->first_entry;
    const int n_visible = mxc_op_n_visible(node->op);
    char slot[128];
    for (int32_t i = 0; i < node->n_inputs; i++)
        b->slots[i] = b->entries[inputs[i]];
    if (b->monitor->fn && b->monitor->is_all)
        show_inputs(b, node);
    MXC_TRY(mxc_op_invoke(node->op, node->n_inputs, b->slots, n_visible, out, NULL, 0));
    for (int i = 0; i < n_visible && b->monitor->fn; i++) {
        mxc_op_output_name(node->op, i, slot, sizeof slot);
        show(b, node, slot, out[i]);
    }
    return MXC_OK;
}

static mxc_status call_nodes(const by_node *b, mxc_ndarray *const *in, mxc_ndarray **out) {
    const mxci_graph *g = b->graph;
    for (int32_t i = 0; i < g->n_args + g->n_aux; i++) {
        const int32_t variable = i < g->n_args ? g->args[i] : g->aux[i - g->n_args];
        b->entries[g->nodes[variable].first_entry] = mxc_ndarray_retain(in[i]);
    }
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op)
            MXC_TRY(call_node(b, &g->nodes[i]));
    for (int32_t i = 0; i < g->n_outputs; i++)
        out[i] = mxc_ndarray_retain(b->entries[g->outputs[i]]);
    return MXC_OK;
}

mxc_status mxci_graph_call_by_node(const mxci_graph *graph, mxc_ndarray *const *in, const mxci_node_monitor *monitor,
                                   mxc_ndarray **out) {
    by_node b = {.graph = graph, .monitor = monitor};
    b.entries = mxci_calloc((size_t)graph->n_entries + 1, sizeof *b.entries);
    b.slots = mxci_calloc((size_t)graph->n_inputs + 1, sizeof *b.slots);
    mxc_status status = b.entries && b.slots ? call_nodes(&b, in, out)
                                             : MXCI_NO_MEMORY("mxc_cached_op_invoke", "the results of operators");
    for (int32_t i = 0; i < graph->n_entries && b.entries; i++)
        mxc_ndarray_release(b.entries[i]);
    mxci_free(b.entries);
    mxci_free(b.slots);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epilogue pass, for GPUs: an element-wise function that is the only reader of a layer's output, and that the
 * layer's descriptor lists among its epilogues (relu after FullyConnected), is computed where the layer writes that
 * output, which saves a kernel launch and a pass over memory. The backward pass does not change: it reads the output of
 * the function, not that of the layer.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "executor/passes/passes.h"
#include "operator/op.h"
#include "symbol/graph_edit.h"
#include "symbol/graph_query.h"

/* The layer that the node at can become an epilogue of, and through op the operator that computes both; -1: none. */
static int32_t epilogue_layer_before(const mxci_graph *g, int32_t at, const int32_t *uses, const char **op) {
    const mxci_gnode *node = &g->nodes[at], *layer;
    mxc_elementwise f;
    int32_t from;
    if (node->kind != MXCI_FORWARD || node->context.device != MXC_GPU || node->n_inputs != 1)
        return -1;
    from = mxci_graph_inputs(g, at)[0];
    layer = &g->nodes[g->entry_node[from]];
    if (layer->kind != MXCI_FORWARD || uses[from] != 1 || from != layer->first_entry ||
        !mxc_context_equal(layer->context, node->context))
        return -1;
    if (!mxci_op_get_elementwise(node->op, &f) || f.scalar != MXC_SCALAR_NONE)
        return -1;
    for (const mxc_epilogue *e = mxc_op_get_def(layer->op)->epilogues; e && e->function; e++)
        if (!strcmp(e->function, f.function)) {
            *op = e->op;
            return g->entry_node[from];
        }
    return -1;
}

/* Appends a node that computes both, which readers of the function read instead. The two nodes stay in the graph,
 * because backward nodes refer to them, but do not run. */
static mxc_status add_joined(mxci_graph *g, int32_t layer, int32_t function, const char *op_name) {
    const int32_t n = g->nodes[layer].n_inputs, from = g->nodes[function].first_entry;
    int32_t node = -1, to, *inputs = mxci_calloc((size_t)n + 1, sizeof *inputs);
    mxc_op *op = NULL;
    mxc_status status;
    if (!inputs)
        return MXCI_NO_MEMORY("epilogues", "the inputs of a node");
    memcpy(inputs, mxci_graph_inputs(g, layer), (size_t)n * sizeof *inputs); /* adding a node may move the graph's */
    status = mxci_op_like(g->nodes[layer].op, op_name, NULL, NULL, &op);
    if (status == MXC_OK)
        status = mxci_graph_add(g, MXCI_FORWARD, op, g->nodes[function].name, n, inputs, 1, -1, &node);
    mxc_op_release(op);
    mxci_free(inputs);
    MXC_TRY(status);
    to = g->nodes[node].first_entry;
    g->shapes[to] = g->shapes[from];
    g->types[to] = g->types[from];
    g->nodes[node].context = g->nodes[function].context;
    mxci_graph_replace_entry(g, from, to);
    return MXC_OK;
}

mxc_status mxci_pass_epilogue(mxci_program *p) {
    int32_t *uses, layer;
    const char *op = NULL;
    mxc_status status = mxci_graph_count_uses(p->graph, &uses);
    for (int32_t i = 0; i < p->n_symbol_nodes && status == MXC_OK; i++) {
        layer = epilogue_layer_before(p->graph, i, uses, &op);
        if (layer < 0)
            continue;
        status = add_joined(p->graph, layer, i, op);
        p->is_rewritten = 1;
    }
    mxci_free(uses);
    return status;
}

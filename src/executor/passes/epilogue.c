/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epilogue pass, for GPUs: an element-wise function that alone reads a layer's output, and that the layer's
 * descriptor lists among its epilogues (relu behind FullyConnected), is computed where the layer writes that output,
 * which saves a kernel and a pass over memory. Backward stays as it is: it reads what the function has made, not what
 * the layer has.
 */
#include <string.h>

#include "base/sys.h"
#include "executor/passes/passes.h"
#include "operator/op.h"
#include "symbol/graph_edit.h"
#include "symbol/graph_query.h"

/* The operator of the layer with the function as its epilogue; NULL: there is none. */
static const char *op_with_epilogue(const mxc_op_def *layer, const mxc_op *function) {
    mxc_elementwise f;
    if (!layer->epilogues || !mxci_op_get_elementwise(function, &f) || f.scalar != MXC_SCALAR_NONE)
        return NULL;
    for (const mxc_epilogue *e = layer->epilogues; e->function; e++)
        if (!strcmp(e->function, f.function))
            return e->op;
    return NULL;
}

/* The layer whose epilogue the node at could be, through op the operator of both; -1: there is none. */
static int32_t epilogue_layer_before(const mxci_graph *g, int32_t at, const int32_t *uses, const char **op) {
    const mxci_gnode *node = &g->nodes[at], *layer;
    int32_t from;
    if (node->kind != MXCI_FORWARD || node->context.device != MXC_GPU || node->n_inputs != 1)
        return -1;
    from = mxci_graph_inputs(g, at)[0];
    layer = &g->nodes[g->entry_node[from]];
    if (layer->kind != MXCI_FORWARD || uses[from] != 1 || from != layer->first_entry ||
        !mxc_context_equal(layer->context, node->context))
        return -1;
    *op = op_with_epilogue(mxc_op_get_def(layer->op), node->op);
    return *op ? g->entry_node[from] : -1;
}

/* Both nodes stay, for backward's sake; nobody reads them. */
static mxc_status join(mxci_graph *g, int32_t layer, int32_t function, const char *op_name) {
    const int32_t n = g->nodes[layer].n_inputs, from = g->nodes[function].first_entry;
    int32_t node = -1, to, *inputs = mxci_calloc((size_t)n + 1, sizeof *inputs);
    mxc_op *op = NULL;
    mxc_status status;
    if (!inputs)
        return MXC_FAIL(MXC_ENOMEM, "epilogues: no memory");
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
        status = join(p->graph, layer, i, op);
        p->is_rewritten = 1;
    }
    mxci_free(uses);
    return status;
}

/*
 * The epilogue pass, for GPUs: a relu that alone reads a FullyConnected is taken where the product is written, which
 * saves a kernel and a pass over memory. Backward stays as it is: it reads what the relu has made, not the product.
 */
#include <string.h>

#include "base/sys.h"
#include "executor/passes/passes.h"
#include "symbol/graph_edit.h"
#include "symbol/graph_query.h"
#include "operator/op.h"
#include "simpleop/chain.h"

/* The node of the product that this relu could be taken with; -1: it is no relu, or none. */
static int32_t product_before(const mxci_graph *g, int32_t at, const int32_t *uses) {
    const mxci_gnode *relu = &g->nodes[at], *product;
    mxci_chain_part part;
    int32_t from;
    if (relu->kind != MXCI_FORWARD || relu->context.device != MXC_GPU || !mxci_chain_part_of(relu->op, &part) ||
        strcmp(part.function, "relu"))
        return -1;
    from = mxci_graph_inputs(g, at)[0];
    product = &g->nodes[g->entry_node[from]];
    if (product->kind != MXCI_FORWARD || uses[from] != 1 || !mxc_context_equal(product->context, relu->context) ||
        strcmp(mxc_op_get_def(product->op)->name, "FullyConnected"))
        return -1;
    return g->entry_node[from];
}

/* Both nodes stay, for backward's sake; nobody reads them. */
static mxc_status join(mxci_graph *g, int32_t product, int32_t relu) {
    int32_t from = g->nodes[relu].first_entry, node = -1, to, inputs[3];
    mxc_op *op;
    mxc_status status;
    memcpy(inputs, mxci_graph_inputs(g, product), (size_t)g->nodes[product].n_inputs * sizeof *inputs);
    MXC_TRY(mxci_op_like(g->nodes[product].op, "_fc_relu", NULL, NULL, &op));
    status = mxci_graph_add(g, MXCI_FORWARD, op, g->nodes[relu].name, g->nodes[product].n_inputs, inputs, 1, -1, &node);
    mxc_op_release(op);
    MXC_TRY(status);
    to = g->nodes[node].first_entry;
    g->shapes[to] = g->shapes[from];
    g->types[to] = g->types[from];
    g->nodes[node].context = g->nodes[relu].context;
    mxci_graph_replace_entry(g, from, to);
    return MXC_OK;
}

mxc_status mxci_pass_epilogue(mxci_program *p) {
    int32_t *uses, product;
    mxc_status status = mxci_graph_count_uses(p->graph, &uses);
    for (int32_t i = 0; i < p->n_symbol_nodes && status == MXC_OK; i++) {
        product = product_before(p->graph, i, uses);
        if (product < 0)
            continue;
        status = join(p->graph, product, i);
        p->is_rewritten = 1;
    }
    mxci_free(uses);
    return status;
}

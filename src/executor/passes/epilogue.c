/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epilogue pass: an addition or an activation that is the only reader of a layer's output is computed where the
 * layer writes that output, if the layer's descriptor has an operator for both (mxc_op_def.epilogue), which saves a
 * pass over memory, and on GPUs a kernel launch. So is an operator that reads all outputs of a layer, such as a
 * conversion, if the descriptor has one for both (mxc_op_def.joined). A layer may take several, one after the other.
 * The backward pass does not change: it reads the output of the function, not that of the layer.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "executor/passes/passes.h"
#include "operator/op.h"
#include "symbol/graph_edit.h"
#include "symbol/graph_query.h"

typedef struct work {
    mxci_program *program;
    mxci_graph *g;
    int32_t *uses; /* entry: how often it is read; has room for those of the nodes that are added */
} work;

/* What the node is to a layer before it: an addition to one of its two arguments, or a rectifier. */
static int is_epilogue(const mxci_graph *g, const mxci_gnode *node, mxc_epilogue *out) {
    const int32_t *in = g->inputs + node->first_input;
    mxc_elementwise f;
    if (node->n_inputs == 1)
        return mxci_op_get_rectifier(node->op, out);
    *out = (mxc_epilogue){.adds = 1, .slope = 1, .limit = INFINITY};
    return node->n_inputs == 2 && mxci_op_get_elementwise(node->op, &f) && f.scalar == MXC_SCALAR_NONE &&
           !strcmp(f.function, "add") && mxc_shape_equal(&g->shapes[in[0]], &g->shapes[in[1]]);
}

/* The layer that alone makes the node's input number i, for it alone, on the same context; -1: none. */
static int32_t layer_before(const work *w, const mxci_gnode *node, int32_t i) {
    const mxci_graph *g = w->g;
    const int32_t from = g->inputs[node->first_input + i];
    const mxci_gnode *layer = &g->nodes[g->entry_node[from]];
    if (layer->kind != MXCI_FORWARD || w->uses[from] != 1 || from != layer->first_entry ||
        !mxc_context_equal(layer->context, node->context))
        return -1;
    return mxc_op_get_def(layer->op)->epilogue ? g->entry_node[from] : -1;
}

/* The entry to of a node that was added stands for entry from. */
static void stand_for(work *w, int32_t from, int32_t to) {
    mxci_graph *g = w->g;
    g->shapes[to] = g->shapes[from];
    g->types[to] = g->types[from];
    w->uses[to] = w->uses[from];
    mxci_graph_replace_entry(g, from, to);
}

/* Appends a node that computes layer and function, which readers of the function read instead, and, where keeps is 1,
 * readers of the layer too. The two nodes stay in the graph, because backward nodes refer to them, but do not run.
 * addend: what is added to the layer; -1: nothing. */
static mxc_status add_joined(work *w, int32_t layer, int32_t function, int32_t addend, int keeps, mxc_op *op) {
    mxci_graph *g = w->g;
    const mxci_gnode first = g->nodes[layer], second = g->nodes[function];
    const int32_t n = first.n_inputs, kept = keeps ? first.n_outputs : 0;
    int32_t node = -1, to, *inputs = mxci_calloc((size_t)n + 1, sizeof *inputs);
    mxc_status status;
    if (!inputs)
        return MXCI_NO_MEMORY("epilogues", "the inputs of a node");
    memcpy(inputs, mxci_graph_inputs(g, layer), (size_t)n * sizeof *inputs); /* adding a node may move the graph's */
    inputs[n] = addend;
    status =
        mxci_graph_add(g, MXCI_FORWARD, op, second.name, n + (addend >= 0), inputs, kept + second.n_outputs, -1, &node);
    mxci_free(inputs);
    MXC_TRY(status);
    to = g->nodes[node].first_entry;
    g->nodes[node].context = second.context;
    for (int32_t i = 0; i < kept; i++) {
        w->uses[first.first_entry + i]--; /* the function's */
        stand_for(w, first.first_entry + i, to + i);
    }
    for (int32_t i = 0; i < second.n_outputs; i++)
        stand_for(w, second.first_entry + i, to + kept + i);
    w->program->is_rewritten = 1;
    return MXC_OK;
}

/* The layer all of whose outputs, and nothing else, the node reads, on the same context; -1: none. *is_alone: whether
 * nothing else reads them. */
static int32_t layer_of_all(const work *w, const mxci_gnode *node, int *is_alone) {
    const mxci_graph *g = w->g;
    const int32_t *in = g->inputs + node->first_input;
    if (node->kind != MXCI_FORWARD || node->n_inputs < 1)
        return -1;
    const int32_t at = g->entry_node[in[0]];
    const mxci_gnode *layer = &g->nodes[at];
    if (layer->kind != MXCI_FORWARD || layer->n_outputs != node->n_inputs ||
        !mxc_context_equal(layer->context, node->context) || !mxc_op_get_def(layer->op)->joined)
        return -1;
    *is_alone = 1;
    for (int32_t i = 0; i < node->n_inputs; i++) {
        if (in[i] != layer->first_entry + i)
            return -1;
        *is_alone &= w->uses[in[i]] == 1;
    }
    return at;
}

/* Joins the node with the layer before it if that has an operator for both. */
static mxc_status join_all(work *w, int32_t at) {
    int is_alone, keeps;
    const int32_t layer = layer_of_all(w, &w->g->nodes[at], &is_alone);
    mxc_op *op;
    if (layer < 0)
        return MXC_OK;
    const mxc_op *of = w->g->nodes[layer].op;
    MXC_TRY(mxc_op_get_def(of)->joined(of, w->g->nodes[at].op, &keeps, &op));
    if (!op)
        return MXC_OK;
    const mxc_status status = is_alone || keeps ? add_joined(w, layer, at, -1, keeps, op) : MXC_OK;
    mxc_op_release(op);
    return status;
}

/* Joins the node with one of the layers before it, if there is one that takes it; the last one, which is likely to run
 * later than the other. */
static mxc_status join(work *w, int32_t at) {
    const mxci_gnode node = w->g->nodes[at];
    mxc_epilogue what;
    if (node.kind != MXCI_FORWARD || node.n_outputs != 1 || !is_epilogue(w->g, &node, &what))
        return MXC_OK;
    for (int32_t i = node.n_inputs - 1; i >= 0; i--) {
        const int32_t layer = layer_before(w, &node, i);
        const int32_t addend = what.adds ? w->g->inputs[node.first_input + 1 - i] : -1;
        mxc_op *op;
        if (layer < 0)
            continue;
        const mxc_op *of = w->g->nodes[layer].op;
        MXC_TRY(mxc_op_get_def(of)->epilogue(of, node.context.device, &what, &op));
        if (!op)
            continue;
        const mxc_status status = add_joined(w, layer, at, addend, 0, op);
        mxc_op_release(op);
        return status;
    }
    return MXC_OK;
}

/* How often entries are read, with room for those that are added: what functions write, and outputs of layers, which
 * functions read. */
static mxc_status count_uses(work *w) {
    const size_t n = (size_t)w->g->n_entries, more = n + (size_t)w->g->n_inputs + 1;
    int32_t *counted;
    mxc_status status = mxci_graph_count_uses(w->g, &counted);
    w->uses = mxci_calloc(n + more, sizeof *w->uses);
    if (status == MXC_OK && !w->uses)
        status = MXCI_NO_MEMORY("epilogues", "the uses of entries");
    if (status == MXC_OK)
        memcpy(w->uses, counted, n * sizeof *w->uses);
    mxci_free(counted);
    return status;
}

mxc_status mxci_pass_epilogue(mxci_program *p) {
    work w = {.program = p, .g = p->graph};
    mxc_status status = count_uses(&w);
    for (int32_t i = 0; i < p->n_symbol_nodes && status == MXC_OK; i++) {
        status = join(&w, i);
        if (status == MXC_OK)
            status = join_all(&w, i);
    }
    mxci_free(w.uses);
    return status;
}

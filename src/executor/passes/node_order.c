/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The execution order: which nodes run, and when. Nodes that neither an output nor a gradient needs do not run. The
 * others run in a topological order:
 * - the symbol's nodes in their order; of the nodes that replace some of them, each runs just before its first reader,
 *   or before everything else where params_first is set and it follows from parameters
 * - then the backward nodes in theirs
 * - nodes that later passes have added (copies between contexts, nodes that run again) just before their first reader,
 *   so that their results occupy memory for a short time
 */
#include "base/error.h"
#include "base/sys.h"
#include "executor/passes/passes.h"
#include "symbol/graph_query.h"

typedef struct walk {
    mxci_program *program;
    uint8_t *needed;    /* node */
    uint8_t *of_params; /* node: a pass added it, and it runs before all others */
    mxci_node_sequence sequence;
} walk;

/* Marks the node that makes an entry and pushes it on the stack, which the sequence does not need yet. */
static void need(walk *w, int32_t entry, int32_t *depth) {
    int32_t node = w->program->graph->entry_node[entry];
    if (w->needed[node])
        return;
    w->needed[node] = 1;
    w->sequence.stack[(*depth)++] = node;
}

/* Marks all nodes that outputs and gradients depend on: depth-first search. */
static void mark_needed(walk *w) {
    const mxci_program *p = w->program;
    const mxci_graph *g = p->graph;
    int32_t depth = 0;
    for (int32_t i = 0; i < g->n_outputs; i++)
        need(w, g->outputs[i], &depth);
    for (int32_t i = 0; i < g->n_args; i++)
        if (p->grads[i] >= 0)
            need(w, p->grads[i], &depth);
    while (depth > 0) {
        int32_t node = w->sequence.stack[--depth];
        for (int32_t i = 0; i < g->nodes[node].n_inputs; i++)
            need(w, mxci_graph_inputs(g, node)[i], &depth);
    }
}

/* Appends the node, after the nodes that it reads from, unless it is not needed. */
static void emit(walk *w, int32_t node) {
    if (w->needed[node] && w->program->graph->nodes[node].kind != MXCI_VARIABLE)
        mxci_graph_place(w->program->graph, node, &w->sequence);
}

/* 1 if the node is one of a pass on parameters: it reads variables only, or also such nodes, in which case it must not
 * be one that computes each sample by itself. */
static int is_of_params(const walk *w, int32_t node) {
    const mxci_graph *g = w->program->graph;
    const int is_samplewise = (mxci_graph_op_def(g, node)->flags & MXC_OP_SAMPLEWISE) != 0;
    for (int32_t i = 0; i < g->nodes[node].n_inputs; i++) {
        const int32_t from = g->entry_node[mxci_graph_inputs(g, node)[i]];
        if (g->nodes[from].kind != MXCI_VARIABLE && (is_samplewise || !w->of_params[from]))
            return 0;
    }
    return 1;
}

mxc_status mxci_pass_node_order(mxci_program *p, int params_first) {
    const mxci_graph *g = p->graph;
    const size_t n = (size_t)g->n_nodes + 1;
    walk w = {.program = p, .needed = mxci_calloc(n, 1), .of_params = mxci_calloc(n, 1)};
    mxc_status status = MXC_OK;
    p->order = mxci_calloc(n, sizeof *p->order);
    p->step_of = mxci_calloc(n, sizeof *p->step_of);
    w.sequence = (mxci_node_sequence){0, p->order, p->step_of, mxci_calloc(n, sizeof *p->order)};
    if (w.needed && w.of_params && w.sequence.stack && p->order && p->step_of) {
        for (int32_t i = 0; i < g->n_nodes; i++)
            p->step_of[i] = -1;
        mark_needed(&w);
        for (int32_t i = 0; params_first && i < p->n_symbol_nodes; i++)
            if (!g->nodes[i].node && g->nodes[i].kind != MXCI_VARIABLE && is_of_params(&w, i)) {
                w.of_params[i] = 1;
                emit(&w, i);
            }
        for (int32_t i = 0; i < p->n_symbol_nodes; i++)
            emit(&w, i);
        for (int32_t i = 0; i < g->n_outputs; i++) /* of nodes that passes appended */
            emit(&w, g->entry_node[g->outputs[i]]);
        p->n_forward = w.sequence.n;
        for (int32_t i = p->n_symbol_nodes; i < g->n_nodes; i++)
            emit(&w, i);
        p->n_steps = w.sequence.n;
    } else {
        status = MXCI_NO_MEMORY("execution order", "the steps");
    }
    mxci_free(w.needed);
    mxci_free(w.of_params);
    mxci_free(w.sequence.stack);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The differentiation pass: reverse-mode automatic differentiation of the graph. It visits the nodes from the outputs
 * to the variables and appends, for every operator on a path to a wanted argument, the node that runs its backward
 * pass, and sums where an entry has several users. Nodes are in topological order, so one sweep over descending indices
 * visits each entry after all its users, when all terms of its gradient are known. Time is linear in nodes and inputs.
 *
 * A gradient without terms is zero and is left out; zeros are made only where a backward node reads one of several
 * output gradients that is missing. An operator that reads no output gradient (a loss) starts the sweep by itself where
 * it is an output of the graph.
 */
#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "executor/passes/passes.h"
#include "operator/op_impl.h"
#include "symbol/graph_edit.h"
#include "symbol/graph_query.h"

/* Gradients that reach one entry, as a list in order of arrival. */
typedef struct term {
    int32_t entry; /* the gradient */
    int32_t next;  /* -1: last */
} term;

typedef struct work {
    mxci_graph *graph;
    int32_t n_nodes;       /* of the graph before this pass */
    uint8_t *reaches;      /* node: it depends on a wanted argument, and gradients can flow from it to there */
    uint8_t *is_loss;      /* node: its backward pass reads no output gradient */
    int32_t *first, *last; /* entry: its terms */
    int32_t n_terms;
    term *terms;      /* at most one per input of a node, and one per output of the graph */
    int32_t *scratch; /* inputs of a node to be made, or terms of a sum */
} work;

/* The most inputs that the backward node of a node can have. */
static int32_t n_slots(const mxci_gnode *n) {
    return n->n_inputs + 2 * n->n_outputs;
}

static mxc_status differentiate_begin(work *w, mxci_graph *g) {
    int32_t scratch = g->n_inputs + g->n_outputs;
    *w = (work){.graph = g, .n_nodes = g->n_nodes};
    for (int32_t i = 0; i < g->n_nodes; i++)
        scratch = n_slots(&g->nodes[i]) > scratch ? n_slots(&g->nodes[i]) : scratch;
    w->reaches = mxci_calloc((size_t)g->n_nodes + 1, 1);
    w->is_loss = mxci_calloc((size_t)g->n_nodes + 1, 1);
    w->first = mxci_calloc((size_t)g->n_entries + 1, sizeof *w->first);
    w->last = mxci_calloc((size_t)g->n_entries + 1, sizeof *w->last);
    w->terms = mxci_calloc((size_t)g->n_inputs + (size_t)g->n_outputs + 1, sizeof *w->terms);
    w->scratch = mxci_calloc((size_t)scratch + 1, sizeof *w->scratch);
    if (!w->reaches || !w->is_loss || !w->first || !w->last || !w->terms || !w->scratch)
        return MXCI_NO_MEMORY("gradient", "the terms of gradients");
    for (int32_t i = 0; i < g->n_entries; i++)
        w->first[i] = w->last[i] = -1;
    return MXC_OK;
}

/* Appends a term to the gradient of an entry. */
static void contribute(work *w, int32_t entry, int32_t gradient) {
    int32_t at = w->n_terms++;
    w->terms[at] = (term){gradient, -1};
    if (w->first[entry] < 0)
        w->first[entry] = at;
    else
        w->terms[w->last[entry]].next = at;
    w->last[entry] = at;
}

/* The gradient of an entry through out; -1 if it is zero. Several terms are replaced by a node that sums them. */
static mxc_status gradient_of(work *w, int32_t entry, int32_t *out) {
    int32_t n = 0, at;
    for (at = w->first[entry]; at >= 0; at = w->terms[at].next)
        w->scratch[n++] = w->terms[at].entry;
    *out = n ? w->scratch[0] : -1;
    if (n < 2)
        return MXC_OK;
    MXC_TRY(mxci_graph_add_like(w->graph, "add_n", "sum", n, w->scratch, out));
    w->graph->nodes[w->graph->n_nodes - 1].context = w->graph->nodes[w->graph->entry_node[entry]].context;
    at = w->first[entry];
    w->terms[at] = (term){*out, -1};
    w->last[entry] = at;
    return MXC_OK;
}

/* ---- head gradients -------------------------------------------------------------------------------------------- */

/* The head gradient of an output, where it is read: a new variable if heads is set, else ones. */
static mxc_status start_output(work *w, int32_t output, int32_t *heads) {
    mxci_graph *g = w->graph;
    int32_t entry = g->outputs[output], node = g->entry_node[entry], head, variable;
    mxc_op_needs needs = {.out_grad = MXC_NEED_ALL};
    if (heads)
        heads[output] = -1;
    if (!w->reaches[node])
        return MXC_OK;
    if (g->nodes[node].kind == MXCI_FORWARD && mxci_op_has_backward(mxci_graph_op_def(g, node)))
        mxc_op_get_needs(g->nodes[node].op, &needs);
    w->is_loss[node] = needs.out_grad == 0;
    if (!mxc_need_has(needs.out_grad, entry - g->nodes[node].first_entry))
        return MXC_OK;
    if (heads) {
        MXC_TRY(mxci_graph_add(g, MXCI_VARIABLE, NULL, "head_grad", 0, NULL, 1, -1, &variable));
        head = heads[output] = g->nodes[variable].first_entry;
        g->shapes[head] = g->shapes[entry];
        g->types[head] = g->types[entry];
        g->nodes[variable].context = g->nodes[node].context;
    } else {
        MXC_TRY(mxci_graph_add_like(g, "ones_like", "head_grad", 1, &entry, &head));
    }
    contribute(w, entry, head);
    return MXC_OK;
}

/* ---- one node -------------------------------------------------------------------------------------------------- */

/* 1 if a gradient reaches the node, or if it is a loss. */
static int receives(const work *w, int32_t node) {
    const mxci_gnode *n = &w->graph->nodes[node];
    for (int32_t i = 0; i < n->n_outputs; i++)
        if (w->first[n->first_entry + i] >= 0)
            return 1;
    return w->is_loss[node];
}

/* Collects the inputs of the node's backward node in w->scratch: output gradients, inputs, outputs, auxiliary states.
 * Gradients come first through out_grads, because summing their terms uses w->scratch too. */
static mxc_status collect_inputs(work *w, int32_t node, int32_t *out_grads, int32_t *n_inputs) {
    mxci_graph *g = w->graph;
    mxci_gnode n = g->nodes[node];
    mxc_op_needs needs;
    int32_t k = 0, n_args = mxci_graph_n_args(&n);
    mxc_op_get_needs(n.op, &needs);
    for (int32_t i = 0; i < n.n_outputs; i++)
        if (mxc_need_has(needs.out_grad, i)) {
            int32_t entry = n.first_entry + i, *grad = &out_grads[k++];
            MXC_TRY(gradient_of(w, entry, grad));
            if (*grad < 0)
                MXC_TRY(mxci_graph_add_like(g, "zeros_like", "zero_grad", 1, &entry, grad));
        }
    for (int32_t i = 0; i < k; i++)
        w->scratch[i] = out_grads[i];
    for (int32_t i = 0; i < n_args; i++)
        if (mxc_need_has(needs.in, i))
            w->scratch[k++] = mxci_graph_inputs(g, node)[i];
    for (int32_t i = 0; i < n.n_outputs; i++)
        if (mxc_need_has(needs.out, i))
            w->scratch[k++] = n.first_entry + i;
    for (int32_t i = n_args; i < n.n_inputs; i++)
        w->scratch[k++] = mxci_graph_inputs(g, node)[i];
    *n_inputs = k;
    return MXC_OK;
}

/* Appends the backward node and adds its results to the gradients of the inputs. */
static mxc_status add_backward(work *w, int32_t node, int32_t n_inputs) {
    mxci_graph *g = w->graph;
    char name[256];
    int32_t i, back, n_args = mxci_graph_n_args(&g->nodes[node]);
    mxci_format(name, sizeof name, "%s_backward", g->nodes[node].name);
    MXC_TRY(mxci_graph_add(g, MXCI_BACKWARD, g->nodes[node].op, name, n_inputs, w->scratch, n_args, node, &back));
    g->nodes[back].context = g->nodes[node].context;
    for (i = 0; i < n_args; i++) {
        int32_t in = mxci_graph_inputs(g, node)[i], grad = g->nodes[back].first_entry + i;
        g->shapes[grad] = g->shapes[in];
        g->types[grad] = g->types[in];
        if (w->reaches[g->entry_node[in]])
            contribute(w, in, grad);
    }
    return MXC_OK;
}

/* Appends the backward node of a node, which must have one: gradients are exact or an error. */
static mxc_status differentiate_node(work *w, int32_t node) {
    const mxci_gnode *n = &w->graph->nodes[node];
    const mxc_op_def *def = mxci_graph_op_def(w->graph, node);
    int32_t *out_grads, n_inputs = 0;
    mxc_status status;
    if (n->kind == MXCI_BACKWARD || !mxci_op_has_backward(def))
        return MXC_FAIL(MXC_EUNSUPPORTED, "gradient: %s %s (node %s) has no gradient",
                        n->kind == MXCI_BACKWARD ? "the backward pass of" : "operator", def->name, n->name);
    out_grads = mxci_calloc((size_t)n->n_outputs + 1, sizeof *out_grads);
    if (!out_grads)
        return MXCI_NO_MEMORY("gradient", "output gradients");
    status = collect_inputs(w, node, out_grads, &n_inputs);
    mxci_free(out_grads);
    return status == MXC_OK ? add_backward(w, node, n_inputs) : status;
}

/* ---- the pass -------------------------------------------------------------------------------------------------- */

static mxc_status differentiate(work *w, const uint8_t *wanted, int32_t *grads, int32_t *heads) {
    mxci_graph *g = w->graph;
    /* reaches: forward through the graph, from the wanted arguments. */
    for (int32_t i = 0; i < g->n_args; i++)
        w->reaches[g->args[i]] = wanted[i];
    for (int32_t i = 0; i < w->n_nodes; i++) {
        const mxci_gnode *n = &g->nodes[i];
        if (n->kind == MXCI_VARIABLE || (mxci_graph_op_def(g, i)->flags & MXC_OP_ZERO_GRADIENT))
            continue;
        for (int32_t j = 0; j < mxci_graph_n_args(n); j++)
            w->reaches[i] |= w->reaches[g->entry_node[mxci_graph_inputs(g, i)[j]]];
    }
    /* Backward nodes: backward through it, from the outputs. Adding nodes may move g->nodes. */
    for (int32_t i = 0; i < g->n_outputs; i++)
        MXC_TRY(start_output(w, i, heads));
    for (int32_t i = w->n_nodes - 1; i >= 0; i--)
        if (g->nodes[i].kind != MXCI_VARIABLE && w->reaches[i] && receives(w, i))
            MXC_TRY(differentiate_node(w, i));
    for (int32_t i = 0; i < g->n_args; i++) {
        grads[i] = -1;
        if (wanted[i])
            MXC_TRY(gradient_of(w, g->nodes[g->args[i]].first_entry, &grads[i]));
    }
    return MXC_OK;
}

mxc_status mxci_pass_differentiate(mxci_graph *graph, const uint8_t *wanted, int32_t *grads, int32_t *heads) {
    work w;
    mxc_status status = differentiate_begin(&w, graph);
    if (status == MXC_OK)
        status = differentiate(&w, wanted, grads, heads);
    mxci_free(w.reaches);
    mxci_free(w.is_loss);
    mxci_free(w.first);
    mxci_free(w.last);
    mxci_free(w.terms);
    mxci_free(w.scratch);
    return status;
}

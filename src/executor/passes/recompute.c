/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recompute pass (gradient checkpointing): trades time for memory in training. Backward reads many forward results,
 * which live from one pass to the other; results of chosen nodes are dropped instead and computed again by a second run
 * of the node just before backward reads them.
 *
 * MXC_RECOMPUTE_CHEAP chooses nodes whose cost is a pass over their output and whose inputs are live in the backward
 * pass anyway. MXC_RECOMPUTE_ALL is the sqrt(n) checkpointing of Chen et al., "Training Deep Nets with Sublinear Memory
 * Cost" (2016): it keeps the result of every k-th of n operators, k = floor(sqrt(n)), and computes the others again.
 * Then a chain of n layers keeps n / k results, and k more while the nodes between two of them run again: O(sqrt(n))
 * instead of n, for at most one more forward pass. The attribute force_mirroring of a node ("True" or "False") decides
 * for it in every mode. Operators that draw random numbers never run again, graph outputs stay, and a second run
 * changes copies of the auxiliary states.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "executor/passes/passes.h"
#include "operator/op.h"
#include "symbol/graph_edit.h"
#include "symbol/graph_query.h"

typedef struct work {
    mxci_program *program;
    int32_t n_nodes, n_entries; /* before this pass */
    uint8_t *chosen;            /* symbol node: may run again */
    uint8_t *wanted;            /* symbol node: runs again, because something reads its second results */
    uint8_t *is_live;           /* entry: its array is live in the backward pass */
    int32_t *again;             /* node: its second run; -1: none */
    int32_t *inputs;            /* of a node to be made */
} work;

static mxc_status recompute_begin(work *w, mxci_program *p) {
    const mxci_graph *g = p->graph;
    int32_t most = 0;
    *w = (work){.program = p, .n_nodes = g->n_nodes, .n_entries = g->n_entries};
    for (int32_t i = 0; i < g->n_nodes; i++)
        most = g->nodes[i].n_inputs > most ? g->nodes[i].n_inputs : most;
    w->chosen = mxci_calloc((size_t)g->n_nodes + 1, 1);
    w->wanted = mxci_calloc((size_t)g->n_nodes + 1, 1);
    w->is_live = mxci_calloc((size_t)g->n_entries + 1, 1);
    w->again = mxci_calloc((size_t)g->n_nodes + 1, sizeof *w->again);
    w->inputs = mxci_calloc((size_t)most + 1, sizeof *w->inputs);
    if (!w->chosen || !w->wanted || !w->is_live || !w->again || !w->inputs)
        return MXCI_NO_MEMORY("recompute", "the states of nodes");
    for (int32_t i = 0; i < g->n_nodes; i++)
        w->again[i] = -1;
    return MXC_OK;
}

/* ---- choice ---------------------------------------------------------------------------------------------------- */

/* Small results (a batch's mean beside the normalised batch) are kept: making them again frees nothing. */
static int is_small(const mxci_graph *g, int32_t entry) {
    const mxci_gnode *n = &g->nodes[g->entry_node[entry]];
    int64_t most = 0;
    for (int32_t i = 0; i < n->n_outputs; i++)
        most =
            mxci_graph_entry_bytes(g, n->first_entry + i) > most ? mxci_graph_entry_bytes(g, n->first_entry + i) : most;
    return mxci_graph_entry_bytes(g, entry) < most / 8;
}

/* Cost linear in the output: element-wise, or no argument but the first has more than one axis. */
static int is_cheap(const mxci_graph *g, int32_t node) {
    if (mxci_op_get_inplace(g->nodes[node].op, MXC_FORWARD))
        return 1;
    for (int32_t i = 1; i < mxci_graph_n_args(&g->nodes[node]); i++)
        if (g->shapes[mxci_graph_inputs(g, node)[i]].ndim > 1)
            return 0;
    return 1;
}

static int inputs_live(const work *w, int32_t node) {
    const mxci_graph *g = w->program->graph;
    for (int32_t i = 0; i < g->nodes[node].n_inputs; i++)
        if (!w->is_live[mxci_graph_inputs(g, node)[i]])
            return 0;
    return 1;
}

/* 1 if the node, operator number place of the symbol, may run again. The attribute force_mirroring decides first. */
static int recompute_choose(const work *w, int32_t node, mxc_recompute mode, int32_t place, int32_t stride) {
    const mxci_graph *g = w->program->graph;
    const mxci_gnode *n = &g->nodes[node];
    const char *force = n->node ? mxci_node_attr(n->node, "force_mirroring") : NULL;
    if (n->kind != MXCI_FORWARD || mxci_graph_op_def(g, node)->random_count)
        return 0;
    if (force)
        return strcmp(force, "True") == 0 || strcmp(force, "true") == 0 || strcmp(force, "1") == 0;
    if (mode == MXC_RECOMPUTE_CHEAP)
        return is_cheap(g, node) && inputs_live(w, node);
    return mode == MXC_RECOMPUTE_ALL && place % stride != 0;
}

/* Chooses among all nodes of the symbol, in order. w->is_live begins with what the backward pass reads, and grows by
 * the results of nodes that run again, so that their users can run again too. */
static void choose_all(work *w, mxc_recompute mode) {
    const mxci_program *p = w->program;
    const mxci_graph *g = p->graph;
    int32_t place = 0, n_ops = 0, stride = 1;
    for (int32_t i = 0; i < p->n_symbol_nodes; i++)
        n_ops += g->nodes[i].kind != MXCI_VARIABLE;
    while ((stride + 1) * (int64_t)(stride + 1) <= n_ops) /* floor(sqrt(n_ops)) */
        stride++;
    for (int32_t i = p->n_symbol_nodes; i < w->n_nodes; i++)
        for (int32_t j = 0; j < g->nodes[i].n_inputs; j++)
            w->is_live[mxci_graph_inputs(g, i)[j]] = 1;
    for (int32_t i = 0; i < g->n_outputs; i++)
        w->is_live[g->outputs[i]] = 1;
    for (int32_t i = 0; i < p->n_symbol_nodes; i++) {
        if (g->nodes[i].kind != MXCI_VARIABLE)
            w->chosen[i] = (uint8_t)recompute_choose(w, i, mode, place++, stride);
        for (int32_t j = 0; j < g->nodes[i].n_outputs; j++)
            w->is_live[g->nodes[i].first_entry + j] |= g->nodes[i].kind == MXCI_VARIABLE || w->chosen[i];
    }
}

/* ---- second runs ----------------------------------------------------------------------------------------------- */

static int is_output(const mxci_graph *g, int32_t entry) {
    for (int32_t i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == entry)
            return 1;
    return 0;
}

/* 1 if readers in backward take the entry from a second run of its node. */
static int is_dropped(const work *w, int32_t entry) {
    const mxci_graph *g = w->program->graph;
    return entry < w->n_entries && w->chosen[g->entry_node[entry]] && !is_small(g, entry) && !is_output(g, entry);
}

/* Marks the nodes whose second results the node reads. */
static void want_inputs(work *w, int32_t node) {
    const mxci_graph *g = w->program->graph;
    for (int32_t i = 0; i < g->nodes[node].n_inputs; i++)
        if (is_dropped(w, mxci_graph_inputs(g, node)[i]))
            w->wanted[g->entry_node[mxci_graph_inputs(g, node)[i]]] = 1;
}

/* The entry that a reader in the backward pass uses instead. */
static int32_t replacement(const work *w, int32_t entry) {
    const mxci_graph *g = w->program->graph;
    int32_t node = g->entry_node[entry];
    if (!is_dropped(w, entry))
        return entry;
    return g->nodes[w->again[node]].first_entry + (entry - g->nodes[node].first_entry);
}

/* Appends a copy of the node that reads second results where there are such, and copies of its auxiliary states. */
static mxc_status add_second_run(work *w, int32_t node) {
    mxci_graph *g = w->program->graph;
    mxci_gnode n = g->nodes[node];
    char name[256];
    for (int32_t i = 0; i < n.n_inputs; i++) {
        w->inputs[i] = replacement(w, mxci_graph_inputs(g, node)[i]);
        if (i >= mxci_graph_n_args(&n))
            MXC_TRY(mxci_graph_add_like(g, "_copy", "again", 1, &w->inputs[i], &w->inputs[i]));
    }
    mxci_format(name, sizeof name, "%s_again", n.name);
    MXC_TRY(mxci_graph_add(g, MXCI_FORWARD, n.op, name, n.n_inputs, w->inputs, n.n_outputs, -1, &w->again[node]));
    g->nodes[w->again[node]].context = n.context;
    for (int32_t i = 0; i < n.n_outputs; i++) {
        int32_t copy = g->nodes[w->again[node]].first_entry + i;
        g->shapes[copy] = g->shapes[n.first_entry + i];
        g->types[copy] = g->types[n.first_entry + i];
    }
    return MXC_OK;
}

/* Finds the nodes that run again, from the readers in the backward pass down to the first ones; appends their copies in
 * topological order; and makes the backward pass read these. */
static mxc_status run_again(work *w) {
    mxci_program *p = w->program;
    mxci_graph *g = p->graph;
    for (int32_t i = p->n_symbol_nodes; i < w->n_nodes; i++)
        want_inputs(w, i);
    for (int32_t i = p->n_symbol_nodes - 1; i >= 0; i--)
        if (w->wanted[i])
            want_inputs(w, i);
    for (int32_t i = 0; i < p->n_symbol_nodes; i++)
        if (w->wanted[i])
            MXC_TRY(add_second_run(w, i));
    for (int32_t i = p->n_symbol_nodes; i < w->n_nodes; i++)
        for (int32_t j = 0; j < g->nodes[i].n_inputs; j++) {
            int32_t at = g->nodes[i].first_input + j;
            g->inputs[at] = replacement(w, g->inputs[at]);
        }
    return MXC_OK;
}

mxc_status mxci_pass_recompute(mxci_program *p, mxc_recompute mode) {
    work w;
    mxc_status status = recompute_begin(&w, p);
    if (status == MXC_OK) {
        choose_all(&w, mode);
        status = run_again(&w);
    }
    mxci_free(w.chosen);
    mxci_free(w.wanted);
    mxci_free(w.is_live);
    mxci_free(w.again);
    mxci_free(w.inputs);
    return status;
}

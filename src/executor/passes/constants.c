/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants, for inference: the caller says which arguments and auxiliary states do not change (mxc_bind_options). The
 * results of nodes that follow from these alone are computed when binding, and the nodes that need them read variables
 * instead. Only deterministic operators without states count. An auxiliary state is constant where it is read as an
 * argument is, as by _fold_norm; an operator that takes it as its own state may change it. What makes an output of the
 * symbol runs each time, since the array of an output belongs to the executor.
 */
#include "base/error.h"
#include "base/sys.h"
#include "executor/passes/passes.h"
#include "symbol/graph_query.h"

/* Whether a node follows from what is constant. Nodes without inputs, such as _zeros, and what follows from them alone
 * need not be kept. */
enum { CHANGES, SOURCE, CONSTANT };

typedef struct constants {
    const mxci_graph *graph;
    mxci_node_sequence needed; /* operators that outputs depend on */
    uint8_t *kind;             /* node */
    uint8_t *is_output;        /* node: one of its results is an output */
} constants;

static mxc_status constants_open(const mxci_graph *g, constants *c) {
    const size_t n = (size_t)g->n_nodes + 1;
    *c = (constants){.graph = g, .kind = mxci_calloc(n, 1), .is_output = mxci_calloc(n, 1)};
    c->needed.nodes = mxci_calloc(3 * n, sizeof *c->needed.nodes);
    if (!c->kind || !c->is_output || !c->needed.nodes)
        return MXCI_NO_MEMORY("constants", "the states of nodes");
    c->needed.place = c->needed.nodes + n;
    c->needed.stack = c->needed.place + n;
    for (int32_t i = 0; i < g->n_nodes; i++)
        c->needed.place[i] = -1;
    for (int32_t i = 0; i < g->n_outputs; i++) {
        const int32_t node = g->entry_node[g->outputs[i]];
        c->is_output[node] = 1;
        if (g->nodes[node].kind != MXCI_VARIABLE)
            mxci_graph_place(g, node, &c->needed);
    }
    return MXC_OK;
}

static void constants_close(constants *c) {
    mxci_free(c->kind);
    mxci_free(c->is_output);
    mxci_free(c->needed.nodes);
}

/* ---- which nodes ------------------------------------------------------------------------------------------------- */

static void mark_variables(constants *c, int32_t n, const int32_t *nodes, const uint8_t *given) {
    for (int32_t i = 0; i < n && given; i++)
        c->kind[nodes[i]] = given[i] ? CONSTANT : CHANGES;
}

/* States that needed operators take as their own may change. */
static void unmark_states(constants *c) {
    const mxci_graph *g = c->graph;
    for (int32_t i = 0; i < c->needed.n; i++) {
        const mxci_gnode *n = &g->nodes[c->needed.nodes[i]];
        for (int32_t j = mxci_graph_n_args(n); j < n->n_inputs; j++)
            c->kind[g->entry_node[mxci_graph_inputs(g, c->needed.nodes[i])[j]]] = CHANGES;
    }
}

/* 1 if the operator computes the same whenever it reads the same, and on the context of what it reads. */
static int is_pure(const mxci_graph *g, int32_t at) {
    const mxci_gnode *n = &g->nodes[at];
    const mxc_op_def *def = mxci_graph_op_def(g, at);
    if (n->kind != MXCI_FORWARD || n->n_aux || def->random_count ||
        (def->flags & (MXC_OP_CALLBACK | MXC_OP_ARRAY_ONLY)))
        return 0;
    for (int32_t i = 0; i < n->n_inputs; i++)
        if (!mxc_context_equal(g->nodes[g->entry_node[mxci_graph_inputs(g, at)[i]]].context, n->context))
            return 0;
    return !mxci_graph_op_impl(g, at).state_create;
}

/* What follows from the node's inputs, which are marked. */
static uint8_t kind_of(const constants *c, int32_t at) {
    const mxci_graph *g = c->graph;
    uint8_t kind = SOURCE;
    for (int32_t i = 0; i < g->nodes[at].n_inputs; i++) {
        const uint8_t from = c->kind[g->entry_node[mxci_graph_inputs(g, at)[i]]];
        if (from == CHANGES)
            return CHANGES;
        kind = from > kind ? from : kind;
    }
    return c->is_output[at] || !is_pure(g, at) ? CHANGES : kind;
}

static void constants_mark(constants *c, const mxc_bind_options *options, int all_states) {
    mark_variables(c, c->graph->n_args, c->graph->args, options->constant_args);
    mark_variables(c, c->graph->n_aux, c->graph->aux, options->constant_aux);
    if (!all_states)
        unmark_states(c);
    for (int32_t i = 0; i < c->needed.n; i++)
        c->kind[c->needed.nodes[i]] = kind_of(c, c->needed.nodes[i]);
}

mxc_status mxci_find_constants(const mxci_graph *g, const mxc_bind_options *options, int all_states, uint8_t **out) {
    constants c;
    mxc_status status;
    *out = NULL;
    if (!options->constant_args && !options->constant_aux)
        return MXC_OK;
    status = constants_open(g, &c);
    if (status == MXC_OK) {
        constants_mark(&c, options, all_states);
        *out = c.kind;
        c.kind = NULL;
    }
    constants_close(&c);
    return status;
}

/* ---- variables in their place ------------------------------------------------------------------------------------ */

/* Adds a variable for an entry. */
static mxc_status add_constant(mxci_program *p, int32_t entry) {
    mxci_graph *g = p->graph;
    const int32_t from = g->entry_node[entry];
    int32_t node, variable;
    MXC_TRY(mxci_graph_add(g, MXCI_VARIABLE, NULL, g->nodes[from].name, 0, NULL, 1, -1, &node));
    variable = g->nodes[node].first_entry;
    g->nodes[node].context = g->nodes[from].context;
    g->shapes[variable] = g->shapes[entry];
    g->types[variable] = g->types[entry];
    p->constants[p->n_constants++] = (mxci_constant){entry, variable};
    return MXC_OK;
}

/* Makes needed nodes that are not constant read variables. of: entry: one more than its constant; 0: none yet. */
static mxc_status replace_inputs(mxci_program *p, const constants *c, int32_t *of) {
    mxci_graph *g = p->graph;
    for (int32_t i = 0; i < c->needed.n; i++) {
        const mxci_gnode *n = &g->nodes[c->needed.nodes[i]];
        const int32_t first = n->first_input, end = first + n->n_inputs;
        for (int32_t at = first; at < end && c->kind[c->needed.nodes[i]] == CHANGES; at++) {
            const int32_t entry = g->inputs[at], from = g->entry_node[entry];
            if (g->nodes[from].kind == MXCI_VARIABLE || c->kind[from] != CONSTANT)
                continue;
            if (!of[entry]) {
                MXC_TRY(add_constant(p, entry)); /* moves the graph's arrays */
                of[entry] = p->n_constants;
            }
            g->inputs[at] = p->constants[of[entry] - 1].variable;
        }
    }
    return MXC_OK;
}

mxc_status mxci_pass_constants(mxci_program *p, const mxc_bind_options *options) {
    const size_t n = (size_t)p->graph->n_entries + 1;
    constants c;
    int32_t *of;
    mxc_status status;
    if (!options->constant_args && !options->constant_aux)
        return MXC_OK;
    status = constants_open(p->graph, &c);
    of = mxci_calloc(n, sizeof *of);
    p->constants = mxci_calloc(n, sizeof *p->constants);
    if (status == MXC_OK && (!of || !p->constants))
        status = MXCI_NO_MEMORY("constants", "the list of constants");
    if (status == MXC_OK) {
        constants_mark(&c, options, 0);
        status = replace_inputs(p, &c, of);
    }
    mxci_free(of);
    constants_close(&c);
    return status;
}

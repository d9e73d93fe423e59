/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request pass: for every entry, what its node does to it (mxc_req), when it is written first and read last, and
 * whether its array is visible to the caller. Entries that are never read are not computed (MXC_REQ_NULL). The terms
 * of a gradient's sum are accumulated in the sum's array where each comes from a node of its own: the first one to run
 * writes, the others add, and the node of the sum is removed from the execution order.
 */
#include "base/error.h"
#include "base/sys.h"
#include "executor/passes/passes.h"

/* ---- arrays of the caller ---------------------------------------------------------------------------------------- */

static void set_location(mxci_program *p, int32_t entry, mxci_location_kind kind, int32_t index) {
    p->location[entry] = (mxci_location){kind, index};
}

/* Locations in arrays of the caller. Entries without one stay MXCI_LOCATION_NONE until memory is planned. */
static void find_locations(mxci_program *p) {
    const mxci_graph *g = p->graph;
    for (int32_t i = 0; i < g->n_args; i++)
        set_location(p, g->nodes[g->args[i]].first_entry, MXCI_LOCATION_ARG, i);
    for (int32_t i = 0; i < g->n_aux; i++)
        set_location(p, g->nodes[g->aux[i]].first_entry, MXCI_LOCATION_AUX, i);
    for (int32_t i = 0; i < p->n_constants; i++)
        set_location(p, p->constants[i].variable, MXCI_LOCATION_CONSTANT, i);
    for (int32_t i = g->n_outputs - 1; i >= 0; i--) { /* an entry that is several outputs is the first of them */
        if (p->heads[i] >= 0)
            set_location(p, p->heads[i], MXCI_LOCATION_HEAD, i);
        if (g->nodes[g->entry_node[g->outputs[i]]].kind != MXCI_VARIABLE)
            set_location(p, g->outputs[i], MXCI_LOCATION_OUTPUT, i);
    }
    for (int32_t i = 0; i < g->n_args; i++)
        if (p->grads[i] >= 0)
            set_location(p, p->grads[i], MXCI_LOCATION_GRAD, i);
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

/* 1 if the node sums the terms of a gradient and each term comes from a node of its own, so that no node writes and
 * adds to one array. Sums are the only nodes that differentiation adds (n_symbol_nodes to n_base_nodes) which are not
 * backward nodes and have several inputs, and only the sum reads its terms. seen[node]: one more than the sum checked
 * last. */
static int can_add_in_place(const mxci_program *p, int32_t node, int32_t *seen) {
    const mxci_graph *g = p->graph;
    const mxci_gnode *n = &g->nodes[node];
    if (node < p->n_symbol_nodes || node >= p->n_base_nodes || n->kind != MXCI_FORWARD || n->n_inputs < 2)
        return 0;
    for (int32_t i = 0; i < n->n_inputs; i++) {
        int32_t from = g->entry_node[mxci_graph_inputs(g, node)[i]];
        if (g->nodes[from].kind == MXCI_VARIABLE || seen[from] == node + 1)
            return 0;
        seen[from] = node + 1;
    }
    return 1;
}

/* Makes sums the roots of their terms where possible, and removes their steps. */
static mxc_status add_in_place(mxci_program *p) {
    const mxci_graph *g = p->graph;
    const int32_t n_forward = p->n_forward;
    int32_t n = 0, *seen = mxci_calloc((size_t)g->n_nodes + 1, sizeof *seen);
    if (!seen)
        return MXCI_NO_MEMORY("requests", "the uses of entries");
    for (int32_t i = 0; i < p->n_steps; i++) {
        int32_t node = p->order[i];
        if (!can_add_in_place(p, node, seen)) {
            p->step_of[node] = n;
            p->order[n++] = node;
            continue;
        }
        for (int32_t j = 0; j < g->nodes[node].n_inputs; j++)
            p->root[mxci_graph_inputs(g, node)[j]] = g->nodes[node].first_entry;
        p->step_of[node] = -1;
        p->n_forward -= i < n_forward;
    }
    p->n_steps = n;
    mxci_free(seen);
    return MXC_OK;
}

/* ---- uses and requests ----------------------------------------------------------------------------------------- */

/* last is first set to the last step that reads, which decides what is computed, then raised to the last that writes.
 */
static void make_requests(mxci_program *p) {
    const mxci_graph *g = p->graph;
    for (int32_t step = 0; step < p->n_steps; step++)
        for (int32_t i = 0; i < g->nodes[p->order[step]].n_inputs; i++)
            p->last[p->root[mxci_graph_inputs(g, p->order[step])[i]]] = step;
    for (int32_t step = 0; step < p->n_steps; step++) {
        const mxci_gnode *n = &g->nodes[p->order[step]];
        for (int32_t i = n->first_entry; i < n->first_entry + n->n_outputs; i++) {
            int32_t root = p->root[i];
            mxci_location location = p->location[root];
            if (p->last[root] < 0 && location.kind == MXCI_LOCATION_NONE) {
                p->req[i] = MXC_REQ_NULL;
                continue;
            }
            p->req[i] = p->first[root] >= 0                   ? MXC_REQ_ADD
                        : location.kind == MXCI_LOCATION_GRAD ? p->grad_req[location.index]
                                                              : MXC_REQ_WRITE;
            if (p->req[i] == MXC_REQ_NULL)
                continue;
            if (p->first[root] < 0)
                p->first[root] = step;
            if (p->last[root] < step)
                p->last[root] = step;
        }
    }
}

/* Where backward may run again, what it reads of forward is in use behind the last step. */
static void keep_for_backward(mxci_program *p) {
    for (int32_t i = 0; i < p->graph->n_entries; i++)
        if (p->first[i] >= 0 && p->first[i] < p->n_forward && p->last[i] >= p->n_forward)
            p->last[i] = p->n_steps;
}

mxc_status mxci_pass_requests(mxci_program *p) {
    size_t n = (size_t)p->graph->n_entries + 1;
    p->root = mxci_calloc(n, sizeof *p->root);
    p->req = mxci_calloc(n, sizeof *p->req);
    p->location = mxci_calloc(n, sizeof *p->location);
    p->first = mxci_calloc(n, sizeof *p->first);
    p->last = mxci_calloc(n, sizeof *p->last);
    if (!p->root || !p->req || !p->location || !p->first || !p->last)
        return MXCI_NO_MEMORY("requests", "the uses of entries");
    for (int32_t i = 0; i < p->graph->n_entries; i++) {
        p->root[i] = i;
        p->first[i] = p->last[i] = -1;
    }
    find_locations(p);
    MXC_TRY(add_in_place(p));
    make_requests(p);
    if (p->repeats_backward)
        keep_for_backward(p);
    return MXC_OK;
}

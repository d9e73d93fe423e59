/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between devices: where an entry is read on another context than the one it is computed on, the reader reads a
 * _CrossDeviceCopy of it; one copy serves all readers on a context. Auxiliary states are written by their operators, so
 * they cannot be copies and must be on their operator's context.
 */
#include "base/sys.h"
#include "executor/passes/passes.h"
#include "symbol/graph_edit.h"

/* Copies made so far: per entry a list of entries that hold the same on another context. */
typedef struct copies {
    mxci_graph *graph;
    int32_t n;      /* entries when the pass began, and the sizes of the arrays below */
    int32_t *first; /* entry: its first copy, -1 none */
    int32_t cap;
    int32_t *next; /* copy (entry - n): the next copy of the same entry */
} copies;

static mxc_status add_copy(copies *c, int32_t entry, mxc_context context, int32_t *out) {
    mxci_graph *g = c->graph;
    char where[32];
    int32_t at;
    if (g->n_entries - c->n >= c->cap) {
        int32_t cap = 2 * c->cap + 16;
        int32_t *next = mxci_realloc_array(c->next, (size_t)cap, sizeof *next);
        if (!next)
            return MXC_FAIL(MXC_ENOMEM, "copies: no memory");
        c->next = next;
        c->cap = cap;
    }
    MXC_TRY(
        mxci_graph_add_like(g, "_CrossDeviceCopy", mxc_context_format(context, where, sizeof where), 1, &entry, out));
    at = *out - c->n;
    g->nodes[g->n_nodes - 1].context = context;
    c->next[at] = c->first[entry];
    c->first[entry] = *out;
    return MXC_OK;
}

/* The entry on that context: itself, a copy there is, or a new one. */
static mxc_status entry_on(copies *c, int32_t entry, mxc_context context, int32_t *out) {
    const mxci_graph *g = c->graph;
    *out = entry;
    if (mxc_context_equal(g->nodes[g->entry_node[entry]].context, context))
        return MXC_OK;
    for (int32_t at = c->first[entry]; at >= 0; at = c->next[at - c->n])
        if (mxc_context_equal(g->nodes[g->entry_node[at]].context, context)) {
            *out = at;
            return MXC_OK;
        }
    return add_copy(c, entry, context, out);
}

static mxc_status place_inputs(copies *c, int32_t node) {
    mxci_graph *g = c->graph;
    int32_t entry;
    for (int32_t i = 0; i < g->nodes[node].n_inputs; i++) {
        int32_t at = g->nodes[node].first_input + i;
        if (i >= mxci_graph_n_args(&g->nodes[node]) && g->nodes[g->entry_node[g->inputs[at]]].kind == MXCI_VARIABLE &&
            !mxc_context_equal(g->nodes[g->entry_node[g->inputs[at]]].context, g->nodes[node].context))
            return MXC_FAIL(MXC_EINVAL, "copies: auxiliary state %s is in another context than its operator %s",
                            g->nodes[g->entry_node[g->inputs[at]]].name, g->nodes[node].name);
        MXC_TRY(entry_on(c, g->inputs[at], g->nodes[node].context, &entry));
        g->inputs[at] = entry;
    }
    return MXC_OK;
}

static mxc_status place_all(copies *c, mxci_program *p) {
    mxci_graph *g = p->graph;
    int32_t n_nodes = g->n_nodes;
    for (int32_t i = 0; i < n_nodes; i++)
        MXC_TRY(place_inputs(c, i));
    for (int32_t i = 0; i < g->n_args; i++)
        if (p->grads[i] >= 0)
            MXC_TRY(entry_on(c, p->grads[i], g->nodes[g->args[i]].context, &p->grads[i]));
    return MXC_OK;
}

mxc_status mxci_pass_device_copies(mxci_program *p) {
    copies c = {.graph = p->graph, .n = p->graph->n_entries};
    mxc_status status;
    c.first = mxci_calloc((size_t)c.n + 1, sizeof *c.first);
    if (!c.first)
        return MXC_FAIL(MXC_ENOMEM, "copies: no memory");
    for (int32_t i = 0; i < c.n; i++)
        c.first[i] = -1;
    status = place_all(&c, p);
    mxci_free(c.first);
    mxci_free(c.next);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between devices: where an entry is read on another context than the one it is computed on, the reader reads a
 * _CrossDeviceCopy of it; one copy serves all readers on a context. Auxiliary states are written by their operators, so
 * they cannot be copies and must be on their operator's context.
 */
#include "base/error.h"
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

/* The entry on that context: itself, an existing copy, or a new one. */
static mxc_status entry_on(copies *c, int32_t entry, mxc_context context, int32_t *out) {
    mxci_graph *g = c->graph;
    char where[32];
    *out = entry;
    if (mxc_context_equal(g->nodes[g->entry_node[entry]].context, context))
        return MXC_OK;
    for (int32_t at = c->first[entry]; at >= 0; at = c->next[at - c->n])
        if (mxc_context_equal(g->nodes[g->entry_node[at]].context, context)) {
            *out = at;
            return MXC_OK;
        }
    if (g->n_entries - c->n >= c->cap) {
        int32_t cap = 2 * c->cap + 16;
        int32_t *next = mxci_realloc_array(c->next, (size_t)cap, sizeof *next);
        if (!next)
            return MXCI_NO_MEMORY("copies between devices", "the list of copies");
        c->next = next;
        c->cap = cap;
    }
    mxc_context_format(context, where, sizeof where);
    MXC_TRY(mxci_graph_add_like(g, "_CrossDeviceCopy", where, 1, &entry, out));
    g->nodes[g->n_nodes - 1].context = context;
    c->next[*out - c->n] = c->first[entry];
    c->first[entry] = *out;
    return MXC_OK;
}

/* Replaces what nodes read, and the gradients that the caller sees, by the same on their own context. */
static mxc_status copy_all(copies *c, mxci_program *p) {
    mxci_graph *g = p->graph;
    const int32_t n_nodes = g->n_nodes;
    for (int32_t node = 0; node < n_nodes; node++)
        for (int32_t i = 0; i < g->nodes[node].n_inputs; i++) {
            const int32_t at = g->nodes[node].first_input + i;
            const mxci_gnode *from = &g->nodes[g->entry_node[g->inputs[at]]];
            int32_t entry;
            if (i >= mxci_graph_n_args(&g->nodes[node]) && from->kind == MXCI_VARIABLE &&
                !mxc_context_equal(from->context, g->nodes[node].context))
                return MXC_FAIL(MXC_EINVAL, "copies: auxiliary state %s is in another context than its operator %s",
                                from->name, g->nodes[node].name);
            MXC_TRY(entry_on(c, g->inputs[at], g->nodes[node].context, &entry));
            g->inputs[at] = entry; /* only now: adding a node may move the inputs */
        }
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
        return MXCI_NO_MEMORY("copies between devices", "the list of copies");
    for (int32_t i = 0; i < c.n; i++)
        c.first[i] = -1;
    status = copy_all(&c, p);
    mxci_free(c.first);
    mxci_free(c.next);
    return status;
}

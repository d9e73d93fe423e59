/*
 * The placement passes: which context each node runs on, and copies where an entry is used on another context than the
 * one it is made on.
 */
#include <string.h>

#include "base/sys.h"
#include "executor/program.h"

/* ---- contexts -------------------------------------------------------------------------------------------------- */

static const mxc_context unplaced = {0, 0};

static int is_placed(const mxci_gnode *n) {
    return n->context.device != 0;
}

static mxc_context context_of_group(const mxci_gnode *n, const mxc_bind_options *options) {
    const char *group = n->node ? mxci_node_attr(n->node, "ctx_group") : NULL;
    int i;
    for (i = 0; group && i < options->n_groups; i++)
        if (strcmp(group, options->group_names[i]) == 0)
            return options->group_contexts[i];
    return unplaced;
}

static void take_from_inputs(mxci_graph *g, int32_t node) {
    int32_t i;
    for (i = 0; i < g->nodes[node].n_inputs && !is_placed(&g->nodes[node]); i++)
        g->nodes[node].context = g->nodes[g->entry_node[mxci_graph_inputs(g, node)[i]]].context;
}

mxc_status mxci_pass_place(mxci_graph *g, const mxc_bind_options *options) {
    uint8_t *fixed = mxci_calloc((size_t)g->n_nodes + 1, 1);
    int32_t i, j;
    if (!fixed)
        return MXC_FAIL(MXC_ENOMEM, "placement: no memory");
    for (i = 0; i < g->n_nodes; i++) {
        g->nodes[i].context = context_of_group(&g->nodes[i], options);
        if (g->nodes[i].kind != MXCI_VARIABLE)
            take_from_inputs(g, i);
        fixed[i] = is_placed(&g->nodes[i]);
    }
    /* What has no place yet goes to its first user's: the last one that this loop meets. */
    for (i = g->n_nodes - 1; i >= 0; i--) {
        if (!is_placed(&g->nodes[i]))
            g->nodes[i].context = options->context;
        for (j = 0; j < g->nodes[i].n_inputs; j++) {
            int32_t from = g->entry_node[mxci_graph_inputs(g, i)[j]];
            if (!fixed[from])
                g->nodes[from].context = g->nodes[i].context;
        }
    }
    mxci_free(fixed);
    return MXC_OK;
}

/* ---- copies ---------------------------------------------------------------------------------------------------- */

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
            return MXC_FAIL(MXC_ENOMEM, "placement: no memory");
        c->next = next;
        c->cap = cap;
    }
    MXC_TRY(mxci_add_like(g, "_CrossDeviceCopy", mxc_context_format(context, where, sizeof where), 1, &entry, out));
    at = *out - c->n;
    g->nodes[g->n_nodes - 1].context = context;
    c->next[at] = c->first[entry];
    c->first[entry] = *out;
    return MXC_OK;
}

/* The entry on that context: itself, a copy there is, or a new one. */
static mxc_status entry_on(copies *c, int32_t entry, mxc_context context, int32_t *out) {
    const mxci_graph *g = c->graph;
    int32_t at;
    *out = entry;
    if (mxc_context_equal(g->nodes[g->entry_node[entry]].context, context))
        return MXC_OK;
    for (at = c->first[entry]; at >= 0; at = c->next[at - c->n])
        if (mxc_context_equal(g->nodes[g->entry_node[at]].context, context)) {
            *out = at;
            return MXC_OK;
        }
    return add_copy(c, entry, context, out);
}

static mxc_status place_inputs(copies *c, int32_t node) {
    mxci_graph *g = c->graph;
    int32_t i, entry;
    for (i = 0; i < g->nodes[node].n_inputs; i++) {
        int32_t at = g->nodes[node].first_input + i;
        if (i >= mxci_n_args(&g->nodes[node]) && g->nodes[g->entry_node[g->inputs[at]]].kind == MXCI_VARIABLE &&
            !mxc_context_equal(g->nodes[g->entry_node[g->inputs[at]]].context, g->nodes[node].context))
            return MXC_FAIL(MXC_EINVAL, "placement: auxiliary state %s is in another context than its operator %s",
                            g->nodes[g->entry_node[g->inputs[at]]].name, g->nodes[node].name);
        MXC_TRY(entry_on(c, g->inputs[at], g->nodes[node].context, &entry));
        g->inputs[at] = entry;
    }
    return MXC_OK;
}

static mxc_status place_all(copies *c, mxci_program *p) {
    mxci_graph *g = p->graph;
    int32_t i, n_nodes = g->n_nodes;
    for (i = 0; i < n_nodes; i++)
        MXC_TRY(place_inputs(c, i));
    for (i = 0; i < g->n_args; i++)
        if (p->grads[i] >= 0)
            MXC_TRY(entry_on(c, p->grads[i], g->nodes[g->args[i]].context, &p->grads[i]));
    return MXC_OK;
}

mxc_status mxci_pass_copies(mxci_program *p) {
    copies c = {.graph = p->graph, .n = p->graph->n_entries};
    mxc_status status;
    int32_t i;
    c.first = mxci_calloc((size_t)c.n + 1, sizeof *c.first);
    if (!c.first)
        return MXC_FAIL(MXC_ENOMEM, "placement: no memory");
    for (i = 0; i < c.n; i++)
        c.first[i] = -1;
    status = place_all(&c, p);
    mxci_free(c.first);
    mxci_free(c.next);
    return status;
}

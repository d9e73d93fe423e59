/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New symbols from parts of others: cut at the border of the nodes that have an attribute, and without the casts of a
 * training in 16 bits.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "symbol/graph_edit.h"

/* ---- cutting ----------------------------------------------------------------------------------------------------- */

/* What comes from outside of the nodes that have the attribute, and the variables in its place. */
typedef struct border {
    const char *key, *value;
    int32_t n, capacity;
    int32_t *entries;   /* of the graph */
    int32_t *variables; /* the entries that take their place */
} border;

static int is_inside(const border *b, const mxci_gnode *node) {
    const char *value = node->node ? mxci_node_attr(node->node, b->key) : NULL;
    return value && strcmp(value, b->value) == 0;
}

static int32_t find_cut(const border *b, int32_t entry) {
    for (int32_t i = 0; i < b->n; i++)
        if (b->entries[i] == entry)
            return i;
    return -1;
}

static mxc_status border_reserve(border *b) {
    if (b->n < b->capacity)
        return MXC_OK;
    int32_t capacity = b->capacity ? 2 * b->capacity : 8;
    int32_t *entries = mxci_realloc_array(b->entries, (size_t)capacity, sizeof *entries);
    b->entries = entries ? entries : b->entries;
    int32_t *variables = entries ? mxci_realloc_array(b->variables, (size_t)capacity, sizeof *variables) : NULL;
    b->variables = variables ? variables : b->variables;
    if (!variables)
        return MXCI_NO_MEMORY("mxc_symbol_cut", "a list of variables");
    b->capacity = capacity;
    return MXC_OK;
}

/* The entry of a variable that is called as the output that it replaces. */
static mxc_status cut_entry(mxci_graph *g, border *b, int32_t entry, int32_t *out) {
    int32_t at = find_cut(b, entry), node;
    char *name;
    if (at < 0) {
        const mxci_gnode *from = &g->nodes[g->entry_node[entry]];
        MXC_TRY(border_reserve(b));
        MXC_TRY(mxci_node_output_name(from->node, entry - from->first_entry, &name));
        mxc_status status = mxci_graph_add(g, MXCI_VARIABLE, NULL, name, 0, NULL, 1, -1, &node);
        mxci_free(name);
        MXC_TRY(status);
        at = b->n++;
        b->entries[at] = entry;
        b->variables[at] = g->nodes[node].first_entry;
    }
    *out = b->variables[at];
    return MXC_OK;
}

/* Connects the nodes inside to variables wherever they read from outside. */
static mxc_status cut_graph(mxci_graph *g, border *b) {
    int32_t n = g->n_nodes;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < g->nodes[i].n_inputs; j++) {
            int32_t entry = mxci_graph_inputs(g, i)[j], replacement;
            if (!is_inside(b, &g->nodes[i]) || is_inside(b, &g->nodes[g->entry_node[entry]]))
                continue;
            MXC_TRY(cut_entry(g, b, entry, &replacement));
            g->inputs[g->nodes[i].first_input + j] = replacement;
        }
    return mxci_graph_sort(g);
}

/* The symbol of the entries that were cut, as they are in the uncut symbol. */
static mxc_status outside_symbol(const mxci_graph *g, const border *b, mxc_symbol **out) {
    mxci_entry *entries = mxci_calloc((size_t)b->n, sizeof *entries);
    if (!entries)
        return MXCI_NO_MEMORY("mxc_symbol_cut", "a list of outputs");
    for (int32_t i = 0; i < b->n; i++) {
        const mxci_gnode *from = &g->nodes[g->entry_node[b->entries[i]]];
        entries[i] = (mxci_entry){from->node, b->entries[i] - from->first_entry};
    }
    mxc_status status = mxci_symbol_create(b->n, entries, out);
    mxci_free(entries);
    return status;
}

mxc_status mxc_symbol_cut(const mxc_symbol *symbol, const char *key, const char *value, mxc_symbol **inside,
                          mxc_symbol **outside) {
    if (outside)
        *outside = NULL;
    MXC_TRY(MXCI_OUT(inside));
    MXC_TRY(MXCI_NON_NULL(outside));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(MXCI_NON_NULL(key));
    MXC_TRY(MXCI_NON_NULL(value));
    border b = {.key = key, .value = value};
    mxci_graph *g;
    MXC_TRY(mxci_graph_from_symbol(symbol, &g));
    mxc_status status = cut_graph(g, &b);
    if (status == MXC_OK && b.n > 0)
        status = outside_symbol(g, &b, outside);
    if (status == MXC_OK)
        status = mxci_graph_to_symbol(g, g->n_outputs, g->outputs, inside);
    if (status != MXC_OK) {
        mxc_symbol_release(*outside);
        *outside = NULL;
    }
    mxci_free(b.entries);
    mxci_free(b.variables);
    mxci_graph_destroy(g);
    return status;
}

/* ---- casts ------------------------------------------------------------------------------------------------------- */

static int is_amp_cast(const mxci_gnode *node) {
    const char *name = node->kind == MXCI_FORWARD ? mxc_op_name(node->op) : "";
    return strcmp(name, "amp_cast") == 0 || strcmp(name, "amp_multicast") == 0;
}

mxc_status mxc_symbol_remove_amp_casts(const mxc_symbol *symbol, mxc_symbol **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    mxci_graph *g;
    MXC_TRY(mxci_graph_from_symbol(symbol, &g));
    /* Forwards, so that what a cast reads has been replaced when the cast is. */
    for (int32_t i = 0; i < g->n_nodes; i++)
        for (int32_t j = 0; j < g->nodes[i].n_inputs && is_amp_cast(&g->nodes[i]); j++)
            mxci_graph_replace_entry(g, g->nodes[i].first_entry + j, mxci_graph_inputs(g, i)[j]);
    mxc_status status = mxci_graph_to_symbol(g, g->n_outputs, g->outputs, out);
    mxci_graph_destroy(g);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols as lists of outputs: creating, grouping, and selecting outputs. Applying operators is in compose.c. */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "symbol/names.h"
#include "symbol/topological_order.h"
#include "symbol/scope.h"

/* ---- lifetime -------------------------------------------------------------------------------------------------- */

mxc_status mxci_symbol_create(int64_t n, const mxci_entry *outputs, mxc_symbol **out) {
    mxc_symbol *symbol = mxci_calloc(1, sizeof *symbol);
    *out = NULL;
    if (symbol)
        symbol->outputs = mxci_calloc((size_t)n, sizeof *outputs);
    if (!symbol || !symbol->outputs) {
        mxci_free(symbol);
        return MXCI_NO_MEMORY("symbol", "its outputs");
    }
    atomic_init(&symbol->refs, 1);
    symbol->n_outputs = n;
    for (int64_t i = 0; i < n; i++) {
        symbol->outputs[i] = outputs[i];
        mxci_node_retain(outputs[i].node);
    }
    *out = symbol;
    return MXC_OK;
}

mxc_status mxci_symbol_atomic_over(const char *op, mxci_node *node, mxc_symbol **out) {
    char *name = mxci_strdup(op);
    mxc_status status = name ? mxci_symbol_create(1, &(mxci_entry){node, 0}, out)
                             : MXC_FAIL(MXC_ENOMEM, "symbol: no memory for %.100s", op);
    if (status == MXC_OK)
        (*out)->atomic = name;
    else
        mxci_free(name);
    return status;
}

mxc_symbol *mxc_symbol_retain(mxc_symbol *symbol) {
    if (symbol)
        atomic_fetch_add_explicit(&symbol->refs, 1, memory_order_relaxed);
    return symbol;
}

void mxc_symbol_release(mxc_symbol *symbol) {
    if (!MXCI_MAY_RELEASE(symbol) || atomic_fetch_sub_explicit(&symbol->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int64_t i = 0; i < symbol->n_outputs; i++)
        mxci_node_release(symbol->outputs[i].node);
    mxci_free(symbol->outputs);
    mxci_free(symbol->atomic);
    mxci_free_object(symbol);
}

mxc_status mxc_symbol_variable(const char *name, mxc_symbol **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(name));
    mxci_node *node;
    mxc_status status;
    if (!name || !name[0])
        return MXC_FAIL(MXC_EINVAL, "mxc_symbol_variable: the name is empty");
    MXC_TRY(mxci_node_create(MXCI_VARIABLE, name, NULL, &node));
    status = mxci_scope_apply(node);
    if (status == MXC_OK)
        status = mxci_symbol_create(1, &(mxci_entry){node, 0}, out);
    mxci_node_release(node);
    return status;
}

/* ---- several outputs --------------------------------------------------------------------------------------- */

/* Outputs being collected for a new symbol. */
typedef struct gather {
    mxci_entry *entries; /* borrowed nodes */
    int64_t n;
} gather;

/* Makes room for so many entries. */
static mxc_status gather_begin(gather *g, int64_t room) {
    g->n = 0;
    g->entries = mxci_calloc((size_t)room, sizeof *g->entries);
    return g->entries ? MXC_OK : MXCI_NO_MEMORY("symbol", "a list of outputs");
}

/* The symbol over the entries, and the end of the gathering. */
static mxc_status gather_end(gather *g, mxc_symbol **out) {
    mxc_status status = mxci_symbol_create(g->n, g->entries, out);
    mxci_free(g->entries);
    return status;
}

mxc_status mxc_symbol_group(int n, mxc_symbol *const *symbols, mxc_symbol **out) {
    gather g;
    int64_t total = 0;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, symbols));
    for (int i = 0; i < n; i++) {
        if (!symbols[i] || symbols[i]->atomic)
            return MXC_FAIL(MXC_EINVAL, "mxc_symbol_group: symbol %d is %s", i,
                            symbols[i] ? "an operator not applied to inputs yet" : "NULL");
        total += symbols[i]->n_outputs;
    }
    if (n <= 0)
        return MXC_FAIL(MXC_EINVAL, "mxc_symbol_group: expected at least one symbol, found %d", n);
    MXC_TRY(gather_begin(&g, total));
    for (int i = 0; i < n; i++)
        for (int64_t j = 0; j < symbols[i]->n_outputs; j++)
            g.entries[g.n++] = symbols[i]->outputs[j];
    return gather_end(&g, out);
}

mxc_status mxc_symbol_internals(const mxc_symbol *symbol, mxc_symbol **out) {
    mxci_topological_order order;
    gather g;
    int64_t total = 0;
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(mxci_topological_order_make(symbol, &order));
    for (int32_t i = 0; i < order.n; i++)
        total += mxci_node_n_visible(order.nodes[i]);
    status = gather_begin(&g, total);
    for (int32_t i = 0; i < order.n && status == MXC_OK; i++)
        for (int j = 0; j < mxci_node_n_visible(order.nodes[i]); j++)
            g.entries[g.n++] = (mxci_entry){order.nodes[i], j};
    if (status == MXC_OK)
        status = gather_end(&g, out);
    mxci_topological_order_free(&order);
    return status;
}

mxc_status mxc_symbol_inputs(const mxc_symbol *symbol, mxc_symbol **out) {
    mxci_topological_order order;
    gather g;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(mxci_topological_order_make(symbol, &order));
    mxc_status status = gather_begin(&g, order.n);
    for (int32_t i = 0; i < order.n && status == MXC_OK; i++)
        if (order.nodes[i]->kind == MXCI_VARIABLE)
            g.entries[g.n++] = (mxci_entry){order.nodes[i], 0};
    if (status == MXC_OK && g.n > 0)
        status = gather_end(&g, out);
    else if (status == MXC_OK)
        mxci_free(g.entries);
    mxci_topological_order_free(&order);
    return status;
}

/* Inputs of the nodes of all outputs, each node once. is_head has a byte for each node of the order. */
static mxc_status gather_children(const mxc_symbol *symbol, const mxci_topological_order *order, unsigned char *is_head,
                                  mxc_symbol **out) {
    gather g;
    int64_t total = 0;
    for (int64_t i = 0; i < symbol->n_outputs; i++) {
        int32_t at = mxci_topological_order_find(order, symbol->outputs[i].node);
        total += is_head[at] ? 0 : symbol->outputs[i].node->n_inputs;
        is_head[at] = 1;
    }
    if (!total)
        return MXC_OK;
    MXC_TRY(gather_begin(&g, total));
    for (int64_t i = 0; i < symbol->n_outputs; i++) {
        const mxci_node *node = symbol->outputs[i].node;
        unsigned char *wanted = &is_head[mxci_topological_order_find(order, node)];
        for (int32_t j = 0; j < node->n_inputs && *wanted; j++)
            g.entries[g.n++] = node->inputs[j];
        *wanted = 0;
    }
    return gather_end(&g, out);
}

mxc_status mxc_symbol_children(const mxc_symbol *symbol, mxc_symbol **out) {
    mxci_topological_order order;
    mxc_status status;
    unsigned char *is_head;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(mxci_topological_order_make(symbol, &order));
    is_head = mxci_calloc((size_t)order.n, 1);
    status = is_head ? gather_children(symbol, &order, is_head, out) : MXCI_NO_MEMORY("symbol", "a list of outputs");
    mxci_free(is_head);
    mxci_topological_order_free(&order);
    return status;
}

/* ---- one output -------------------------------------------------------------------------------------------- */

const char *mxc_symbol_name(const mxc_symbol *symbol) {
    return symbol && symbol->n_outputs == 1 && !symbol->atomic ? symbol->outputs[0].node->name : NULL;
}

int64_t mxc_symbol_output_index(const mxc_symbol *symbol) {
    return symbol && symbol->n_outputs == 1 ? symbol->outputs[0].index : -1;
}

int64_t mxc_symbol_n_outputs(const mxc_symbol *symbol) {
    return symbol ? symbol->n_outputs : 0;
}

mxc_status mxc_symbol_output(const mxc_symbol *symbol, int64_t index, mxc_symbol **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    if (symbol->atomic)
        return MXC_FAIL(MXC_ESTATE, "mxc_symbol_output: operator %.100s is not applied to inputs yet", symbol->atomic);
    if (index < 0 || index >= symbol->n_outputs)
        return MXC_FAIL(MXC_EINVAL, "mxc_symbol_output: index %lld, expected 0 to %lld", (long long)index,
                        (long long)symbol->n_outputs - 1);
    return mxci_symbol_create(1, &symbol->outputs[index], out);
}

/* 1 if the output's name is name. */
static mxc_status has_name(mxci_entry e, const char *name, int *out) {
    char *own;
    *out = 0;
    if (strncmp(e.node->name, name, strlen(e.node->name)) != 0)
        return MXC_OK;
    MXC_TRY(mxci_node_output_name(e.node, e.index, &own));
    *out = strcmp(own, name) == 0;
    mxci_free(own);
    return MXC_OK;
}

mxc_status mxc_symbol_find_output(const mxc_symbol *symbol, const char *name, mxc_symbol **out) {
    int64_t found = -1;
    int same;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(MXCI_NON_NULL(name));
    for (int64_t i = 0; i < symbol->n_outputs && !symbol->atomic; i++) {
        MXC_TRY(has_name(symbol->outputs[i], name, &same));
        if (same && found >= 0)
            return MXC_FAIL(MXC_EINVAL, "mxc_symbol_find_output: several outputs are called \"%.100s\"", name);
        if (same)
            found = i;
    }
    if (found < 0)
        return MXC_FAIL(MXC_ENOTFOUND, "mxc_symbol_find_output: no output is called \"%.100s\"", name);
    return mxc_symbol_output(symbol, found, out);
}

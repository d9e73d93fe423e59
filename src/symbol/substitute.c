/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols made from others by copying nodes: deep copies, and variables replaced by other symbols. Nodes are immutable
 * once they are shared, so a node is copied if something that it is made from changes, and shared otherwise.
 */
#include <string.h>

#include "base/error.h"
#include "base/hash_map.h"
#include "base/sys.h"
#include "symbol/compose.h"
#include "symbol/names.h"
#include "symbol/topological_order.h"

/* What a variable is replaced by. */
typedef struct replacement {
    mxci_entry entry; /* borrowed */
    int used;
} replacement;

/* The state of copying a whole symbol. */
typedef struct rewrite {
    mxci_topological_order order;
    mxci_entry *made; /* node: output i of the old node is output index + i of the new one; one reference each */
    int copy_all;     /* share nothing */
    const mxci_node *renamed; /* gets a new name; NULL: none */
    const char *name;
    mxci_hash_map *replaced; /* variable name -> replacement *; NULL: none */
} rewrite;

/* The new symbol's entry for an entry of the old one, whose node has been visited. */
static mxci_entry map_entry(const rewrite *r, mxci_entry e) {
    mxci_entry made = r->made[mxci_topological_order_find(&r->order, e.node)];
    return (mxci_entry){made.node, made.index + e.index};
}

/* 1 if the node has to be copied: its name or something that it is made from changes. */
static int is_changed(const rewrite *r, const mxci_node *node) {
    if (r->copy_all || node == r->renamed)
        return 1;
    for (int32_t i = 0; i < node->n_inputs; i++)
        if (map_entry(r, node->inputs[i]).node != node->inputs[i].node)
            return 1;
    return node->forward && map_entry(r, (mxci_entry){node->forward, 0}).node != node->forward;
}

/* Sets made[at]: the replacement of a variable, the node itself, or a copy with replaced inputs. */
static mxc_status rewrite_node(rewrite *r, int32_t at) {
    mxci_node *node = r->order.nodes[at], *copy;
    mxci_entry *made = &r->made[at];
    int32_t n_args = node->n_inputs - (node->op ? mxc_op_n_aux(node->op) : 0);
    replacement *other = r->replaced && node->kind == MXCI_VARIABLE ? mxci_hash_map_get(r->replaced, node->name) : NULL;
    if (other || !is_changed(r, node)) {
        *made = other ? other->entry : (mxci_entry){node, 0};
        mxci_node_retain(made->node);
        if (other)
            other->used = 1;
        return MXC_OK;
    }
    MXC_TRY(mxci_node_create(node->kind, node == r->renamed ? r->name : node->name, node->op, &made->node));
    copy = made->node;
    MXC_TRY(mxci_node_reserve_inputs(copy, node->n_inputs));
    for (int32_t i = 0; i < node->n_inputs; i++) {
        mxci_entry e = map_entry(r, node->inputs[i]);
        if (i >= n_args && e.node->kind != MXCI_VARIABLE)
            return MXC_FAIL(MXC_EINVAL,
                            "mxc_symbol_compose: \"%.100s\" is an auxiliary state of \"%.100s\"; only a "
                            "variable can replace it",
                            node->inputs[i].node->name, node->name);
        mxci_node_add_input(copy, e);
    }
    if (node->forward)
        copy->forward = mxci_node_retain(map_entry(r, (mxci_entry){node->forward, 0}).node);
    return mxci_node_copy_attrs(copy, node, 0);
}

/* Visits all nodes in topological order, so that the inputs of a node have been visited before it. */
static mxc_status substitute_run(rewrite *r, const mxc_symbol *symbol, mxc_symbol **out) {
    mxci_entry *outputs = mxci_calloc((size_t)symbol->n_outputs, sizeof *outputs);
    mxc_status status = outputs ? mxci_topological_order_make(symbol, &r->order) : MXCI_NO_MEMORY("symbol", "outputs");
    if (status != MXC_OK) {
        mxci_free(outputs);
        return status;
    }
    r->made = mxci_calloc((size_t)r->order.n, sizeof *r->made);
    status = r->made ? MXC_OK : MXC_FAIL(MXC_ENOMEM, "symbol: no memory to copy %d nodes", r->order.n);
    for (int32_t i = 0; i < r->order.n && status == MXC_OK; i++)
        status = rewrite_node(r, i);
    for (int64_t i = 0; i < symbol->n_outputs && status == MXC_OK; i++)
        outputs[i] = map_entry(r, symbol->outputs[i]);
    if (status == MXC_OK)
        status = mxci_symbol_create(symbol->n_outputs, outputs, out);
    for (int32_t i = 0; i < r->order.n && r->made; i++)
        mxci_node_release(r->made[i].node);
    mxci_free(outputs);
    mxci_free(r->made);
    mxci_topological_order_free(&r->order);
    return status;
}

/* ---- copies ------------------------------------------------------------------------------------------------ */

mxc_status mxc_symbol_copy(const mxc_symbol *symbol, mxc_symbol **out) {
    rewrite r = {.copy_all = 1};
    mxci_node *node;
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    if (!symbol->atomic)
        return substitute_run(&r, symbol, out);
    MXC_TRY(mxci_node_create(MXCI_FORWARD, "", NULL, &node));
    status = mxci_node_copy_attrs(node, symbol->outputs[0].node, 0);
    if (status == MXC_OK)
        status = mxci_symbol_atomic_over(symbol->atomic, node, out);
    mxci_node_release(node);
    return status;
}

/* ---- replacing variables ----------------------------------------------------------------------------------- */

/* Enters the replacements by name and rewrites the symbol; every one must have been used. */
static mxc_status substitute(rewrite *r, const mxc_symbol *symbol, replacement *all, int n, const char *const *keys,
                             mxc_symbol *const *in, mxc_symbol **out) {
    mxc_status status;
    int i;
    for (i = 0; i < n; i++) {
        MXC_TRY(MXCI_CHECK_NON_NULL(keys[i], "mxc_symbol_compose: a variable's name"));
        if (mxci_hash_map_has(r->replaced, keys[i]))
            return MXC_FAIL(MXC_EINVAL, "mxc_symbol_compose: variable \"%.100s\" is given twice", keys[i]);
        if (!in[i] || in[i]->atomic || in[i]->n_outputs != 1)
            return MXC_FAIL(MXC_EINVAL, "mxc_symbol_compose: \"%.100s\" must be replaced by a symbol of one output",
                            keys[i]);
        all[i].entry = in[i]->outputs[0];
        MXC_TRY(mxci_hash_map_put(r->replaced, keys[i], &all[i]));
    }
    MXC_TRY(substitute_run(r, symbol, out));
    for (i = 0; i < n && all[i].used; i++)
        ;
    if (i == n)
        return MXC_OK;
    status = mxci_symbol_fail_unknown(symbol, MXC_EINVAL, "mxc_symbol_compose: no variable", keys[i]);
    mxc_symbol_release(*out);
    *out = NULL;
    return status;
}

mxc_status mxci_symbol_substitute(const mxc_symbol *symbol, const char *name, int n, const char *const *keys,
                                  mxc_symbol *const *in, mxc_symbol **out) {
    rewrite r = {.name = name};
    replacement *all;
    mxc_status status;
    if (n && !keys)
        return MXC_FAIL(MXC_EINVAL, "mxc_symbol_compose: the symbol is composed: its variables are replaced by name");
    if (n < 0 || (n && !in))
        return MXC_FAIL(MXC_EINVAL, "mxc_symbol_compose: %d inputs%s", n, n > 0 ? " at NULL" : "");
    r.renamed = name && name[0] ? symbol->outputs[0].node : NULL;
    MXC_TRY(mxci_hash_map_create(&r.replaced));
    all = mxci_calloc((size_t)n, sizeof *all);
    status = all ? substitute(&r, symbol, all, n, keys, in, out) : MXCI_NO_MEMORY("symbol", "replacements");
    mxci_free(all);
    mxci_hash_map_destroy(r.replaced);
    return status;
}

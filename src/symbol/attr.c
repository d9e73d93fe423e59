/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of symbols (mxc_symbol_attr and its kin) and attribute scopes, which set attributes on every node that a
 * thread creates inside them. How a node stores attributes is in node.c.
 */
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "symbol/compose.h"
#include "symbol/names.h"
#include "symbol/topological_order.h"
#include "symbol/scope.h"

/* ---- of symbols -------------------------------------------------------------------------------------------- */

/* The node that all outputs belong to; NULL if there are several. */
static mxci_node *only_node(const mxc_symbol *symbol) {
    mxci_node *node = symbol->outputs[0].node;
    for (int64_t i = 1; i < symbol->n_outputs; i++)
        if (symbol->outputs[i].node != node)
            return NULL;
    return node;
}

const char *mxc_symbol_op_name(const mxc_symbol *symbol) {
    const mxci_node *node = symbol && !symbol->atomic ? only_node(symbol) : NULL;
    return symbol && symbol->atomic ? symbol->atomic : node && node->op ? mxc_op_name(node->op) : NULL;
}

const char *mxc_symbol_attr(const mxc_symbol *symbol, const char *key) {
    const mxci_node *node = symbol && key ? only_node(symbol) : NULL;
    const char *value = node ? mxci_node_attr(node, key) : NULL, *param;
    /* An operator's parameters can be read like attributes, as in MXNet. */
    for (int i = 0; node && node->op && !value && i < mxc_op_n_given(node->op); i++) {
        const char *param_value;
        mxc_op_given(node->op, i, &param, &param_value);
        if (strcmp(param, key) == 0)
            value = param_value;
    }
    return value;
}

mxc_status mxc_symbol_set_attr(mxc_symbol *symbol, const char *key, const char *value) {
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(MXCI_NON_NULL(key));
    MXC_TRY(MXCI_NON_NULL(value));
    for (int64_t i = 0; i < symbol->n_outputs; i++) {
        mxci_node *node = symbol->outputs[i].node;
        const mxc_op_def *def = symbol->atomic ? mxc_op_find(symbol->atomic) : NULL;
        if (i > 0 && node == symbol->outputs[i - 1].node)
            continue; /* has been set */
        def = node->op ? mxc_op_get_def(node->op) : def;
        if (def && mxci_param_find(def, key))
            return MXC_FAIL(MXC_EINVAL, "mxc_symbol_set_attr: \"%.100s\": %.60s is a parameter of %s, not an attribute",
                            node->name, key, def->name);
        MXC_TRY(mxci_node_set_attr(node, key, value));
        MXC_TRY(mxci_hoist_attrs(node));
    }
    return MXC_OK;
}

/* ---- lists ------------------------------------------------------------------------------------------------- */

/* Appends key and value as two names; the key becomes "<node>$<key>" where node is not NULL. */
static mxc_status add_pair(mxc_names *out, const char *node, const char *key, size_t length, const char *value) {
    mxci_text text = {0};
    char *full;
    if (node) {
        mxci_text_add(&text, node);
        mxci_text_add(&text, "$");
    }
    mxci_text_add_bytes(&text, key, length);
    MXC_TRY(mxci_text_take(&text, &full));
    MXC_TRY(mxci_names_give(out, full));
    return mxci_names_add(out, value);
}

/* Appends the parameters and attributes of a node. A known attribute appears twice, as __key__ and as key, since MXNet
 * programs look for either. */
static mxc_status list_node(const mxci_node *node, const char *prefix, mxc_names *out) {
    char plain[MXCI_ATTR_KEY_MAX];
    const char *key, *value;
    for (int i = 0; node->op && i < mxc_op_n_given(node->op); i++) {
        mxc_op_given(node->op, i, &key, &value);
        MXC_TRY(add_pair(out, prefix, key, strlen(key), value));
    }
    for (int i = 0; i < node->n_attrs; i++) {
        size_t length = strlen(node->attr_keys[i]);
        key = node->attr_keys[i];
        value = node->attr_values[i];
        MXC_TRY(add_pair(out, prefix, key, length, value));
        if (!mxci_attr_is_hidden(key))
            continue;
        mxci_format(plain, sizeof plain, "%.*s", (int)length - 4, key + 2);
        if (mxci_attr_is_known(plain))
            MXC_TRY(add_pair(out, prefix, plain, length - 4, value));
    }
    return MXC_OK;
}

mxc_status mxc_symbol_list_attrs(const mxc_symbol *symbol, int deep, mxc_names *out) {
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    if (deep) {
        mxci_topological_order order;
        status = mxci_topological_order_make(symbol, &order); /* empty on failure */
        for (int32_t i = 0; i < order.n && status == MXC_OK; i++)
            status = list_node(order.nodes[i], order.nodes[i]->name, out);
        mxci_topological_order_free(&order);
    } else {
        const mxci_node *node = only_node(symbol);
        status = node ? list_node(node, NULL, out)
                      : MXC_FAIL(MXC_EINVAL, "mxc_symbol_list_attrs: the outputs belong to several nodes; list deeply");
    }
    if (status != MXC_OK)
        mxc_names_release(out);
    return status;
}

/* ---- scopes ------------------------------------------------------------------------------------------------ */

/* A nameless node holds the attributes of this scope merged with those of the scopes around it. */
typedef struct scope {
    struct scope *outer;
    mxci_node *attrs;
} scope;

static _Thread_local scope *current;

/* Sets the attributes of the scopes around, then those of this one, which win. */
static mxc_status fill_scope(scope *s, int n, const char *const *keys, const char *const *values) {
    MXC_TRY(mxci_node_create(MXCI_VARIABLE, "", NULL, &s->attrs));
    if (s->outer)
        MXC_TRY(mxci_node_copy_attrs(s->attrs, s->outer->attrs, 0));
    for (int i = 0; i < n; i++) {
        MXC_TRY(MXCI_CHECK_NON_NULL(keys[i] && values[i], "mxc_attr_scope_enter: keys and values"));
        MXC_TRY(mxci_node_set_attr(s->attrs, keys[i], values[i]));
    }
    return MXC_OK;
}

mxc_status mxc_attr_scope_enter(int n, const char *const *keys, const char *const *values) {
    scope *s;
    mxc_status status;
    MXC_TRY(MXCI_CHECK_NON_NULL(n <= 0 || (keys && values), "mxc_attr_scope_enter: keys and values"));
    s = mxci_calloc(1, sizeof *s);
    if (!s)
        return MXCI_NO_MEMORY("mxc_attr_scope_enter", "a scope");
    s->outer = current;
    status = fill_scope(s, n, keys, values);
    if (status == MXC_OK) {
        current = s;
        return MXC_OK;
    }
    mxci_node_release(s->attrs);
    mxci_free(s);
    return status;
}

void mxc_attr_scope_leave(void) {
    scope *s = current;
    if (!s)
        return;
    current = s->outer;
    mxci_node_release(s->attrs);
    mxci_free(s);
}

mxc_status mxci_scope_apply(mxci_node *node) {
    for (int32_t i = 0; current && i < current->attrs->n_attrs; i++)
        MXC_TRY(mxci_node_set_attr(node, current->attrs->attr_keys[i], current->attrs->attr_values[i]));
    return MXC_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Rebuilding a symbol node by node: see rebuild.h. What is replaced is decided by its callers. */
#include "rewrite/rebuild.h"

#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "ndarray/array_list.h"
#include "symbol/compose.h"

mxc_status mxci_rebuild_open(mxci_rebuild *r, const mxc_symbol *symbol, const mxc_ndarray_list *params) {
    memset(r, 0, sizeof *r);
    r->params = params;
    MXC_TRY(mxci_graph_from_symbol(symbol, &r->graph));
    r->made = mxci_calloc((size_t)r->graph->n_entries, sizeof *r->made);
    return r->made ? MXC_OK : MXCI_NO_MEMORY("rewriting a network", "the new symbol");
}

void mxci_rebuild_close(mxci_rebuild *r) {
    for (int64_t i = 0; i < r->n_owned; i++)
        mxc_symbol_release(r->owned[i]);
    mxci_free(r->owned);
    mxci_free(r->made);
    mxci_graph_destroy(r->graph);
    mxc_ndarray_list_release(&r->values);
    memset(r, 0, sizeof *r);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

mxc_status mxci_rebuild_keep_symbol(mxci_rebuild *r, mxc_symbol *symbol, mxci_entry *out) {
    mxc_symbol **owned = mxci_realloc_array(r->owned, (size_t)r->n_owned + 1, sizeof *owned);
    if (!owned) {
        mxc_symbol_release(symbol);
        return MXCI_NO_MEMORY("rewriting a network", "the new symbol");
    }
    r->owned = owned;
    r->owned[r->n_owned++] = symbol;
    *out = symbol->outputs[0];
    return MXC_OK;
}

mxc_status mxci_rebuild_op(mxci_rebuild *r, const char *op, const char *name, int n_params, const char *const *keys,
                           const char *const *values, int n_in, const mxci_entry *in, mxci_entry *out) {
    mxc_symbol **inputs = mxci_calloc((size_t)n_in, sizeof *inputs), *made = NULL;
    mxc_status status = inputs ? MXC_OK : MXCI_NO_MEMORY("rewriting a network", "the new symbol");
    for (int i = 0; i < n_in && status == MXC_OK; i++)
        status = mxci_symbol_create(1, &in[i], &inputs[i]);
    if (status == MXC_OK)
        status = mxc_symbol_op(op, name, n_params, keys, values, n_in, NULL, inputs, &made);
    for (int i = 0; inputs && i < n_in; i++)
        mxc_symbol_release(inputs[i]);
    mxci_free(inputs);
    return status == MXC_OK ? mxci_rebuild_keep_symbol(r, made, out) : status;
}

static int rebuild_find_key(int n, const char *const *keys, const char *key) {
    for (int i = 0; i < n; i++)
        if (!strcmp(keys[i], key))
            return i;
    return -1;
}

mxc_status mxci_rebuild_node_as(mxci_rebuild *r, int32_t node, const char *op, const char *name, int n_params,
                                const char *const *keys, const char *const *values, int n_in, const mxci_entry *in,
                                mxci_entry *out) {
    const mxci_gnode *g = &r->graph->nodes[node];
    int n_given = mxc_op_n_given(g->op), n_attrs = g->node->n_attrs, n = n_params, room = n + n_given + n_attrs;
    const char **all = mxci_calloc(2 * (size_t)room, sizeof *all), *key, *value;
    const mxc_op_def *other = mxc_op_find(op);
    mxc_status status;
    if (!all)
        return MXCI_NO_MEMORY("rewriting a network", "the new symbol");
    other = other == mxc_op_get_def(g->op) ? NULL : other;
    for (int i = 0; i < n_params; i++) {
        all[i] = keys[i];
        all[room + i] = values[i];
    }
    for (int i = 0; i < n_given + n_attrs; i++) {
        if (i < n_given)
            mxc_op_given(g->op, i, &key, &value);
        else
            key = g->node->attr_keys[i - n_given], value = g->node->attr_values[i - n_given];
        if (rebuild_find_key(n, all, key) >= 0) /* attributes are among the parameters given */
            continue;
        if (i < n_given && other && !mxci_param_find(other, key))
            continue;
        all[n] = key;
        all[room + n++] = value;
    }
    status = mxci_rebuild_op(r, op, name, n, all, all + room, n_in, in, out);
    mxci_free(all);
    return status;
}

mxc_status mxci_rebuild_node(mxci_rebuild *r, int32_t node, const mxci_entry *in) {
    const mxci_gnode *g = &r->graph->nodes[node];
    mxci_entry out;
    if (g->kind == MXCI_VARIABLE) {
        r->made[g->first_entry] = (mxci_entry){g->node, 0};
        return MXC_OK;
    }
    if (g->kind != MXCI_FORWARD)
        return MXC_FAIL(MXC_EUNSUPPORTED, "node \"%.80s\": a network with gradients cannot be rewritten", g->name);
    MXC_TRY(mxci_rebuild_node_as(r, node, mxc_op_name(g->op), g->name, 0, NULL, NULL, g->n_inputs, in, &out));
    for (int32_t i = 0; i < g->n_outputs; i++)
        r->made[g->first_entry + i] = (mxci_entry){out.node, out.index + i};
    return MXC_OK;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* Appends an array to a list; takes the reference, also on failure. */
static mxc_status append_array(mxc_ndarray_list *list, const char *prefix, const char *name, mxc_ndarray *value) {
    size_t n = (size_t)list->n + 1;
    mxc_ndarray **arrays = mxci_realloc_array(list->arrays, n, sizeof *arrays);
    list->arrays = arrays ? arrays : list->arrays;
    char **names = arrays ? mxci_realloc_array(list->names, n, sizeof *names) : NULL;
    list->names = names ? names : list->names;
    mxci_text text = {0};
    mxc_status status = names ? MXC_OK : MXCI_NO_MEMORY("rewriting a network", "the new symbol");
    if (names) {
        mxci_text_printf(&text, "%s%s", prefix, name);
        status = mxci_text_take(&text, &list->names[list->n]);
    }
    if (status == MXC_OK)
        list->arrays[list->n++] = value;
    else
        mxc_ndarray_release(value);
    return status;
}

mxc_status mxci_rebuild_variable(mxci_rebuild *r, const char *name, mxc_ndarray *value, mxci_entry *out) {
    mxc_symbol *variable;
    MXC_TRY(append_array(&r->values, "arg:", name, value));
    MXC_TRY(mxc_symbol_variable(name, &variable));
    return mxci_rebuild_keep_symbol(r, variable, out);
}

mxc_ndarray *mxci_rebuild_param(const mxci_rebuild *r, int32_t entry) {
    const mxci_gnode *g = &r->graph->nodes[r->graph->entry_node[entry]];
    mxc_ndarray *found;
    if (g->kind != MXCI_VARIABLE)
        return NULL;
    found = mxci_array_list_find(r->params, "arg:", g->name);
    return found ? found : mxci_array_list_find(r->params, "aux:", g->name);
}

/* ---- result ------------------------------------------------------------------------------------------------------ */

/* Appends the parameters of those names that have one: the new one, or else the old one. */
static mxc_status append_params(const mxci_rebuild *r, const char *prefix, const mxc_names *names,
                                mxc_ndarray_list *out) {
    for (int64_t i = 0; i < names->n; i++) {
        mxc_ndarray *found = mxci_array_list_find(&r->values, prefix, names->items[i]);
        found = found ? found : mxci_array_list_find(r->params, prefix, names->items[i]);
        if (found)
            MXC_TRY(append_array(out, prefix, names->items[i], mxc_ndarray_retain(found)));
    }
    return MXC_OK;
}

mxc_status mxci_rebuild_finish(mxci_rebuild *r, const mxci_entry *outputs, mxc_symbol **symbol,
                               mxc_ndarray_list *params) {
    mxc_names args = {0}, aux = {0};
    mxc_status status;
    memset(params, 0, sizeof *params);
    MXC_TRY(mxci_symbol_create(r->graph->n_outputs, outputs, symbol));
    status = mxc_symbol_list_arguments(*symbol, &args);
    if (status == MXC_OK)
        status = mxc_symbol_list_aux(*symbol, &aux);
    if (status == MXC_OK)
        status = append_params(r, "arg:", &args, params);
    if (status == MXC_OK)
        status = append_params(r, "aux:", &aux, params);
    if (status != MXC_OK) {
        mxc_ndarray_list_release(params);
        mxc_symbol_release(*symbol);
        *symbol = NULL;
    }
    mxc_names_release(&args);
    mxc_names_release(&aux);
    return status;
}

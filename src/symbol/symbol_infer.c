/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inference on a symbol (mxc_symbol_infer): known shapes and types of variables are set in a flat graph, and what
 * follows is returned in lists. The inference itself is in graph_infer.c.
 */
#include <string.h>

#include "base/error.h"
#include "base/hash_map.h"
#include "base/sys.h"
#include "base/text.h"
#include "symbol/graph.h"
#include "symbol/names.h"

/* ---- attributes of variables ------------------------------------------------------------------------------- */

/* "(64, 0, 3, 3)"; 0 and -1 are axes not known yet; "()" and "None" say nothing. */
static mxc_status read_shape(const char *name, const char *text, mxc_shape *out) {
    mxc_tuple t;
    int64_t dims[MXC_MAX_NDIM];
    if (strcmp(text, "None") == 0)
        return MXC_OK;
    if (mxc_tuple_parse(text, &t) != MXC_OK || t.n > MXC_MAX_NDIM)
        return MXC_FAIL(MXC_EINVAL, "variable \"%.100s\": __shape__ is \"%.60s\", expected a tuple of at most %d sizes",
                        name, text, MXC_MAX_NDIM);
    for (int i = 0; i < t.n; i++)
        dims[i] = t.value[i] ? t.value[i] : -1;
    if (t.n && mxc_shape_set(out, t.n, dims) != MXC_OK)
        return MXC_FAIL(MXC_EINVAL, "variable \"%.100s\": __shape__ \"%.60s\": %s", name, text, mxc_last_error());
    return MXC_OK;
}

/* A dtype by MXNet's number or by name; MXNet writes -1 for unknown. */
static mxc_status read_dtype(const char *name, const char *text, mxc_dtype *out) {
    const char *at = text;
    int64_t number;
    mxc_dtype type = mxc_dtype_from_name(text);
    if (type == MXC_DTYPE_UNKNOWN && mxci_read_int(&at, &number) && !*at) {
        if (number == MXC_DTYPE_UNKNOWN)
            return MXC_OK;
        if (number >= 0 && number < MXC_DTYPE_LIMIT && mxc_dtype_size((mxc_dtype)number))
            type = (mxc_dtype)number;
    }
    if (type == MXC_DTYPE_UNKNOWN)
        return MXC_FAIL(MXC_EDTYPE, "variable \"%.100s\": __dtype__ \"%.60s\" is no data type", name, text);
    *out = type;
    return MXC_OK;
}

/* ---- known shapes and types -------------------------------------------------------------------------------- */

/* What the caller gives for one name. */
typedef struct known {
    const mxc_shape *shape;
    mxc_dtype type;
    int used;
} known;

/* Enters what is given by name; shapes and types may each be NULL. */
static mxc_status enter_known(mxci_hash_map *map, known *all, int64_t n, const char *const *names,
                              const mxc_shape *shapes, const mxc_dtype *types) {
    for (int64_t i = 0; i < n; i++) {
        MXC_TRY(MXCI_CHECK_NON_NULL(names[i], "mxc_symbol_infer: a name"));
        if (mxci_hash_map_has(map, names[i]))
            return MXC_FAIL(MXC_EINVAL, "mxc_symbol_infer: \"%.100s\" is given twice", names[i]);
        all[i].shape = shapes ? &shapes[i] : NULL;
        all[i].type = types ? types[i] : MXC_DTYPE_UNKNOWN;
        MXC_TRY(mxci_hash_map_put(map, names[i], &all[i]));
    }
    return MXC_OK;
}

/* Sets all variables of the graph; several of one name get the same. What the caller leaves open may be in a variable's
 * attributes __shape__ and __dtype__. */
static mxc_status set_variables(mxci_graph *g, const mxci_hash_map *map) {
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const mxci_gnode *node = &g->nodes[i];
        const int32_t e = node->first_entry;
        const char *shape, *type;
        known *k;
        if (node->kind != MXCI_VARIABLE)
            continue;
        k = mxci_hash_map_get(map, node->name);
        if (k && k->shape && mxc_shape_set(&g->shapes[e], k->shape->ndim, k->shape->dim) != MXC_OK)
            return MXC_FAIL(MXC_EINVAL, "argument \"%.100s\": %s", node->name, mxc_last_error());
        if (k) {
            g->types[e] = k->type;
            k->used = 1;
        }
        shape = mxci_node_attr(node->node, "__shape__");
        type = mxci_node_attr(node->node, "__dtype__");
        if (shape && g->shapes[e].ndim < 0)
            MXC_TRY(read_shape(node->name, shape, &g->shapes[e]));
        if (type && g->types[e] == MXC_DTYPE_UNKNOWN)
            MXC_TRY(read_dtype(node->name, type, &g->types[e]));
    }
    return MXC_OK;
}

/* Sets what the caller knows; every name must be that of a variable. */
static mxc_status set_known(const mxc_symbol *symbol, mxci_graph *g, int64_t n, const char *const *names,
                            const mxc_shape *shapes, const mxc_dtype *types) {
    known *all = mxci_calloc((size_t)n, sizeof *all);
    mxci_hash_map *map = NULL;
    mxc_status status = all ? mxci_hash_map_create(&map) : MXCI_NO_MEMORY("mxc_symbol_infer", "the known names");
    if (status == MXC_OK)
        status = enter_known(map, all, n, names, shapes, types);
    if (status == MXC_OK)
        status = set_variables(g, map);
    for (int64_t i = 0; i < n && status == MXC_OK; i++)
        if (!all[i].used)
            status = mxci_symbol_fail_unknown(symbol, MXC_ENOTFOUND, "mxc_symbol_infer: no argument", names[i]);
    mxci_hash_map_destroy(map);
    mxci_free(all);
    return status;
}

/* ---- result ------------------------------------------------------------------------------------------------ */

/* Copies the shapes and types of n entries; where are_nodes is set, ids are variables, which have one entry each.
 * Clears *complete where something is unknown. */
static mxc_status collect(const mxci_graph *g, int32_t n, const int32_t *ids, int are_nodes, mxc_shape **shapes,
                          mxc_dtype **types, int *complete) {
    *shapes = mxci_calloc((size_t)n, sizeof **shapes);
    *types = mxci_calloc((size_t)n, sizeof **types);
    if (!*shapes || !*types)
        return MXCI_NO_MEMORY("mxc_symbol_infer", "the result");
    for (int32_t i = 0; i < n; i++) {
        int32_t e = are_nodes ? g->nodes[ids[i]].first_entry : ids[i];
        (*shapes)[i] = g->shapes[e];
        (*types)[i] = g->types[e];
        *complete &= mxc_shape_known(&g->shapes[e]) && g->types[e] != MXC_DTYPE_UNKNOWN;
    }
    return MXC_OK;
}

void mxc_inferred_release(mxc_inferred *inferred) {
    if (!inferred)
        return;
    mxci_free(inferred->arg_shapes);
    mxci_free(inferred->output_shapes);
    mxci_free(inferred->aux_shapes);
    mxci_free(inferred->arg_types);
    mxci_free(inferred->output_types);
    mxci_free(inferred->aux_types);
    memset(inferred, 0, sizeof *inferred);
}

mxc_status mxci_symbol_infer_graph(const mxc_symbol *symbol, int64_t n, const char *const *names,
                                   const mxc_shape *shapes, const mxc_dtype *types, mxci_graph **out) {
    mxc_status status;
    MXC_TRY(MXCI_CHECK_NON_NULL(n <= 0 || names, "mxc_symbol_infer: names"));
    MXC_TRY(mxci_graph_from_symbol(symbol, out));
    status = set_known(symbol, *out, n, names, shapes, types);
    if (status == MXC_OK)
        status = mxci_graph_infer(*out);
    if (status == MXC_OK)
        return MXC_OK;
    mxci_graph_destroy(*out);
    *out = NULL;
    return status;
}

mxc_status mxc_symbol_infer(const mxc_symbol *symbol, int64_t n, const char *const *names, const mxc_shape *shapes,
                            const mxc_dtype *types, mxc_inferred *out) {
    mxci_graph *g;
    mxc_status status;
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(symbol));
    MXC_TRY(mxci_symbol_infer_graph(symbol, n, names, shapes, types, &g));
    out->n_args = g->n_args;
    out->n_outputs = g->n_outputs;
    out->n_aux = g->n_aux;
    out->complete = 1;
    status = collect(g, g->n_args, g->args, 1, &out->arg_shapes, &out->arg_types, &out->complete);
    if (status == MXC_OK)
        status = collect(g, g->n_outputs, g->outputs, 0, &out->output_shapes, &out->output_types, &out->complete);
    if (status == MXC_OK)
        status = collect(g, g->n_aux, g->aux, 1, &out->aux_shapes, &out->aux_types, &out->complete);
    mxci_graph_destroy(g);
    if (status != MXC_OK)
        mxc_inferred_release(out);
    return status;
}

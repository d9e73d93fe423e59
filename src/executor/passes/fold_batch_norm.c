/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch norm folding, for inference: a norm (mxc_op_def.norm) that alone reads a linear layer (mxc_op_def.linear) is
 * folded into that layer. With s = gamma / sqrt(variance + eps), one number per filter,
 *   norm(W x + b) = (s W) x + (b - mean) s + beta
 * so a node _fold_norm computes weight s W and bias (b - mean) s + beta, and the layer runs on these. Unless the
 * parameters are constant, it does so in each run, so that the results always follow the parameters. That costs a pass
 * over the weight instead of one over the output, so it is done only where the weight is no larger.
 */
#include "base/sys.h"
#include "executor/passes/passes.h"
#include "operator/nn/fold_norm.h"
#include "symbol/graph_edit.h"
#include "symbol/graph_query.h"

enum { LAYER_DATA, LAYER_WEIGHT, LAYER_BIAS };

/* How often the entries that there were before the pass are read, by nodes and as outputs. */
typedef struct uses {
    int32_t n;
    int32_t *count;
    uint8_t *constant; /* node: computed once when binding; NULL: none is */
} uses;

/* 1 if the new weight and bias are computed only once. */
static int is_constant(const mxci_graph *g, int32_t layer, int32_t norm, const uses *u) {
    for (int32_t i = LAYER_WEIGHT; i < g->nodes[layer].n_inputs && u->constant; i++)
        if (!u->constant[g->entry_node[mxci_graph_inputs(g, layer)[i]]])
            return 0;
    for (int32_t i = 1; i < g->nodes[norm].n_inputs && u->constant; i++)
        if (!u->constant[g->entry_node[mxci_graph_inputs(g, norm)[i]]])
            return 0;
    return u->constant != NULL;
}

/* The layer that the node at could be folded into if their operators allow it; -1: none. */
static int32_t fold_batch_norm_layer_before(const mxci_graph *g, int32_t at, const uses *u) {
    const mxci_gnode *norm = &g->nodes[at], *layer;
    int32_t from;
    if (norm->kind != MXCI_FORWARD || norm->n_inputs != 5)
        return -1;
    for (int32_t i = 1; i < norm->n_outputs; i++)
        if (u->count[norm->first_entry + i])
            return -1;
    from = mxci_graph_inputs(g, at)[0];
    if (from >= u->n || u->count[from] != 1)
        return -1;
    layer = &g->nodes[g->entry_node[from]];
    if (layer->kind != MXCI_FORWARD || layer->n_outputs != 1 || layer->n_inputs < 2 ||
        !mxc_context_equal(layer->context, norm->context))
        return -1;
    if (mxc_shape_size(&g->shapes[mxci_graph_inputs(g, g->entry_node[from])[LAYER_WEIGHT]]) >
            mxc_shape_size(&g->shapes[from]) &&
        !is_constant(g, g->entry_node[from], at, u))
        return -1;
    return g->entry_node[from];
}

static void set_like(mxci_graph *g, int32_t entry, int32_t shape_of, int32_t type_of) {
    g->shapes[entry] = g->shapes[shape_of];
    g->types[entry] = g->types[type_of];
}

/* Appends the nodes fold and folded, and makes readers of the norm read folded. */
static mxc_status fold_node(mxci_graph *g, int32_t layer, int32_t norm, mxc_op *fold, mxc_op *folded) {
    const int32_t *of = mxci_graph_inputs(g, layer), *own = mxci_graph_inputs(g, norm);
    const int32_t from[] = {
        of[LAYER_WEIGHT], own[1], own[2], own[3], own[4], g->nodes[layer].n_inputs > LAYER_BIAS ? of[LAYER_BIAS] : -1,
    };
    int32_t inputs[3] = {of[LAYER_DATA]}, out = -1, made = -1;
    MXC_TRY(mxci_graph_add_op(g, fold, norm, "fold", mxc_op_n_args(fold), from, 2, &made));
    set_like(g, made, from[MXCI_FOLD_WEIGHT], from[MXCI_FOLD_WEIGHT]);
    set_like(g, made + 1, from[MXCI_FOLD_BETA], from[MXCI_FOLD_WEIGHT]);
    inputs[LAYER_WEIGHT] = made;
    inputs[LAYER_BIAS] = made + 1;
    MXC_TRY(mxci_graph_add_op(g, folded, norm, "folded", 3, inputs, 1, &out));
    set_like(g, out, g->nodes[norm].first_entry, g->nodes[norm].first_entry);
    mxci_graph_replace_entry(g, g->nodes[norm].first_entry, out);
    return MXC_OK;
}

static mxc_status fold_all(mxci_graph *g, const uses *u, int *is_folded) {
    const int32_t n = g->n_nodes;
    for (int32_t i = 0; i < n; i++) {
        int32_t layer = fold_batch_norm_layer_before(g, i, u);
        mxc_op *fold = NULL, *folded = NULL;
        mxc_status status;
        if (layer < 0)
            continue;
        MXC_TRY(mxci_fold_norm(g->nodes[layer].op, g->nodes[i].op, &fold, &folded));
        status = fold ? fold_node(g, layer, i, fold, folded) : MXC_OK;
        *is_folded |= fold != NULL;
        mxc_op_release(fold);
        mxc_op_release(folded);
        MXC_TRY(status);
    }
    return MXC_OK;
}

mxc_status mxci_pass_fold_batch_norm(mxci_graph *g, const mxc_bind_options *options, int *is_folded) {
    uses u = {.n = g->n_entries};
    mxc_status status = mxci_graph_count_uses(g, &u.count);
    if (status == MXC_OK)
        status = mxci_find_constants(g, options, 1, &u.constant);
    if (status == MXC_OK)
        status = fold_all(g, &u, is_folded);
    mxci_free(u.count);
    mxci_free(u.constant);
    return status;
}

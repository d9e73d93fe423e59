/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch norms folded into the parameters of the layer before them. In inference BatchNorm is x s + (beta - mean s) for
 * each channel, with s = gamma / sqrt(variance + eps), so weights w s and bias (b - mean) s + beta of the layer give
 * the same. Unlike the pass of the executor (passes/fold_batch_norm.c), this makes new parameters once, for
 * quantization.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "operator/nn/fold_norm.h"
#include "operator/op.h"
#include "rewrite/quantize_network.h"

enum { DATA, WEIGHT, BIAS, GAMMA = 1, BETA, MEAN, VARIANCE };

/* How often an entry is read, by nodes and as an output. */
static int count_uses(const mxci_graph *g, int32_t entry) {
    int n = 0;
    for (int32_t i = 0; i < g->n_inputs; i++)
        n += g->inputs[i] == entry;
    for (int32_t i = 0; i < g->n_outputs; i++)
        n += g->outputs[i] == entry;
    return n;
}

/* Parameters of the inputs from first up to but not last are all known, float32, and of size elements. */
static int are_known(const mxci_rebuild *r, int32_t node, int first, int last, int64_t size) {
    const int32_t *in = mxci_graph_inputs(r->graph, node);
    for (int i = first; i < last; i++) {
        mxc_ndarray *param = mxci_rebuild_param(r, in[i]);
        if (!param || mxc_ndarray_dtype(param) != MXC_F32 || mxc_ndarray_size(param) != size)
            return 0;
    }
    return 1;
}

/* The first axis of the layer's weight; -1 if it is not known. */
static int64_t filters_of(const mxci_rebuild *r, int32_t layer) {
    mxc_ndarray *weight = mxci_rebuild_param(r, mxci_graph_inputs(r->graph, layer)[WEIGHT]);
    const mxc_shape *shape = weight ? mxc_ndarray_shape(weight) : NULL;
    return shape && shape->ndim > 0 && mxc_ndarray_dtype(weight) == MXC_F32 ? shape->dim[0] : -1;
}

/* The layer that the norm can be folded into: only the norm reads its output, nothing reads the norm's statistics, and
 * all parameters are known; -1 if there is none. */
static int32_t fold_params_layer_before(const mxci_rebuild *r, int32_t node) {
    const mxci_graph *g = r->graph;
    int32_t entry, layer;
    mxc_linear linear;
    mxc_norm norm;
    if (g->nodes[node].n_inputs != VARIANCE + 1)
        return -1;
    for (int32_t i = 1; i < g->nodes[node].n_outputs; i++)
        if (count_uses(g, g->nodes[node].first_entry + i))
            return -1;
    entry = mxci_graph_inputs(g, node)[DATA];
    layer = g->entry_node[entry];
    if (count_uses(g, entry) != 1 || g->nodes[layer].kind != MXCI_FORWARD ||
        !mxci_fold_fits(g->nodes[layer].op, g->nodes[node].op, &linear, &norm))
        return -1;
    return are_known(r, layer, BIAS, g->nodes[layer].n_inputs, filters_of(r, layer)) &&
                   are_known(r, node, GAMMA, VARIANCE + 1, filters_of(r, layer))
               ? layer
               : -1;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static mxc_status values_of(const mxci_rebuild *r, int32_t node, int input, const float **out) {
    void *data;
    MXC_TRY(mxc_ndarray_data(mxci_rebuild_param(r, mxci_graph_inputs(r->graph, node)[input]), &data));
    *out = data;
    return MXC_OK;
}

typedef struct norm_values {
    const float *gamma, *beta, *mean, *variance; /* one per filter; gamma NULL: ones */
    double eps;
} norm_values;

/* Folds the norm into weight (filters, weights of a filter) and bias (filters) in place. */
static void fold(const norm_values *n, int64_t filters, int64_t filter_size, float *weight, float *bias) {
    for (int64_t f = 0; f < filters; f++) {
        double scale = (n->gamma ? n->gamma[f] : 1) / sqrt(n->variance[f] + n->eps);
        for (int64_t k = 0; k < filter_size; k++)
            weight[f * filter_size + k] = (float)(weight[f * filter_size + k] * scale);
        bias[f] = (float)((bias[f] - n->mean[f]) * scale + n->beta[f]);
    }
}

/* New arrays: the weight and bias of the layer with the norm folded in. */
static mxc_status fold_params_make_arrays(const mxci_rebuild *r, int32_t layer, int32_t node, mxc_ndarray **weight,
                                          mxc_ndarray **bias) {
    const int32_t *in = mxci_graph_inputs(r->graph, layer);
    const int has_bias = r->graph->nodes[layer].n_inputs > BIAS;
    mxc_ndarray *old = mxci_rebuild_param(r, in[WEIGHT]);
    const mxc_shape *shape = mxc_ndarray_shape(old);
    mxc_linear linear;
    mxc_norm norm = {.axis = 0};
    norm_values n;
    void *w, *b;
    (void)mxci_fold_fits(r->graph->nodes[layer].op, r->graph->nodes[node].op, &linear, &norm); /* has been checked */
    n.eps = norm.eps;
    MXC_TRY(values_of(r, node, GAMMA, &n.gamma));
    MXC_TRY(values_of(r, node, BETA, &n.beta));
    MXC_TRY(values_of(r, node, MEAN, &n.mean));
    MXC_TRY(values_of(r, node, VARIANCE, &n.variance));
    n.gamma = norm.fix_gamma ? NULL : n.gamma;
    MXC_TRY(mxc_ndarray_copy(old, mxc_cpu(0), MXC_F32, weight));
    MXC_TRY(has_bias ? mxc_ndarray_copy(mxci_rebuild_param(r, in[BIAS]), mxc_cpu(0), MXC_F32, bias)
                     : mxc_ndarray_create(1, shape->dim, MXC_F32, mxc_cpu(0), bias));
    if (!has_bias)
        MXC_TRY(mxc_ndarray_fill(*bias, 0));
    MXC_TRY(mxc_ndarray_data(*weight, &w));
    MXC_TRY(mxc_ndarray_data(*bias, &b));
    if (shape->dim[0] > 0)
        fold(&n, shape->dim[0], mxc_shape_size(shape) / shape->dim[0], w, b);
    return MXC_OK;
}

/* ---- the symbol -------------------------------------------------------------------------------------------------- */

/* A new variable "<layer>_folded_<what>"; takes the reference to its array, also on failure. */
static mxc_status fold_params_make_variable(mxci_rebuild *r, const char *layer, const char *what, mxc_ndarray *value,
                                            mxci_entry *out) {
    char *name;
    mxci_text text = {0};
    mxc_status status;
    mxci_text_printf(&text, "%s_folded_%s", layer, what);
    status = mxci_text_take(&text, &name);
    if (status == MXC_OK)
        status = mxci_rebuild_variable(r, name, value, out);
    else
        mxc_ndarray_release(value);
    mxci_free(name);
    return status;
}

/* Makes the layer with the folded parameters, whose output replaces that of the norm. */
static mxc_status fold_node(mxci_rebuild *r, int32_t layer, int32_t node) {
    static const char *const value = "False";
    const mxci_gnode *g = &r->graph->nodes[layer];
    mxc_linear linear = {.ndim = 0};
    mxc_ndarray *weight = NULL, *bias = NULL;
    mxci_entry in[3] = {r->made[mxci_graph_inputs(r->graph, layer)[DATA]]};
    mxc_status status = fold_params_make_arrays(r, layer, node, &weight, &bias);
    if (status != MXC_OK) {
        mxc_ndarray_release(weight);
        mxc_ndarray_release(bias);
        return status;
    }
    status = fold_params_make_variable(r, g->name, "weight", weight, &in[WEIGHT]);
    if (status != MXC_OK) {
        mxc_ndarray_release(bias);
        return status;
    }
    MXC_TRY(fold_params_make_variable(r, g->name, "bias", bias, &in[BIAS]));
    (void)mxci_op_get_linear(g->op, &linear);
    return mxci_rebuild_node_as(r, layer, mxc_op_name(g->op), g->name, linear.no_bias != NULL, &linear.no_bias, &value,
                                3, in, &r->made[r->graph->nodes[node].first_entry]);
}

/* Rewrites all nodes; a layer whose norm is folded is left without a reader, and so is not part of the new symbol. */
static mxc_status rebuild_all(mxci_rebuild *r, mxci_entry *in) {
    for (int32_t i = 0; i < r->graph->n_nodes; i++) {
        const mxci_gnode *g = &r->graph->nodes[i];
        int32_t layer = g->kind == MXCI_FORWARD ? fold_params_layer_before(r, i) : -1;
        if (layer >= 0) {
            MXC_TRY(fold_node(r, layer, i));
            continue;
        }
        for (int32_t k = 0; k < g->n_inputs; k++)
            in[k] = r->made[mxci_graph_inputs(r->graph, i)[k]];
        MXC_TRY(mxci_rebuild_node(r, i, in));
    }
    for (int32_t i = 0; i < r->graph->n_outputs; i++)
        in[i] = r->made[r->graph->outputs[i]];
    return MXC_OK;
}

mxc_status mxci_fold_norms_into_params(const mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_symbol **out,
                                       mxc_ndarray_list *out_params) {
    mxci_rebuild r;
    mxci_entry *in = NULL;
    mxc_status status = mxci_rebuild_open(&r, symbol, params);
    if (status == MXC_OK) {
        in = mxci_calloc((size_t)r.graph->n_inputs + (size_t)r.graph->n_outputs, sizeof *in);
        status = in ? rebuild_all(&r, in) : MXCI_NO_MEMORY("rewriting a network", "the new symbol");
    }
    if (status == MXC_OK)
        status = mxci_rebuild_finish(&r, in, out, out_params);
    mxci_free(in);
    mxci_rebuild_close(&r);
    return status;
}

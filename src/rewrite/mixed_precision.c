/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewrites a network so that it computes in 16 bits, with casts where the dtypes change, and with scaled losses
 * (Micikevicius et al., "Mixed Precision Training", 2018). Which inputs determine the dtype that an operator computes
 * in follows from its type inference: an input carries the precision if the output's dtype follows from it. So indices,
 * lengths and statistics keep their dtypes, and no operator is known by name.
 */
#include "rewrite/mixed_precision.h"

#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "base/text.h"
#include "rewrite/rebuild.h"

typedef struct precision_pass {
    const mxci_mixed_precision *precision;
    mxci_rebuild r;
    uint8_t *is_param;   /* entry: a variable that is trained, in any dtype */
    uint8_t *is_low;     /* entry: has the low precision in the new symbol */
    uint8_t *is_lowered; /* node: computes in the low precision */
    mxci_entry *cast;    /* entry: the same in the other precision; node NULL: not made yet */
    mxci_entry scale;    /* the variable MXCI_LOSS_SCALE */
    mxc_shape *shapes;   /* scratch for one node's slots: inputs, outputs */
    mxc_dtype *types;
    mxci_entry *in;
} precision_pass;

/* ---- dtypes of operators ----------------------------------------------------------------------------------------- */

/* Makes the shapes and dtypes of all slots unknown. */
static void forget_types(const precision_pass *l, const mxci_gnode *node) {
    for (int32_t i = 0; i < node->n_inputs + node->n_outputs; i++) {
        l->shapes[i].ndim = -1;
        l->types[i] = MXC_DTYPE_UNKNOWN;
    }
}

/* Runs the operator's type inference on l->types. */
static mxc_status infer_node(const precision_pass *l, const mxci_gnode *node) {
    int n_args = node->n_inputs - node->n_aux;
    mxc_op_sig sig = {
        .op = node->op,
        .params = mxc_op_params(node->op),
        .n_in = n_args,
        .n_out = node->n_outputs,
        .n_aux = node->n_aux,
        .in_shape = l->shapes,
        .aux_shape = l->shapes + n_args,
        .out_shape = l->shapes + node->n_inputs,
        .in_type = l->types,
        .aux_type = l->types + n_args,
        .out_type = l->types + node->n_inputs,
        .context = mxc_cpu(0),
        .parallelism = 1,
    };
    return mxc_op_infer_type(&sig);
}

/* 1 if an input may have the low precision; *carries: 1 if the output then has it too. */
static int accepts(const precision_pass *l, const mxci_gnode *node, int32_t slot, int *carries) {
    forget_types(l, node);
    l->types[slot] = l->precision->dtype;
    *carries = 0;
    if (infer_node(l, node) != MXC_OK)
        return 0;
    *carries = l->types[node->n_inputs] == l->precision->dtype;
    return 1;
}

/* 1 if the output has the low precision whenever input slot has. */
static int carries(const precision_pass *l, const mxci_gnode *node, int32_t slot) {
    int found = 0;
    return slot < node->n_inputs - node->n_aux && accepts(l, node, slot, &found) && found;
}

/* 1 for operators whose descriptor asks for float32 (mxc_op_def.precision). */
static int keeps_f32(const mxci_gnode *node) {
    return node->kind == MXCI_FORWARD && mxc_op_get_def(node->op)->precision == MXC_PRECISION_F32;
}

/* 1 if differentiation starts at the node: its backward pass reads no output gradient. */
static int is_loss(const mxci_gnode *node) {
    mxc_op_needs needs;
    if (node->kind != MXCI_FORWARD || !mxc_op_get_def(node->op)->backward[MXC_CPU])
        return 0;
    mxc_op_get_needs(node->op, &needs);
    return !needs.out_grad;
}

/* ---- choice ------------------------------------------------------------------------------------------------------ */

/* A node is lowered if an input that carries is a parameter or low. */
static int wants_low_precision(const precision_pass *l, int32_t at) {
    const mxci_gnode *node = &l->r.graph->nodes[at];
    const int32_t *in = mxci_graph_inputs(l->r.graph, at);
    if (node->kind != MXCI_FORWARD || is_loss(node) || keeps_f32(node))
        return 0;
    for (int32_t k = 0; k < node->n_inputs; k++)
        if ((l->is_param[in[k]] || l->is_low[in[k]]) && carries(l, node, k))
            return 1;
    return 0;
}

/* Marks the outputs of a lowered node whose dtype follows from its inputs. */
static void mark_outputs(const precision_pass *l, const mxci_gnode *node) {
    for (int32_t k = 0; k < node->n_inputs; k++)
        if (carries(l, node, k)) {
            forget_types(l, node);
            l->types[k] = l->precision->dtype;
            (void)infer_node(l, node);
            for (int32_t i = 0; i < node->n_outputs; i++)
                l->is_low[node->first_entry + i] |= l->types[node->n_inputs + i] == l->precision->dtype;
        }
}

/* Chooses the nodes that are lowered, in topological order. A parameter has the low precision if only lowered nodes
 * read it, through inputs that carry it; so it begins as low, until another use is found. */
static void choose_precision(const precision_pass *l) {
    const mxci_graph *g = l->r.graph;
    for (int32_t i = 0; i < g->n_args; i++) {
        const mxci_gnode *node = &g->nodes[g->args[i]];
        const int32_t entry = node->first_entry;
        l->is_param[entry] = 1;
        for (int k = 0; k < l->precision->n_fed; k++)
            if (!strcmp(l->precision->fed[k], node->name))
                l->is_param[entry] = 0;
        l->is_low[entry] = l->is_param[entry] && !mxci_node_attr(node->node, "__dtype__");
    }
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const mxci_gnode *node = &g->nodes[i];
        const int32_t *in = mxci_graph_inputs(g, i);
        l->is_lowered[i] = (uint8_t)wants_low_precision(l, i);
        if (l->is_lowered[i])
            mark_outputs(l, node);
        for (int32_t k = 0; k < node->n_inputs; k++)
            if (l->is_param[in[k]] && !(l->is_lowered[i] && carries(l, node, k)))
                l->is_low[in[k]] = 0;
    }
    for (int32_t i = 0; i < g->n_outputs; i++) /* a parameter that is an output keeps its dtype */
        if (l->is_param[g->outputs[i]])
            l->is_low[g->outputs[i]] = 0;
}

/* ---- the new symbol ---------------------------------------------------------------------------------------------- */

/* A new operator "<node>_<suffix>" with at most one parameter. */
static mxc_status mixed_precision_make_node(precision_pass *l, const char *op, const char *node, const char *suffix,
                                            int n_params, const char *key, const char *value, int n_in,
                                            const mxci_entry *in, mxci_entry *out) {
    mxci_text text = {0};
    char *name;
    mxci_text_printf(&text, "%s_%s", node, suffix);
    MXC_TRY(mxci_text_take(&text, &name));
    mxc_status status = mxci_rebuild_op(&l->r, op, name, n_params, &key, &value, n_in, in, out);
    mxci_free(name);
    return status;
}

/* An entry in the precision that it does not have. */
static mxc_status cast(precision_pass *l, int32_t entry, mxci_entry *out) {
    const mxci_graph *g = l->r.graph;
    const char *dtype = mxc_dtype_name(l->is_low[entry] ? MXC_F32 : l->precision->dtype);
    if (!l->cast[entry].node)
        MXC_TRY(mixed_precision_make_node(l, "Cast", g->nodes[g->entry_node[entry]].name, dtype, 1, "dtype", dtype, 1,
                                          &l->r.made[entry], &l->cast[entry]));
    *out = l->cast[entry];
    return MXC_OK;
}

/* Multiplies the gradient that a loss starts by the loss scale: _scale_gradient is the identity in forward. */
static mxc_status scale_gradient(precision_pass *l, int32_t entry, mxci_entry *inout) {
    const mxci_graph *g = l->r.graph;
    const mxci_entry in[2] = {*inout, l->scale};
    if (!l->precision->is_scaled || g->nodes[g->entry_node[entry]].kind == MXCI_VARIABLE)
        return MXC_OK;
    return mixed_precision_make_node(l, "_scale_gradient", g->nodes[g->entry_node[entry]].name, "scaled", 0, NULL, NULL,
                                     2, in, inout);
}

/* Input k of a node, in the precision that the node reads it in. */
static mxc_status make_input(precision_pass *l, int32_t at, int32_t k, mxci_entry *out) {
    const mxci_gnode *node = &l->r.graph->nodes[at];
    int32_t entry = mxci_graph_inputs(l->r.graph, at)[k];
    int is_low = l->is_low[entry], fits, found = 0;
    *out = l->r.made[entry];
    if (is_loss(node)) {
        if (is_low)
            MXC_TRY(cast(l, entry, out));
        return scale_gradient(l, entry, out);
    }
    if (l->is_lowered[at] && carries(l, node, k))
        fits = is_low;
    else
        fits = !is_low || (!keeps_f32(node) && accepts(l, node, k, &found));
    return fits ? MXC_OK : cast(l, entry, out);
}

/* A copy of the variable with the low precision as its dtype. */
static mxc_status mixed_precision_make_variable(precision_pass *l, const mxci_gnode *node) {
    mxci_entry entry = {.index = 0};
    mxc_symbol *variable;
    MXC_TRY(mxci_node_create(MXCI_VARIABLE, node->name, NULL, &entry.node));
    mxc_status status = mxci_node_copy_attrs(entry.node, node->node, 0);
    if (status == MXC_OK)
        status = mxci_node_put_attr(entry.node, "__dtype__", mxc_dtype_name(l->precision->dtype));
    if (status == MXC_OK)
        status = mxci_symbol_create(1, &entry, &variable);
    mxci_node_release(entry.node);
    return status == MXC_OK ? mxci_rebuild_keep_symbol(&l->r, variable, &l->r.made[node->first_entry]) : status;
}

static mxc_status rebuild_all(precision_pass *l) {
    const mxci_graph *g = l->r.graph;
    mxc_symbol *scale;
    if (l->precision->is_scaled) {
        MXC_TRY(mxc_symbol_variable(MXCI_LOSS_SCALE, &scale));
        MXC_TRY(mxci_rebuild_keep_symbol(&l->r, scale, &l->scale));
    }
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const mxci_gnode *node = &g->nodes[i];
        if (node->kind == MXCI_VARIABLE && l->is_low[node->first_entry]) {
            MXC_TRY(mixed_precision_make_variable(l, node));
            continue;
        }
        for (int32_t k = 0; k < node->n_inputs; k++)
            MXC_TRY(make_input(l, i, k, &l->in[k]));
        MXC_TRY(mxci_rebuild_node(&l->r, i, l->in));
    }
    for (int32_t i = 0; i < g->n_outputs; i++)
        l->in[i] = l->r.made[g->outputs[i]];
    return MXC_OK;
}

/* ---- pass -------------------------------------------------------------------------------------------------------- */

static mxc_status mixed_precision_allocate(precision_pass *l) {
    const mxci_graph *g = l->r.graph;
    size_t entries = (size_t)g->n_entries, slots = (size_t)g->n_inputs + (size_t)g->n_outputs + entries;
    l->is_param = mxci_calloc(entries, 1);
    l->is_low = mxci_calloc(entries, 1);
    l->is_lowered = mxci_calloc((size_t)g->n_nodes, 1);
    l->cast = mxci_calloc(entries, sizeof *l->cast);
    l->shapes = mxci_calloc(slots, sizeof *l->shapes);
    l->types = mxci_calloc(slots, sizeof *l->types);
    l->in = mxci_calloc(slots, sizeof *l->in);
    if (l->is_param && l->is_low && l->is_lowered && l->cast && l->shapes && l->types && l->in)
        return MXC_OK;
    return MXCI_NO_MEMORY("rewriting a network", "the new symbol");
}

mxc_status mxci_mixed_precision_rewrite(const mxci_mixed_precision *precision, const mxc_symbol *symbol,
                                        mxc_symbol **out) {
    const mxc_ndarray_list none = {0};
    mxc_ndarray_list params = {0};
    precision_pass l = {.precision = precision};
    *out = NULL;
    mxc_status status = mxci_rebuild_open(&l.r, symbol, &none);
    if (status == MXC_OK)
        status = mixed_precision_allocate(&l);
    if (status == MXC_OK && precision->dtype != MXC_F32)
        choose_precision(&l);
    if (status == MXC_OK)
        status = rebuild_all(&l);
    if (status == MXC_OK)
        status = mxci_rebuild_finish(&l.r, l.in, out, &params);
    mxc_ndarray_list_release(&params);
    mxci_free(l.is_param);
    mxci_free(l.is_low);
    mxci_free(l.is_lowered);
    mxci_free(l.cast);
    mxci_free(l.shapes);
    mxci_free(l.types);
    mxci_free(l.in);
    mxci_rebuild_close(&l.r);
    return status;
}

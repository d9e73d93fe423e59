/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pack pass, for inference: a node whose operator has a counterpart on a packed weight (mxc_op_def.packed) becomes
 * that counterpart, and a node before it packs the weight, once where parameters are constant.
 */
#include "base/error.h"
#include "base/options.h"
#include "base/sys.h"
#include "executor/passes/passes.h"
#include "operator/op.h"
#include "symbol/graph_edit.h"
#include "symbol/graph_query.h"

enum { WEIGHT = 1, ARGS_LIMIT = 9, OUTPUTS_LIMIT = 3 };

/* The signature of a node whose shapes and types are known; all slots have room in shapes and types. */
static mxc_op_sig signature_of(const mxci_graph *g, int32_t node, mxc_shape *shapes, mxc_dtype *types) {
    const mxci_gnode *n = &g->nodes[node];
    const int32_t *inputs = mxci_graph_inputs(g, node);
    for (int32_t i = 0; i < n->n_inputs + n->n_outputs; i++) {
        const int32_t entry = i < n->n_inputs ? inputs[i] : n->first_entry + i - n->n_inputs;
        shapes[i] = g->shapes[entry];
        types[i] = g->types[entry];
    }
    return (mxc_op_sig){.op = n->op,
                        .params = mxc_op_params(n->op),
                        .n_in = n->n_inputs,
                        .n_out = n->n_outputs,
                        .in_shape = shapes,
                        .out_shape = shapes + n->n_inputs,
                        .in_type = types,
                        .out_type = types + n->n_inputs,
                        .context = n->context};
}

/* Appends a node that packs the weight, and one that reads it, which the readers of node read instead. */
static mxc_status replace(mxci_graph *g, int32_t node, mxc_op *pack, mxc_op *packed, const mxc_shape *shape) {
    const int32_t n = g->nodes[node].n_inputs, from = g->nodes[node].first_entry, n_outputs = g->nodes[node].n_outputs;
    int32_t inputs[ARGS_LIMIT], weight, to;
    for (int32_t i = 0; i < n; i++)
        inputs[i] = mxci_graph_inputs(g, node)[i];
    MXC_TRY(mxci_graph_add_op(g, pack, node, "pack", 1, &inputs[WEIGHT], 1, &weight));
    g->shapes[weight] = *shape;
    g->types[weight] = g->types[inputs[WEIGHT]];
    inputs[WEIGHT] = weight;
    MXC_TRY(mxci_graph_add_op(g, packed, node, "packed", n, inputs, n_outputs, &to));
    for (int32_t i = 0; i < n_outputs; i++) {
        g->shapes[to + i] = g->shapes[from + i];
        g->types[to + i] = g->types[from + i];
        mxci_graph_replace_entry(g, from + i, to + i);
    }
    return MXC_OK;
}

/* The shape of what the operator makes of an argument of this shape and dtype. */
static mxc_status infer(mxc_op *pack, mxc_shape *shape, mxc_dtype *type, mxc_shape *out) {
    mxc_op_sig sig = {.op = pack,
                      .params = mxc_op_params(pack),
                      .n_in = 1,
                      .n_out = 1,
                      .in_shape = shape,
                      .out_shape = out,
                      .in_type = type,
                      .out_type = type};
    out->ndim = -1;
    return mxc_op_infer_shape(&sig);
}

static mxc_status pack_node(mxci_graph *g, int32_t node, int *is_changed) {
    const mxci_gnode *n = &g->nodes[node];
    mxc_shape shapes[ARGS_LIMIT + OUTPUTS_LIMIT];
    mxc_dtype types[ARGS_LIMIT + OUTPUTS_LIMIT];
    mxc_op *pack, *packed;
    mxc_shape shape;
    if (n->kind != MXCI_FORWARD || n->context.device != MXC_CPU || n->n_inputs <= WEIGHT || n->n_inputs > ARGS_LIMIT ||
        n->n_outputs > OUTPUTS_LIMIT || !mxc_op_get_def(n->op)->packed)
        return MXC_OK;
    const mxc_op_sig sig = signature_of(g, node, shapes, types);
    MXC_TRY(mxc_op_get_def(n->op)->packed(&sig, &pack, &packed));
    if (!packed)
        return MXC_OK;
    mxc_status status = infer(pack, &shapes[WEIGHT], &types[WEIGHT], &shape);
    if (status == MXC_OK)
        status = replace(g, node, pack, packed, &shape);
    mxc_op_release(pack);
    mxc_op_release(packed);
    *is_changed = 1;
    return status;
}

mxc_status mxci_pass_pack(mxci_graph *g, int *is_changed) {
    const int32_t n = g->n_nodes;
    if (!mxci_option_get(MXCI_OPT_MXC_CPU_PACK))
        return MXC_OK;
    for (int32_t i = 0; i < n; i++)
        MXC_TRY(pack_node(g, i, is_changed));
    return MXC_OK;
}

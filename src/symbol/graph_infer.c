/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inference of shapes and types over a flat graph, to a fixed point.
 *
 * Nodes wait in a work list. It is swept up (inputs to outputs), then down, and so on until it is empty; a node is
 * added when one of its entries becomes better known. An entry can do so at most MXC_MAX_NDIM + 2 times, since what is
 * known never changes and mxc_op_infer_shape refuses sizes below -1. So the sweeps end, no node runs often, and in nets
 * there is little more than one sweep each way. Shapes flow backwards too: a weight's shape follows from its operator's
 * data and parameters, a variable's from how it is used.
 */
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/sys.h"
#include "operator/infer.h"
#include "symbol/graph.h"
#include "symbol/worklist.h"

typedef struct inference {
    mxci_graph *g;
    mxci_worklist work;
    int64_t *first_user; /* users of entry e: users[first_user[e]] up to users[first_user[e + 1]] */
    int32_t *users;
    mxc_shape *shapes; /* of the slots of one node: inputs, outputs */
    mxc_dtype *types;
} inference;

/* ---- users of entries -------------------------------------------------------------------------------------- */

/* Count (users NULL) or enter a node as a user of an entry. next[e] is where its next user goes. */
static void add_user(int64_t *next, int32_t *users, int32_t entry, int32_t node) {
    if (users)
        users[next[entry]] = node;
    next[entry]++;
}

/* A node uses its inputs; a backward node also uses all slots of its forward node, whose shapes it takes over. The node
 * that makes an entry is in entry_node. */
static void add_uses(const mxci_graph *g, int32_t at, int64_t *next, int32_t *users) {
    const mxci_gnode *node = &g->nodes[at], *forward = node->forward >= 0 ? &g->nodes[node->forward] : NULL;
    for (int32_t i = 0; i < node->n_inputs; i++)
        add_user(next, users, g->inputs[node->first_input + i], at);
    for (int32_t i = 0; forward && i < forward->n_inputs; i++)
        add_user(next, users, g->inputs[forward->first_input + i], at);
    for (int32_t i = 0; forward && i < forward->n_outputs; i++)
        add_user(next, users, forward->first_entry + i, at);
}

/* Lists the users of every entry in compressed rows: counts, running sums, then the users themselves. */
static mxc_status find_users(inference *in) {
    const mxci_graph *g = in->g;
    int64_t total = 0;
    /* One place more, so that counts can be shifted by one: first_user[e + 1] counts the users of e, then becomes where
     * those of e go next, and ends as where they end. */
    int64_t *first = in->first_user = mxci_calloc((size_t)g->n_entries + 2, sizeof *first);
    if (!first)
        return MXCI_NO_MEMORY("graph", "inference: users of entries");
    for (int32_t i = 0; i < g->n_nodes; i++)
        add_uses(g, i, first + 1, NULL);
    for (int32_t i = 0; i < g->n_entries; i++) {
        int64_t count = first[i + 1];
        first[i + 1] = total;
        total += count;
    }
    in->users = mxci_alloc((size_t)total * sizeof *in->users);
    if (!in->users)
        return MXCI_NO_MEMORY("graph", "inference: users of entries");
    for (int32_t i = 0; i < g->n_nodes; i++)
        add_uses(g, i, first + 1, in->users);
    return MXC_OK;
}

/* ---- one node ---------------------------------------------------------------------------------------------- */

/* Merges what one node infers of an entry into the graph, and puts the nodes that the change concerns on the work list.
 * An operator that contradicts what is known fails here. */
static mxc_status learn(inference *in, const mxci_gnode *node, int32_t entry, const mxc_shape *shape, mxc_dtype type) {
    mxci_graph *g = in->g;
    const int32_t maker = g->entry_node[entry];
    const char *op = mxc_op_get_def(node->op)->name, *tensor = g->nodes[maker].name;
    mxc_shape merged = g->shapes[entry];
    mxc_dtype known = g->types[entry];
    char text[MXC_SHAPE_TEXT], other[MXC_SHAPE_TEXT];
    int is_new_type = known == MXC_DTYPE_UNKNOWN && type != MXC_DTYPE_UNKNOWN;
    if (!mxci_shape_merge(&merged, shape)) {
        mxc_shape_format(&g->shapes[entry], text, sizeof text);
        return MXC_FAIL(MXC_ESHAPE, "node \"%.100s\": %s: shape %s of \"%.100s\" does not agree with %s", node->name,
                        op, text, tensor, mxc_shape_format(shape, other, sizeof other));
    }
    if (!mxci_shape_fits(&merged)) /* parts from several nodes, none of which is too large by itself */
        return MXC_FAIL(MXC_ESHAPE, "node \"%.100s\": shape %s of \"%.100s\" is larger than memory can be", node->name,
                        mxc_shape_format(&merged, text, sizeof text), tensor);
    if (known != MXC_DTYPE_UNKNOWN && type != MXC_DTYPE_UNKNOWN && type != known)
        return MXC_FAIL(MXC_EDTYPE, "node \"%.100s\": %s: dtype %s of \"%.100s\" does not agree with %s", node->name,
                        op, mxc_dtype_name(known), tensor, mxc_dtype_name(type));
    if (mxc_shape_equal(&merged, &g->shapes[entry]) && !is_new_type)
        return MXC_OK;
    g->shapes[entry] = merged;
    if (is_new_type)
        g->types[entry] = type;
    if (g->nodes[maker].kind != MXCI_VARIABLE)
        mxci_worklist_add(&in->work, maker);
    for (int64_t i = in->first_user[entry]; i < in->first_user[entry + 1]; i++)
        mxci_worklist_add(&in->work, in->users[i]);
    return MXC_OK;
}

/* Entry of slot i of a node: inputs, then outputs. */
static int32_t slot_entry(const mxci_graph *g, const mxci_gnode *node, int32_t i) {
    return i < node->n_inputs ? g->inputs[node->first_input + i] : node->first_entry + (i - node->n_inputs);
}

/* Lets the operator infer on copies of the shapes and types of the node's slots, then merges what it found. */
static mxc_status infer_forward(inference *in, const mxci_gnode *node) {
    const mxci_graph *g = in->g;
    int n = node->n_inputs + node->n_outputs, n_args = mxci_graph_n_args(node);
    mxc_op_sig sig = {
        .op = node->op,
        .params = mxc_op_params(node->op),
        .n_in = n_args,
        .n_out = node->n_outputs,
        .n_aux = node->n_aux,
        .in_shape = in->shapes,
        .aux_shape = in->shapes + n_args,
        .out_shape = in->shapes + node->n_inputs,
        .in_type = in->types,
        .aux_type = in->types + n_args,
        .out_type = in->types + node->n_inputs,
        .context = node->context,
        .parallelism = 1,
    };
    mxc_status status;
    for (int32_t i = 0; i < n; i++) {
        in->shapes[i] = g->shapes[slot_entry(g, node, i)];
        in->types[i] = g->types[slot_entry(g, node, i)];
    }
    status = mxc_op_infer_shape(&sig);
    if (status == MXC_OK)
        status = mxc_op_infer_type(&sig);
    if (status != MXC_OK)
        return MXC_FAIL(status, "node \"%.100s\": %s", node->name, mxc_last_error());
    for (int32_t i = 0; i < n; i++)
        MXC_TRY(learn(in, node, slot_entry(g, node, i), &in->shapes[i], in->types[i]));
    return MXC_OK;
}

/* Makes two entries agree in shape and type. */
static mxc_status equate(inference *in, const mxci_gnode *node, int32_t a, int32_t b) {
    mxci_graph *g = in->g;
    MXC_TRY(learn(in, node, a, &g->shapes[b], g->types[b]));
    return learn(in, node, b, &g->shapes[a], g->types[a]);
}

/* Equates the inputs of a backward node from *next on with the slots of its forward node that are in mask. Slot i is
 * entry first + i, or, where are_inputs is set, the entry g->inputs[first + i]. */
static mxc_status equate_needed(inference *in, const mxci_gnode *node, uint64_t mask, int32_t n, int32_t first,
                                int are_inputs, int32_t *next) {
    const mxci_graph *g = in->g;
    for (int32_t i = 0; i < n; i++)
        if (mxc_need_has(mask, i) && *next < node->n_inputs)
            MXC_TRY(equate(in, node, g->inputs[node->first_input + (*next)++],
                           are_inputs ? g->inputs[first + i] : first + i));
    return MXC_OK;
}

/* A backward node's inputs have the shapes of the forward slots that they are, in_grads those of the arguments. */
static mxc_status infer_backward(inference *in, const mxci_gnode *node) {
    const mxci_gnode *forward = &in->g->nodes[node->forward];
    mxc_op_needs needs;
    int32_t next = 0, n_args = forward->n_inputs - forward->n_aux;
    mxc_op_get_needs(node->op, &needs);
    MXC_TRY(equate_needed(in, node, needs.out_grad, forward->n_outputs, forward->first_entry, 0, &next));
    MXC_TRY(equate_needed(in, node, needs.in, n_args, forward->first_input, 1, &next));
    MXC_TRY(equate_needed(in, node, needs.out, forward->n_outputs, forward->first_entry, 0, &next));
    for (int32_t i = 0; i < node->n_outputs; i++)
        MXC_TRY(equate(in, node, node->first_entry + i, in->g->inputs[forward->first_input + i]));
    return MXC_OK;
}

/* ---- all nodes --------------------------------------------------------------------------------------------- */

/* All operators go on the work list at first; slots are scratch for the node with the most. */
static mxc_status graph_infer_prepare(inference *in) {
    const mxci_graph *g = in->g;
    int32_t most = 0;
    MXC_TRY(mxci_worklist_init(&in->work, g->n_nodes));
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int32_t slots = g->nodes[i].n_inputs + g->nodes[i].n_outputs;
        most = slots > most ? slots : most;
        if (g->nodes[i].kind != MXCI_VARIABLE)
            mxci_worklist_add(&in->work, i);
    }
    in->shapes = mxci_alloc((size_t)most * sizeof *in->shapes);
    in->types = mxci_alloc((size_t)most * sizeof *in->types);
    return in->shapes && in->types ? find_users(in) : MXCI_NO_MEMORY("graph", "inference: slots of a node");
}

/* Takes nodes from the work list until it is empty, in ascending and descending order by turns. */
static mxc_status sweep(inference *in) {
    const mxci_graph *g = in->g;
    int32_t at = 0, up = 1;
    for (;;) {
        int32_t next = up ? mxci_worklist_up(&in->work, at) : mxci_worklist_down(&in->work, at);
        if (next < 0) { /* change direction; done if there is nothing on that side either */
            up = !up;
            at = up ? 0 : g->n_nodes;
            next = up ? mxci_worklist_up(&in->work, at) : mxci_worklist_down(&in->work, at);
            if (next < 0)
                return MXC_OK;
        }
        at = next;
        mxci_worklist_remove(&in->work, at);
        MXC_TRY(g->nodes[at].kind == MXCI_FORWARD ? infer_forward(in, &g->nodes[at])
                                                  : infer_backward(in, &g->nodes[at]));
    }
}

mxc_status mxci_graph_infer(mxci_graph *graph) {
    inference in = {.g = graph};
    mxc_status status = graph_infer_prepare(&in);
    if (status == MXC_OK)
        status = sweep(&in);
    mxci_worklist_free(&in.work);
    mxci_free(in.first_user);
    mxci_free(in.users);
    mxci_free(in.shapes);
    mxci_free(in.types);
    return status;
}

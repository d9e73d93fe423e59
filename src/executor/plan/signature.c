/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes, dtypes and scratch of a step: see signature.h. */
#include "executor/plan/signature.h"

#include "base/error.h"
#include "base/sys.h"
#include "symbol/graph_query.h"

mxc_status mxci_signature_room_make(const mxci_graph *g, mxci_signature_room *out) {
    int32_t most = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int32_t n = g->nodes[i].n_inputs + g->nodes[i].n_outputs;
        most = n > most ? n : most;
    }
    out->shapes = mxci_calloc((size_t)most + 1, sizeof *out->shapes);
    out->types = mxci_calloc((size_t)most + 1, sizeof *out->types);
    if (out->shapes && out->types)
        return MXC_OK;
    mxci_signature_room_free(out);
    return MXCI_NO_MEMORY("executor", "shapes of an operator");
}

void mxci_signature_room_free(mxci_signature_room *room) {
    mxci_free(room->shapes);
    mxci_free(room->types);
    room->shapes = NULL;
    room->types = NULL;
}

static void set_sliced(mxc_shape *shape, int64_t slice) {
    if (shape->ndim > 0)
        shape->dim[0] = slice;
}

void mxci_signature(const mxci_program *p, int32_t node, int parallelism, int is_train, const mxci_signature_room *room,
                    mxc_op_sig *out) {
    const mxci_graph *g = p->graph;
    int32_t forward = g->nodes[node].kind == MXCI_BACKWARD ? g->nodes[node].forward : node;
    int32_t tile = p->step_of[forward] >= 0 ? mxci_program_tile_of(p, p->step_of[forward]) : -1;
    const mxci_gnode *n = &g->nodes[forward];
    int n_in = mxci_graph_n_args(n);
    for (int32_t i = 0; i < n->n_inputs + n->n_outputs; i++) { /* in, aux, out */
        int32_t entry = i < n->n_inputs ? mxci_graph_inputs(g, forward)[i] : n->first_entry + i - n->n_inputs;
        room->shapes[i] = g->shapes[entry];
        room->types[i] = g->types[entry];
    }
    *out = (mxc_op_sig){
        .op = n->op,
        .params = mxc_op_params(n->op),
        .n_in = n_in,
        .n_out = n->n_outputs,
        .n_aux = n->n_aux,
        .context = g->nodes[node].context,
        .is_train = is_train,
        .parallelism = parallelism,
    };
    out->in_shape = room->shapes;
    out->aux_shape = out->in_shape + n_in;
    out->out_shape = out->aux_shape + n->n_aux;
    out->in_type = room->types;
    out->aux_type = out->in_type + n_in;
    out->out_type = out->aux_type + n->n_aux;
    if (tile < 0)
        return;
    /* In a tile, the first input and the outputs that are computed are slices. */
    set_sliced(&out->in_shape[0], p->tiles[tile].slice);
    for (int32_t i = 0; i < out->n_out; i++)
        if (p->req[n->first_entry + i] != MXC_REQ_NULL)
            set_sliced(&out->out_shape[i], p->tiles[tile].slice);
}

int mxci_signature_has_work(const mxci_program *p, int32_t node, const mxc_op_sig *sig) {
    const mxci_gnode *n = &p->graph->nodes[node];
    return mxci_has_work(sig, n->kind == MXCI_BACKWARD ? MXC_BACKWARD : MXC_FORWARD, p->req + n->first_entry);
}

mxc_status mxci_signature_temp(const mxci_program *p, int32_t node, int parallelism, const mxci_signature_room *room,
                               size_t *out) {
    mxci_op_impl impl = mxci_graph_op_impl(p->graph, node);
    mxc_pass pass = p->graph->nodes[node].kind == MXCI_BACKWARD ? MXC_BACKWARD : MXC_FORWARD;
    *out = 0;
    for (int is_train = 0; is_train < 2 && impl.temp_bytes; is_train++) {
        mxc_op_sig sig;
        mxc_status status;
        size_t bytes;
        mxci_signature(p, node, parallelism, is_train, room, &sig);
        if (!mxci_signature_has_work(p, node, &sig))
            continue;
        status = mxci_op_impl_temp(&impl, &sig, pass, &bytes);
        if (status != MXC_OK)
            return MXC_FAIL(status, "node \"%.100s\": %s", p->graph->nodes[node].name, mxc_last_error());
        *out = bytes > *out ? bytes : *out;
    }
    return MXC_OK;
}

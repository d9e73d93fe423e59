/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preparing the steps of a program: see bound_program.h. The arrays of a step (tensors, entries, strides, reqs) are
 * parts of arrays for all steps, so that a program needs few allocations.
 */
#include "executor/run/bound_program.h"

#include "base/error.h"
#include "base/sys.h"
#include "executor/plan/signature.h"
#include "executor/run/addresses.h"
#include "executor/run/constants.h"
#include "executor/run/graph_capture.h"
#include "executor/run/segments.h"
#include "symbol/graph_query.h"

/* ---- steps ----------------------------------------------------------------------------------------------------- */

/* The entries of a forward step's slots: in, out, aux; -1 for outputs that are not computed. */
static void forward_slots(const mxci_program *p, int32_t node, int32_t *entries) {
    const mxci_gnode *n = &p->graph->nodes[node];
    int32_t k = 0, n_in = mxci_graph_n_args(n);
    for (int32_t i = 0; i < n_in; i++)
        entries[k++] = mxci_graph_inputs(p->graph, node)[i];
    for (int32_t i = 0; i < n->n_outputs; i++)
        entries[k++] = p->req[n->first_entry + i] != MXC_REQ_NULL ? n->first_entry + i : -1;
    for (int32_t i = n_in; i < n->n_inputs; i++)
        entries[k++] = mxci_graph_inputs(p->graph, node)[i];
}

/* The entry that a backward node reads for a slot; -1 if its operator does not read it. */
static int32_t backward_slot(const mxci_graph *g, int32_t node, mxci_read_group group, int32_t slot) {
    int32_t at = mxci_graph_backward_input(g, node, group, slot);
    return at >= 0 ? mxci_graph_inputs(g, node)[at] : -1;
}

/* The entries of a backward step's slots: in, out, aux, out_grad, in_grad. */
static void backward_slots(const mxci_program *p, int32_t node, int32_t *entries) {
    const mxci_graph *g = p->graph;
    const mxci_gnode *n = &g->nodes[node], *forward = &g->nodes[n->forward];
    int32_t k = 0;
    for (int32_t i = 0; i < n->n_outputs; i++)
        entries[k++] = backward_slot(g, node, MXCI_READS_IN, i);
    for (int32_t i = 0; i < forward->n_outputs; i++)
        entries[k++] = backward_slot(g, node, MXCI_READS_OUT, i);
    for (int32_t i = mxci_graph_n_args(n); i < n->n_inputs; i++)
        entries[k++] = mxci_graph_inputs(g, node)[i];
    for (int32_t i = 0; i < forward->n_outputs; i++)
        entries[k++] = backward_slot(g, node, MXCI_READS_OUT_GRAD, i);
    for (int32_t i = 0; i < n->n_outputs; i++)
        entries[k++] = p->req[n->first_entry + i] != MXC_REQ_NULL ? n->first_entry + i : -1;
}

static int32_t slots_of(const mxci_graph *g, int32_t node) {
    const mxci_gnode *n = &g->nodes[node];
    if (n->kind == MXCI_FORWARD)
        return n->n_inputs + n->n_outputs;
    return 2 * n->n_outputs + 2 * g->nodes[n->forward].n_outputs + n->n_aux;
}

static mxc_tensor *fill(mxc_tensor *at, int n, const mxc_shape *shapes, const mxc_dtype *types, mxc_context context) {
    for (int i = 0; i < n; i++)
        *at++ = (mxc_tensor){NULL, types[i], context, shapes[i]};
    return at;
}

/* Tensors without addresses, in the order of slots. */
static void fill_tensors(mxci_step *s, const mxc_op_sig *sig, int is_backward) {
    mxc_tensor *at = s->tensors;
    at = fill(at, sig->n_in, sig->in_shape, sig->in_type, sig->context);
    at = fill(at, sig->n_out, sig->out_shape, sig->out_type, sig->context);
    at = fill(at, sig->n_aux, sig->aux_shape, sig->aux_type, sig->context);
    if (is_backward) {
        at = fill(at, sig->n_out, sig->out_shape, sig->out_type, sig->context);
        fill(at, sig->n_in, sig->in_shape, sig->in_type, sig->context);
    }
}

/* In a tile, the addresses of whole arrays advance from slice to slice: those of the first input and the outputs. */
static void fill_strides(const mxci_program *p, int32_t step, mxci_step *s) {
    int32_t at = mxci_program_tile_of(p, step);
    for (int32_t slot = 0; slot < s->n_slots && at >= 0; slot++) {
        const mxci_step_tile *tile = &p->tiles[at];
        int is_row_wise = slot == 0 || (slot >= s->call.n_in && slot < s->call.n_in + s->call.n_out);
        if (is_row_wise && s->entries[slot] >= 0 && !p->slice[p->root[s->entries[slot]]])
            s->strides[slot] = mxci_graph_entry_bytes(p->graph, s->entries[slot]) / tile->rows * tile->slice;
    }
}

/* What steps are made from. */
typedef struct maker {
    const mxc_executor *executor;
    mxci_bound_program *bound;
    int parallelism;
    mxci_signature_room room;
    int32_t n_slots, n_reqs; /* used so far */
} maker;

/* The state object belongs to the forward node: its backward and its forward share it. */
static mxc_status make_state(maker *m, int32_t node) {
    const mxci_program *p = m->bound->program;
    const mxci_graph *g = p->graph;
    int32_t forward = g->nodes[node].kind == MXCI_BACKWARD ? g->nodes[node].forward : node;
    mxci_op_impl impl = mxci_graph_op_impl(g, forward);
    mxc_op_sig sig;
    if (!impl.state_create || m->bound->states[forward])
        return MXC_OK;
    mxci_signature(p, forward, m->parallelism, p->n_forward < p->n_steps, &m->room, &sig);
    return impl.state_create(&sig, &m->bound->states[forward]);
}

/* Reserves the step's range among the random numbers that its pool draws in a run, for training and for inference. */
static void count_random(maker *m, int32_t node, mxci_step *s) {
    mxci_bound_program *b = m->bound;
    const mxc_op_def *def = mxci_graph_op_def(b->program->graph, node);
    int32_t pool = mxci_program_pool_of(b->program, b->program->graph->nodes[node].context);
    for (int is_train = 0; is_train < 2 && def->random_count; is_train++) {
        mxc_op_sig sig;
        mxci_signature(b->program, node, m->parallelism, is_train, &m->room, &sig);
        s->random_at[is_train] = b->random_count[is_train][pool];
        b->random_count[is_train][pool] += def->random_count(&sig);
    }
}

/* Prepares what stays the same in all runs, and grows the scratch of the pool to what the step needs. */
static mxc_status make_call(maker *m, int32_t node, mxci_step *s, const mxc_op_sig *sig, mxc_req *req) {
    const mxci_program *p = m->bound->program;
    const mxci_gnode *n = &p->graph->nodes[node];
    int32_t forward = n->kind == MXCI_BACKWARD ? n->forward : node, pool;
    mxc_op_call *c = &s->call;
    for (int32_t i = 0; i < n->n_outputs; i++)
        req[i] = p->req[n->first_entry + i];
    *c = (mxc_op_call){
        .op = sig->op,
        .params = sig->params,
        .state = m->bound->states[forward],
        .n_in = sig->n_in,
        .n_out = sig->n_out,
        .n_aux = sig->n_aux,
        .req = req,
    };
    c->in = s->tensors;
    c->out = c->in + c->n_in;
    c->aux = c->out + c->n_out;
    if (n->kind == MXCI_BACKWARD) {
        c->out_grad = c->aux + c->n_aux;
        c->in_grad = c->out_grad + c->n_out;
    }
    MXC_TRY(mxci_signature_temp(p, node, m->parallelism, &m->room, &c->temp_bytes));
    pool = mxci_program_pool_of(p, n->context);
    if (c->temp_bytes > m->bound->temp_bytes[pool])
        m->bound->temp_bytes[pool] = c->temp_bytes;
    return MXC_OK;
}

/* Prepares a step. Its tensors keep their shapes; addresses are filled in later (addresses.c). */
static mxc_status make_step(maker *m, int32_t step) {
    mxci_bound_program *b = m->bound;
    const mxci_program *p = b->program;
    int32_t node = p->order[step];
    int is_backward = p->graph->nodes[node].kind == MXCI_BACKWARD;
    mxci_step *s = &b->steps[step];
    const mxci_op_impl impl = mxci_graph_op_impl(p->graph, node);
    mxc_op_sig sig;
    char text[32];
    s->fn = is_backward ? impl.backward : impl.forward;
    if (!s->fn)
        return MXC_FAIL(MXC_EDEVICE, "bind: operator %s (node %s) is not implemented on %s%s", impl.name,
                        p->graph->nodes[node].name,
                        mxc_context_format(p->graph->nodes[node].context, text, sizeof text),
                        mxci_op_impl_hint(mxci_graph_op_def(p->graph, node)));
    MXC_TRY(make_state(m, node));
    s->n_slots = slots_of(p->graph, node);
    s->tensors = b->tensors + m->n_slots;
    s->entries = b->entries + m->n_slots;
    s->strides = b->strides + m->n_slots;
    m->n_slots += s->n_slots;
    count_random(m, node, s);
    mxci_signature(p, node, m->parallelism, is_backward, &m->room, &sig);
    if (!mxci_signature_has_work(p, node, &sig))
        s->fn = mxci_compute_nothing;
    fill_tensors(s, &sig, is_backward);
    MXC_TRY(make_call(m, node, s, &sig, b->reqs + m->n_reqs));
    m->n_reqs += p->graph->nodes[node].n_outputs;
    if (is_backward)
        backward_slots(p, node, s->entries);
    else
        forward_slots(p, node, s->entries);
    for (int32_t slot = 0; slot < s->n_slots; slot++) {
        const int32_t entry = s->entries[slot];
        if (entry < 0)
            continue;
        if (p->location[p->root[entry]].kind == MXCI_LOCATION_ARG)
            MXC_TRY(mxci_constants_check_arg(m->executor, p->location[p->root[entry]].index));
        /* the input of a copy is on another context than the node */
        s->tensors[slot].context = p->graph->nodes[p->graph->entry_node[entry]].context;
    }
    fill_strides(p, step, s);
    return MXC_OK;
}

static mxc_status make_steps(mxc_executor *e, mxci_bound_program *b) {
    maker m = {.executor = e, .bound = b, .parallelism = mxc_engine_parallelism(e->engine)};
    mxc_status status = mxci_signature_room_make(b->program->graph, &m.room);
    for (int32_t i = 0; i < b->program->n_steps && status == MXC_OK; i++)
        status = make_step(&m, i);
    mxci_signature_room_free(&m.room);
    return status;
}

/* ---- bound programs -------------------------------------------------------------------------------------------- */

/* Arrays for all steps together; a step gets its part in make_step. */
static mxc_status bound_program_allocate(mxci_bound_program *b) {
    const mxci_program *p = b->program;
    size_t n_slots = 1, n_reqs = 1, n_pools = (size_t)p->n_pools + 1;
    for (int32_t i = 0; i < p->n_steps; i++) {
        n_slots += (size_t)slots_of(p->graph, p->order[i]);
        n_reqs += (size_t)p->graph->nodes[p->order[i]].n_outputs;
    }
    b->steps = mxci_calloc((size_t)p->n_steps + 1, sizeof *b->steps);
    b->tensors = mxci_calloc(n_slots, sizeof *b->tensors);
    b->entries = mxci_calloc(n_slots, sizeof *b->entries);
    b->strides = mxci_calloc(n_slots, sizeof *b->strides);
    b->reqs = mxci_calloc(n_reqs, sizeof *b->reqs);
    b->states = mxci_calloc((size_t)p->graph->n_nodes + 1, sizeof *b->states);
    b->arenas = mxci_calloc(n_pools, sizeof *b->arenas);
    b->bases = mxci_calloc(n_pools, sizeof *b->bases);
    b->temp_bytes = mxci_calloc(n_pools, sizeof *b->temp_bytes);
    b->random_count[0] = mxci_calloc(n_pools, sizeof **b->random_count);
    b->random_count[1] = mxci_calloc(n_pools, sizeof **b->random_count);
    b->random = mxci_calloc(n_pools, sizeof *b->random);
    b->token = mxci_calloc(n_pools, sizeof *b->token);
    if (!b->steps || !b->tensors || !b->entries || !b->strides || !b->reqs || !b->states || !b->arenas || !b->bases ||
        !b->temp_bytes || !b->random_count[0] || !b->random_count[1] || !b->random || !b->token)
        return MXCI_NO_MEMORY("executor", "the steps of a program");
    return MXC_OK;
}

mxc_status mxci_bound_program_create(mxc_executor *e, mxci_program *program, mxci_bound_program **out) {
    mxci_bound_program *b = mxci_calloc(1, sizeof *b);
    mxc_status status;
    *out = NULL;
    if (!b) {
        mxci_program_destroy(program);
        return MXCI_NO_MEMORY("executor", "the steps of a program");
    }
    b->program = program;
    status = bound_program_allocate(b);
    if (status == MXC_OK)
        status = mxci_constants_compute(e, program, &b->constants);
    if (status == MXC_OK)
        status = make_steps(e, b);
    if (status == MXC_OK)
        status = mxci_addresses_take_arenas(e, b);
    if (status == MXC_OK) {
        mxci_addresses_fill(e, b);
        status = mxci_segments_create(e, b, e->options.bulk_nodes, &b->bulk);
    }
    if (status == MXC_OK)
        *out = b;
    else
        mxci_bound_program_destroy(b);
    return status;
}

void mxci_bound_program_destroy(mxci_bound_program *b) {
    if (!b)
        return;
    mxci_graph_capture_discard(b, &b->bulk);
    mxci_segments_destroy(&b->bulk);
    mxci_segments_destroy(&b->single);
    for (int32_t i = 0; i < b->program->graph->n_nodes && b->states; i++)
        if (b->states[i])
            mxci_graph_op_impl(b->program->graph, i).state_destroy(b->states[i]);
    for (int32_t i = 0; i < b->program->n_pools && b->arenas; i++)
        mxci_arena_release(b->arenas[i]);
    mxci_constants_release(&b->constants);
    mxci_free(b->steps);
    mxci_free(b->tensors);
    mxci_free(b->entries);
    mxci_free(b->strides);
    mxci_free(b->reqs);
    mxci_free(b->states);
    mxci_free(b->arenas);
    mxci_free(b->bases);
    mxci_free(b->temp_bytes);
    mxci_free(b->random_count[0]);
    mxci_free(b->random_count[1]);
    mxci_free(b->random);
    mxci_free(b->token);
    mxci_program_destroy(b->program);
    mxci_free(b);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Running the steps of a segment on a thread of the engine: see execute.h. Nothing here allocates. */
#include "executor/run/execute.h"

#include "base/trace.h"
#include "executor/run/monitor.h"
#include "operator/trace_call.h"

uint64_t mxci_execute_token(uint64_t offset, int is_train) {
    return offset << 1 | (is_train != 0);
}

mxc_random mxci_execute_random(const mxci_segment *s, uint64_t token) {
    mxc_random random = s->executor->bound->random[s->pool];
    random.offset = token >> 1;
    return random;
}

/* Completes the call with what differs from run to run, and calls the operator. */
static mxc_status run_step(mxci_segment *s, mxci_step *t, int32_t node, uint64_t token, const mxc_run *run) {
    const mxci_bound_program *b = s->executor->bound;
    int64_t begin = mxci_trace_begin();
    int is_train = (int)(token & 1);
    mxc_status status;
    t->call.run = run;
    t->call.is_train = is_train;
    t->call.random = mxci_execute_random(s, token);
    t->call.random.offset += t->random_at[is_train];
    if (s->is_single && s->executor->monitor)
        MXC_TRY(mxci_monitor_inputs(s->executor, t, node));
    status = t->fn(&t->call);
    mxci_trace_call(begin, b->program->graph->nodes[node].name, mxc_op_get_def(t->call.op)->name, &t->call,
                    t->call.in_grad ? MXC_BACKWARD : MXC_FORWARD);
    if (status == MXC_OK && s->is_single && s->executor->monitor)
        status = mxci_monitor_step(s->executor, t, node);
    return status;
}

/* Advances the addresses of whole arrays in a tile. */
static void move_slices(mxci_step *t, int64_t slices) {
    for (int32_t i = 0; i < t->n_slots; i++)
        if (t->strides[i])
            t->tensors[i].data = (char *)t->tensors[i].data + slices * t->strides[i];
}

/* Runs all steps of a tile for one slice after the other; addresses are restored in the end, also after a failure. */
static mxc_status run_tile(mxci_segment *s, const mxci_step_tile *tile, const mxc_run *run) {
    mxci_bound_program *b = s->executor->bound;
    mxc_status status = MXC_OK;
    int64_t n = 0;
    for (int64_t slice = 0; slice < tile->rows / tile->slice && status == MXC_OK; slice++, n++) {
        for (int32_t i = tile->first; i < tile->end && status == MXC_OK; i++)
            status = run_step(s, &b->steps[i], b->program->order[i], run->token, run);
        for (int32_t i = tile->first; i < tile->end; i++)
            move_slices(&b->steps[i], 1);
    }
    for (int32_t i = tile->first; i < tile->end; i++)
        move_slices(&b->steps[i], -n);
    return status;
}

mxc_status mxci_execute_steps(mxci_segment *s, const mxc_run *run) {
    mxci_bound_program *b = s->executor->bound;
    int32_t tile = 0;
    for (int32_t i = s->first; i < s->end; i++) {
        while (tile < b->program->n_tiles && b->program->tiles[tile].first < i)
            tile++;
        if (tile < b->program->n_tiles && b->program->tiles[tile].first == i) {
            MXC_TRY(run_tile(s, &b->program->tiles[tile], run));
            i = b->program->tiles[tile].end - 1;
        } else {
            MXC_TRY(run_step(s, &b->steps[i], b->program->order[i], run->token, run));
        }
    }
    return MXC_OK;
}

/* On a thread where the operator's function may block. */
static mxc_status run_callback(void *arg) {
    mxci_segment *s = arg;
    mxci_bound_program *b = s->executor->bound;
    return run_step(s, &b->steps[s->first], b->program->order[s->first], s->token, NULL);
}

void mxci_execute_callback(const mxc_run *run, void *arg, mxc_done *done) {
    mxci_segment *s = arg;
    const mxci_step *t = &s->executor->bound->steps[s->first];
    s->token = run->token;
    s->callback = (mxci_callback){.fn = run_callback, .arg = s, .name = mxc_op_get_def(t->call.op)->name, .done = done};
    mxci_callback_push(&s->callback);
}

/* Running: forward, backward and partial forward push segments; the engine's threads run their steps. */
#include "base/error.h"
#include "base/trace.h"
#include "executor/bound.h"
#include "operator/trace_call.h"

/* ---- on the engine's threads ----------------------------------------------------------------------------------- */

/* A push tells its run by the token: whether it is training, and how far the pool's random stream was. */
static uint64_t make_token(uint64_t offset, int is_train) {
    return offset << 1 | (is_train != 0);
}

mxc_random mxci_run_random(const mxci_segment *s, uint64_t token) {
    mxc_random random = s->executor->layout->random[s->pool];
    random.offset = token >> 1;
    return random;
}

static mxc_status run_step(mxci_segment *s, mxci_step *t, int32_t node, uint64_t token, const mxc_run *run) {
    const mxci_layout *l = s->executor->layout;
    int64_t begin = mxci_trace_begin();
    int is_train = (int)(token & 1);
    mxc_status status;
    t->call.run = run;
    t->call.is_train = is_train;
    t->call.random = mxci_run_random(s, token);
    t->call.random.offset += t->random_at[is_train];
    status = t->fn(&t->call);
    mxci_trace_call(begin, l->program->graph->nodes[node].name, mxc_op_get_def(t->call.op)->name, &t->call,
                    t->call.in_grad ? MXC_BACKWARD : MXC_FORWARD);
    if (status == MXC_OK && s->is_single && s->executor->monitor)
        status = mxci_monitor_step(s->executor, t, node);
    return status;
}

static void move_slices(mxci_step *t, int64_t slices) {
    for (int32_t i = 0; i < t->n_slots; i++)
        if (t->strides[i])
            t->tensors[i].data = (char *)t->tensors[i].data + slices * t->strides[i];
}

static mxc_status run_tile(mxci_segment *s, const mxci_tile *tile, const mxc_run *run) {
    mxci_layout *l = s->executor->layout;
    mxc_status status = MXC_OK;
    int64_t n = 0;
    for (int64_t slice = 0; slice < tile->rows / tile->slice && status == MXC_OK; slice++, n++) {
        for (int32_t i = tile->first; i < tile->end && status == MXC_OK; i++)
            status = run_step(s, &l->steps[i], l->program->order[i], run->token, run);
        for (int32_t i = tile->first; i < tile->end; i++)
            move_slices(&l->steps[i], 1);
    }
    for (int32_t i = tile->first; i < tile->end; i++)
        move_slices(&l->steps[i], -n);
    return status;
}

mxc_status mxci_run_steps(mxci_segment *s, const mxc_run *run) {
    mxci_layout *l = s->executor->layout;
    int32_t tile = 0;
    for (int32_t i = s->first; i < s->end; i++) {
        while (tile < l->program->n_tiles && l->program->tiles[tile].first < i)
            tile++;
        if (tile < l->program->n_tiles && l->program->tiles[tile].first == i) {
            MXC_TRY(run_tile(s, &l->program->tiles[tile], run));
            i = l->program->tiles[tile].end - 1;
        } else {
            MXC_TRY(run_step(s, &l->steps[i], l->program->order[i], run->token, run));
        }
    }
    return MXC_OK;
}

/* On a thread where the operator's function may block. */
static mxc_status run_callback(void *arg) {
    mxci_segment *s = arg;
    mxci_layout *l = s->executor->layout;
    return run_step(s, &l->steps[s->first], l->program->order[s->first], s->token, NULL);
}

void mxci_begin_segment(const mxc_run *run, void *arg, mxc_done *done) {
    mxci_segment *s = arg;
    const mxci_step *t = &s->executor->layout->steps[s->first];
    s->token = run->token;
    s->callback = (mxci_callback){.fn = run_callback, .arg = s, .name = mxc_op_get_def(t->call.op)->name, .done = done};
    mxci_callback_push(&s->callback);
}

/* ---- on the caller's thread ------------------------------------------------------------------------------------ */

static void wait_for(const mxci_segments *segments) {
    for (int32_t i = 0; i < segments->n; i++)
        MXC_IGNORE(mxc_wait_to_write(segments->items[i].done)); /* failures stay on the arrays */
}

void mxci_executor_wait(mxc_executor *e) {
    if (!e->layout)
        return;
    wait_for(&e->layout->bulk);
    wait_for(&e->layout->single);
}

/* What training runs cannot have. */
static int is_for_inference(const mxci_program *p) {
    return p->n_tiles || p->is_folded;
}

/* Put another layout in the place of the one there is. */
static mxc_status run_as_written(mxc_executor *e) {
    mxci_layout *l;
    mxci_program *p;
    mxci_executor_wait(e);
    MXC_TRY(mxci_executor_lower(e, 1, &p));
    MXC_TRY(mxci_layout_create(e, p, &l));
    mxci_layout_destroy(e->layout);
    e->layout = l;
    e->latest = NULL;
    return MXC_OK;
}

mxc_status mxci_executor_single_steps(mxc_executor *e) {
    if (is_for_inference(e->layout->program) || e->layout->program->is_rearranged)
        MXC_TRY(run_as_written(e));
    if (e->layout->single.items)
        return MXC_OK;
    return mxci_segments_create(e, e->layout, 1, &e->layout->single);
}

/* Take the random numbers of one forward run. A changed seed waits for the runs that still use the old one. */
static mxc_status reserve_random(mxc_executor *e, int is_train) {
    mxci_layout *l = e->layout;
    for (int32_t i = 0; i < l->program->n_pools; i++) {
        uint64_t count = l->random_count[is_train][i];
        mxc_random range = {0, 0, 0};
        if (count)
            MXC_TRY(mxc_random_reserve(l->program->pools[i], count, &range));
        if (count && (range.seed != l->random[i].seed || range.stream != l->random[i].stream)) {
            mxci_executor_wait(e);
            l->random[i] = range;
        }
        l->token[i] = make_token(range.offset, is_train);
    }
    return MXC_OK;
}

static mxc_status push(const mxci_layout *l, const mxci_segments *segments, int32_t first, int32_t end) {
    for (int32_t i = first; i < end; i++)
        MXC_TRY(mxc_engine_op_push(segments->items[i].op, 0, l->token[segments->items[i].pool]));
    return MXC_OK;
}

static mxc_status begin_forward(mxc_executor *e, int is_train) {
    if (is_train && is_for_inference(e->layout->program))
        MXC_TRY(run_as_written(e));
    mxci_layout_update(e, e->layout);
    MXC_TRY(reserve_random(e, is_train));
    e->latest_is_train = is_train;
    return MXC_OK;
}

/* ---- calls that change the executor ---------------------------------------------------------------------------- */

/* Begin a call. In checked builds it fails while another thread, or a monitor of a call that has not returned, is in
 * one: an executor is for one thread at a time. */
static mxc_status enter(mxc_executor *e, const char *function) {
#ifdef MXCI_CHECKS
    if (mxci_is_released(e))
        return MXC_FAIL(MXC_EINVAL, "%s: executor has been released", function);
    if (e && atomic_exchange(&e->is_in_call, 1))
        return MXC_FAIL(MXC_ESTATE,
                        "%s: another call on this executor has not returned; an executor is for one thread "
                        "at a time",
                        function);
#endif
    return e ? MXC_OK : MXC_FAIL(MXC_EINVAL, "%s: executor must not be NULL", function);
}

static mxc_status leave(mxc_executor *e, mxc_status status) {
#ifdef MXCI_CHECKS
    atomic_store(&e->is_in_call, 0);
#endif
    (void)e;
    return status;
}

static mxc_status forward(mxc_executor *e, int is_train) {
    MXC_TRY(begin_forward(e, is_train));
    e->latest = e->monitor ? &e->layout->single : &e->layout->bulk;
    return push(e->layout, e->latest, 0, e->latest->n_forward);
}

mxc_status mxc_executor_forward(mxc_executor *executor, int is_train) {
    MXC_TRY(enter(executor, __func__));
    return leave(executor, forward(executor, is_train != 0));
}

static mxc_status partial_forward(mxc_executor *e, int is_train, int64_t step, int64_t *left) {
    int64_t n;
    MXC_TRY(mxci_executor_single_steps(e));
    n = e->layout->single.n_forward;
    if (step < 0 || (step > 0 && step < n && (e->latest != &e->layout->single || step > e->partial_next)))
        return MXC_FAIL(MXC_ESTATE, "executor: partial forward: step %lld before the steps ahead of it have run",
                        (long long)step);
    if (step >= n)
        return MXC_OK;
    if (step == 0) {
        MXC_TRY(begin_forward(e, is_train != 0));
        e->latest = &e->layout->single;
    }
    e->partial_next = step + 1;
    *left = n - step - 1;
    return push(e->layout, &e->layout->single, (int32_t)step, (int32_t)step + 1);
}

mxc_status mxc_executor_partial_forward(mxc_executor *executor, int is_train, int64_t step, int64_t *left) {
    MXC_TRY(MXCI_OUT(left));
    MXC_TRY(enter(executor, __func__));
    return leave(executor, partial_forward(executor, is_train, step, left));
}

/* ---- backward -------------------------------------------------------------------------------------------------- */

static mxc_status check_head(const mxc_executor *e, int64_t i, mxc_ndarray *given) {
    char want[MXC_SHAPE_TEXT], have[MXC_SHAPE_TEXT];
    if (!e->heads[i])
        return MXC_OK;
    if (!given)
        return MXC_FAIL(MXC_EINVAL, "backward: output %s needs a head gradient, found none", e->output_names.items[i]);
    if (!mxc_shape_equal(mxc_ndarray_shape(given), mxc_ndarray_shape(e->heads[i])))
        return MXC_FAIL(MXC_ESHAPE, "backward: head gradient of output %s: expected shape %s, found %s",
                        e->output_names.items[i], mxc_shape_format(mxc_ndarray_shape(e->heads[i]), want, sizeof want),
                        mxc_shape_format(mxc_ndarray_shape(given), have, sizeof have));
    return MXC_OK;
}

static mxc_status backward(mxc_executor *e, int64_t n, mxc_ndarray *const *head_grads) {
    int64_t n_outputs = e->output_names.n;
    if (n != 0 && n != n_outputs)
        return MXC_FAIL(MXC_EINVAL, "backward: expected %lld head gradients, found %lld", (long long)n_outputs,
                        (long long)n);
    if (!e->latest || !e->latest_is_train)
        return MXC_FAIL(MXC_ESTATE, "backward: needs a forward run with is_train 1 before it");
    for (int64_t i = 0; i < n_outputs; i++)
        MXC_TRY(check_head(e, i, n ? head_grads[i] : NULL));
    for (int64_t i = 0; i < n; i++)
        if (e->heads[i])
            MXC_TRY(mxc_ndarray_copy_to(head_grads[i], e->heads[i], 0));
    mxci_layout_update(e, e->layout);
    return push(e->layout, e->latest, e->latest->n_forward, e->latest->n);
}

mxc_status mxc_executor_backward(mxc_executor *executor, int64_t n, mxc_ndarray *const *head_grads) {
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, head_grads));
    MXC_TRY(enter(executor, __func__));
    return leave(executor, backward(executor, n, head_grads));
}

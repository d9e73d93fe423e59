/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mxc_executor_forward, backward and partial_forward, which push segments on the caller's thread. What a segment does
 * when the engine runs it is in execute.c.
 */
#include "executor/run/forward_backward.h"

#include "base/error.h"
#include "engine/core/frame.h"
#include "executor/run/addresses.h"
#include "executor/run/bind.h"
#include "executor/run/bound_program.h"
#include "executor/run/execute.h"
#include "executor/run/segments.h"

/* 1 if the program cannot run training: outputs of tiles are incomplete, folded norms use moving statistics, and
 * constants were computed for inference. */
static int is_for_inference(const mxci_program *p) {
    return p->n_tiles || p->is_folded || p->n_constants;
}

/* Lowers and binds the symbol again without the passes that rewrite it. */
static mxc_status run_unoptimized(mxc_executor *e) {
    mxci_bound_program *b;
    mxci_program *p;
    mxci_segments_wait_all(e->bound);
    MXC_TRY(mxci_executor_lower(e, 1, &p));
    MXC_TRY(mxci_bound_program_create(e, p, &b));
    mxci_bound_program_destroy(e->bound);
    e->bound = b;
    e->latest = NULL;
    return MXC_OK;
}

mxc_status mxci_executor_use_single_steps(mxc_executor *e) {
    if (is_for_inference(e->bound->program) || e->bound->program->is_rewritten)
        MXC_TRY(run_unoptimized(e));
    if (e->bound->single.items)
        return MXC_OK;
    return mxci_segments_create(e, e->bound, 1, &e->bound->single);
}

/* Reserves the random numbers of one forward run. After a change of the seed, waits for the runs that use the old one.
 */
static mxc_status reserve_random(mxc_executor *e, int is_train) {
    mxci_bound_program *b = e->bound;
    for (int32_t i = 0; i < b->program->n_pools; i++) {
        uint64_t count = b->random_count[is_train][i];
        mxc_random range = {0, 0, 0};
        if (count)
            MXC_TRY(mxc_random_reserve(b->program->pools[i], count, &range));
        if (count && (range.seed != b->random[i].seed || range.stream != b->random[i].stream)) {
            mxci_segments_wait_all(e->bound);
            b->random[i] = range;
        }
        b->token[i] = mxci_execute_token(range.offset, is_train);
    }
    return MXC_OK;
}

static mxc_status queue_segments(const mxci_bound_program *b, const mxci_segments *segments, int32_t first,
                                 int32_t end) {
    for (int32_t i = first; i < end; i++)
        MXC_TRY(mxc_engine_op_push(segments->items[i].op, 0, b->token[segments->items[i].pool]));
    return MXC_OK;
}

static mxc_status begin_forward(mxc_executor *e, int is_train) {
    if (is_train && is_for_inference(e->bound->program))
        MXC_TRY(run_unoptimized(e));
    mxci_addresses_update(e, e->bound);
    MXC_TRY(reserve_random(e, is_train));
    e->latest_is_train = is_train;
    return MXC_OK;
}

/* ---- forward ---------------------------------------------------------------------------------------------------- */

/* Begins a public call. Checked builds report a call that overlaps with another one, of another thread or of a monitor
 * inside a call: an executor is used by one thread at a time. */
static mxc_status forward_backward_enter(mxc_executor *e, const char *function) {
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

static mxc_status queue_forward(mxc_executor *e, int is_train) {
    MXC_TRY(begin_forward(e, is_train));
    e->latest = e->monitor ? &e->bound->single : &e->bound->bulk;
    return queue_segments(e->bound, e->latest, 0, e->latest->n_forward);
}

mxc_status mxc_executor_forward(mxc_executor *executor, int is_train) {
    MXC_TRY(forward_backward_enter(executor, __func__));
    return leave(executor, queue_forward(executor, is_train != 0));
}

/* Queues one step of forward. Steps run in order; after a step that is repeated, those after it must be repeated too.
 */
static mxc_status partial_forward(mxc_executor *e, int is_train, int64_t step, int64_t *left) {
    int64_t n;
    MXC_TRY(mxci_executor_use_single_steps(e));
    n = e->bound->single.n_forward;
    if (step < 0 || (step > 0 && step < n && (e->latest != &e->bound->single || step > e->partial_next)))
        return MXC_FAIL(MXC_ESTATE, "executor: partial forward: step %lld before the steps ahead of it have run",
                        (long long)step);
    if (step >= n)
        return MXC_OK;
    if (step == 0) {
        MXC_TRY(begin_forward(e, is_train != 0));
        e->latest = &e->bound->single;
    }
    e->partial_next = step + 1;
    *left = n - step - 1;
    return queue_segments(e->bound, &e->bound->single, (int32_t)step, (int32_t)step + 1);
}

mxc_status mxc_executor_partial_forward(mxc_executor *executor, int is_train, int64_t step, int64_t *left) {
    MXC_TRY(MXCI_OUT(left));
    MXC_TRY(forward_backward_enter(executor, __func__));
    return leave(executor, partial_forward(executor, is_train, step, left));
}

/* ---- backward -------------------------------------------------------------------------------------------------- */

/* Copies the head gradients into arrays of the executor, whose addresses the steps have, and queues backward. */
static mxc_status queue_backward(mxc_executor *e, int64_t n, mxc_ndarray *const *head_grads) {
    char want[MXC_SHAPE_TEXT], have[MXC_SHAPE_TEXT];
    int64_t n_outputs = e->output_names.n;
    if (n != 0 && n != n_outputs)
        return MXC_FAIL(MXC_EINVAL, "backward: expected %lld head gradients, found %lld", (long long)n_outputs,
                        (long long)n);
    if (!e->latest || (!e->latest_is_train && !e->options.backward_after_inference))
        return MXC_FAIL(MXC_ESTATE, "backward: needs a forward run with is_train 1 before it");
    for (int64_t i = 0; i < n_outputs; i++) {
        const mxc_ndarray *given = n ? head_grads[i] : NULL;
        if (!e->heads[i])
            continue;
        if (!given)
            return MXC_FAIL(MXC_EINVAL, "backward: output %s needs a head gradient, found none",
                            e->output_names.items[i]);
        if (!mxc_shape_equal(mxc_ndarray_shape(given), mxc_ndarray_shape(e->heads[i])))
            return MXC_FAIL(MXC_ESHAPE, "backward: head gradient of output %s: expected shape %s, found %s",
                            e->output_names.items[i],
                            mxc_shape_format(mxc_ndarray_shape(e->heads[i]), want, sizeof want),
                            mxc_shape_format(mxc_ndarray_shape(given), have, sizeof have));
    }
    for (int64_t i = 0; i < n; i++)
        if (e->heads[i])
            MXC_TRY(mxc_ndarray_copy_to(head_grads[i], e->heads[i], 0));
    mxci_addresses_update(e, e->bound);
    return queue_segments(e->bound, e->latest, e->latest->n_forward, e->latest->n);
}

void mxci_executor_allow_backward(mxc_executor *e) {
    e->latest_is_train = 1; /* what the steps are told is in the token of the forward run */
}

mxc_status mxc_executor_backward(mxc_executor *executor, int64_t n, mxc_ndarray *const *head_grads) {
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, head_grads));
    MXC_TRY(forward_backward_enter(executor, __func__));
    unsigned mode = mxci_mode_exchange(0); /* copies of head gradients are not recorded */
    mxc_status status = queue_backward(executor, n, head_grads);
    mxci_mode = mode;
    return leave(executor, status);
}

/* ---- monitors -------------------------------------------------------------------------------------------------- */

mxc_status mxc_executor_set_monitor(mxc_executor *executor, mxc_monitor_fn fn, void *user) {
    MXC_TRY(MXCI_NON_NULL(executor));
    mxc_executor *e = executor;
    mxci_segments_wait_all(e->bound);
    if (fn)
        MXC_TRY(mxci_executor_use_single_steps(e));
    e->monitor = fn;
    e->monitor_user = user;
    return MXC_OK;
}

mxc_status mxc_executor_set_monitored(mxc_executor *executor, int inputs, int hidden) {
    MXC_TRY(MXCI_NON_NULL(executor));
    mxci_segments_wait_all(executor->bound);
    executor->monitor_inputs = inputs;
    executor->monitor_hidden = hidden;
    return MXC_OK;
}

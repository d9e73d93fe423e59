/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls, from enqueueing to completion, and the loop of the communication thread. The protocol is described in comm.h.
 *
 * Two locks: lock guards the queues by which other threads hand over calls and messages, and is held for a few
 * instructions only; progress_lock guards the group and the calls' progress, and is held by the one thread that uses
 * the transport.
 */
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "kvstore/comm_state.h"
#include "kvstore/gpu_sums.h"

#define IDLE_POLL_NS 50000 /* between polls of transfers that have made no progress for a while */
#define POLL_NS 20000 /* of polling without a pause while transfers make progress, before the processor is yielded */
#define INLINE_BYTES 65536 /* largest call that the thread which makes it ready completes itself, */
#define INLINE_NS 30000    /* within this time and one nanosecond per byte */

/* ---- called by the program --------------------------------------------------------------------------------------- */

void mxci_comm_enqueue(mxci_comm *comm, mxci_call *call) {
    call->next_enqueued = call->next_updated = NULL;
    call->is_ready = call->is_cancelled = 0;
    mxci_mutex_lock(&comm->lock);
    call->seq = comm->next_seq++;
    *comm->enqueued_end = call;
    comm->enqueued_end = &call->next_enqueued;
    mxci_mutex_unlock(&comm->lock);
}

mxc_status mxci_comm_check(mxci_comm *comm) {
    mxci_mutex_lock(&comm->lock);
    mxc_status code = comm->code;
    mxci_mutex_unlock(&comm->lock);
    return code == MXC_OK ? MXC_OK : MXC_FAIL(code, "%s", comm->message);
}

int mxci_comm_rank(const mxci_comm *comm) {
    return comm->rank;
}

int mxci_comm_size(const mxci_comm *comm) {
    return comm->size;
}

/* ---- calls on the communication thread --------------------------------------------------------------------------- */

/* O(calls in progress), which are few: one for each bucket of a step. */
void mxci_comm_end_call(mxci_comm *comm, mxci_call *call, mxc_status status, const char *error) {
    mxci_call **at = &comm->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    if (comm->calls_end == &call->next)
        comm->calls_end = at;
    if (call->kind == MXCI_CALL_REDUCE || call->kind == MXCI_CALL_BROADCAST) {
        snprintf(comm->last_name, sizeof comm->last_name, "%s", call->name);
        comm->last_step = call->step;
    }
    call->on_completion(call, status, error); /* may free the call */
}

/* Divide a call into pieces and append it to the calls in progress. Calls arrive in the order of their numbers. */
static void list_call(mxci_comm *comm, mxci_call *call) {
    int64_t most = comm->settings.piece_bytes / mxci_call_element_size(call);
    int is_divided = call->kind == MXCI_CALL_REDUCE || call->kind == MXCI_CALL_BROADCAST;
    call->next = NULL;
    call->n_pieces_announced = call->n_pieces_done = call->barrier_token = 0;
    call->range = call->share > 0 ? call->share : call->n;
    call->range_pieces = is_divided && call->range > most ? (call->range + most - 1) / most : 1;
    call->n_pieces = call->share > 0 ? comm->size * call->range_pieces : call->range_pieces;
    *comm->calls_end = call;
    comm->calls_end = &call->next;
}

/* A call that another thread has reported as ready or cancelled. */
static void handle_update(mxci_comm *comm, mxci_call *call) {
    if (!call->is_cancelled) {
        call->is_ready = 1;
        call->ready_ns = mxci_now_ns();
    } else if (comm->is_failed)
        mxci_comm_end_call(comm, call, comm->code, comm->message);
    else {
        mxci_comm_fail(comm, 1, MXC_EWORKER, "rank %d could not compute what it was to send: %s, step %lld", comm->rank,
                       call->name, (long long)call->step);
        mxci_comm_end_call(comm, call, comm->code, comm->message);
    }
}

/* Take over what other threads have enqueued and updated; returns whether there was anything. */
static int take_calls(mxci_comm *comm) {
    mxci_mutex_lock(&comm->lock);
    mxci_call *enqueued = comm->enqueued, *updated = comm->updated, *next;
    comm->enqueued = comm->updated = NULL;
    comm->enqueued_end = &comm->enqueued;
    comm->updated_end = &comm->updated;
    mxci_mutex_unlock(&comm->lock);
    int any = enqueued || updated != NULL;
    for (; enqueued; enqueued = next) {
        next = enqueued->next_enqueued;
        list_call(comm, enqueued);
    }
    for (; updated; updated = next) {
        next = updated->next_updated;
        handle_update(comm, updated);
    }
    return any;
}

/* ---- calls made by other threads --------------------------------------------------------------------------------- */

static void post_update(mxci_comm *comm, mxci_call *call, int wake) {
    mxci_mutex_lock(&comm->lock);
    *comm->updated_end = call;
    comm->updated_end = &call->next_updated;
    if (wake)
        mxci_cond_signal(&comm->has_work);
    mxci_mutex_unlock(&comm->lock);
}

/* Complete a short call on this thread, which has taken the progress lock: waking the communication thread and being
 * woken takes longer than the transfer. After the lock is released, the call may be complete and the communication
 * freed. */
static void progress_short_call(mxci_comm *comm, mxci_call *call) {
    const int64_t seq = call->seq, bytes = call->n * mxci_call_element_size(call);
    const int64_t end = mxci_now_ns() + INLINE_NS + bytes;
    int is_over;
    post_update(comm, call, 0);
    do {
        take_calls(comm);
        mxci_collectives_step(comm);
        is_over = !mxci_collectives_find(comm, seq);
    } while (!is_over && mxci_now_ns() < end);
    if (!is_over) {
        mxci_mutex_lock(&comm->lock);
        comm->is_woken = 1;
        mxci_cond_signal(&comm->has_work);
        mxci_mutex_unlock(&comm->lock);
    }
    mxci_mutex_unlock(&comm->progress_lock);
}

void mxci_comm_ready(mxci_comm *comm, mxci_call *call) {
    if (call->n * mxci_call_element_size(call) <= INLINE_BYTES && mxci_mutex_trylock(&comm->progress_lock))
        progress_short_call(comm, call);
    else
        post_update(comm, call, 1);
}

void mxci_comm_cancel(mxci_comm *comm, mxci_call *call) {
    call->is_cancelled = 1;
    post_update(comm, call, 1);
}

typedef struct blocking_call {
    mxci_call call;
    mxci_comm *comm;
    int is_complete;
    mxc_status status;
    char message[MXC_ERROR_MAX];
} blocking_call;

static void end_blocking_call(mxci_call *call, mxc_status status, const char *error) {
    blocking_call *blocking = (blocking_call *)call;
    mxci_comm *comm = blocking->comm;
    snprintf(blocking->message, sizeof blocking->message, "%s", error ? error : "");
    mxci_mutex_lock(&comm->lock);
    blocking->status = status;
    blocking->is_complete = 1;
    mxci_cond_broadcast(&comm->completed);
    mxci_mutex_unlock(&comm->lock);
}

mxc_status mxci_comm_call(mxci_comm *comm, mxci_call *call) {
    blocking_call blocking = {.call = *call, .comm = comm};
    blocking.call.on_completion = end_blocking_call;
    mxci_comm_enqueue(comm, &blocking.call);
    mxci_comm_ready(comm, &blocking.call);
    mxci_mutex_lock(&comm->lock);
    while (!blocking.is_complete)
        mxci_cond_wait(&comm->completed, &comm->lock);
    mxci_mutex_unlock(&comm->lock);
    return blocking.status == MXC_OK ? MXC_OK : MXC_FAIL(blocking.status, "%s", blocking.message);
}

mxc_status mxci_comm_allreduce_min(mxci_comm *comm, const char *name, int64_t *value) {
    int64_t *all = mxci_calloc((size_t)comm->size, sizeof *all);
    if (!all)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d ranks", comm->size);
    mxci_call call = {.kind = MXCI_CALL_ALLGATHER, .n = sizeof *value, .name = name, .in = value, .out = all};
    mxc_status status = mxci_comm_call(comm, &call);
    for (int i = 0; i < comm->size && status == MXC_OK; i++)
        *value = all[i] < *value ? all[i] : *value;
    mxci_free(all);
    return status;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* One step of everything; the progress lock is held. Returns when the next step is due: immediately while transfers
 * make progress and for MXC_SPIN_US after (transfers of n bytes are given n ns), then every IDLE_POLL_NS; with no
 * ready call and no messages, at the next heartbeat. */
static int64_t progress_all(mxci_comm *comm, int64_t now) {
    int progressed = take_calls(comm);
    mxci_liveness_step(comm, now);
    /* Poll while transfers make progress: each call of the transport's test moves a part of the data. */
    int64_t end = now < comm->spin_until_ns ? now + POLL_NS : now;
    progressed |= mxci_collectives_step(comm);
    while (mxci_collectives_in_flight_bytes(comm) > 0 && mxci_now_ns() < end)
        progressed |= mxci_collectives_step(comm);
    progressed |= mxci_messages_step(comm);
    int is_busy = mxci_collectives_is_busy(comm) || comm->handler.receive != NULL;
    if (progressed)
        comm->spin_until_ns =
            now + 1000 * mxci_option_get(MXCI_OPT_MXC_SPIN_US) + mxci_collectives_in_flight_bytes(comm);
    return now < comm->spin_until_ns ? now : now + (is_busy ? IDLE_POLL_NS : mxci_liveness_interval(comm));
}

/* Unless other threads have left work in the meantime. */
static void sleep_until(mxci_comm *comm, int64_t time) {
    mxci_mutex_lock(&comm->lock);
    if (!comm->enqueued && !comm->updated && !comm->outgoing && !comm->is_woken)
        mxci_cond_wait_until(&comm->has_work, &comm->lock, time);
    comm->is_woken = 0;
    mxci_mutex_unlock(&comm->lock);
}

static void comm_thread(void *arg) {
    mxci_comm *comm = arg;
    int is_closed = !mxci_join_group(comm);
    while (!is_closed) {
        int64_t now = mxci_now_ns(), next;
        mxci_mutex_lock(&comm->progress_lock);
        next = progress_all(comm, now);
        is_closed = comm->is_closed;
        mxci_mutex_unlock(&comm->progress_lock);
        if (next == now)
            mxci_thread_yield();
        else if (!is_closed)
            sleep_until(comm, next);
    }
}

/* ---- opening and closing ------------------------------------------------------------------------------------- */

static void end_closing_barrier(mxci_call *call, mxc_status status, const char *error) {
    mxci_comm *comm = (mxci_comm *)((char *)call - offsetof(mxci_comm, closing));
    (void)status, (void)error;
    comm->is_closed = 1;
}

void mxci_comm_free(mxci_comm *comm) {
    for (mxci_message *p = comm->abandoned, *next; p; p = next) {
        next = p->next;
        mxci_free(p);
    }
    for (int i = 0; i < 2 * MXCI_MAX_IN_FLIGHT; i++)
        mxc_ndarray_release(comm->kept_arrays[i]);
    mxci_cond_destroy(&comm->has_work);
    mxci_cond_destroy(&comm->completed);
    mxci_mutex_destroy(&comm->progress_lock);
    mxci_mutex_destroy(&comm->lock);
    mxci_free(comm->locations);
    mxci_free(comm->failure_sends);
    mxci_free(comm->incoming);
    mxci_free(comm);
}

mxc_status mxci_comm_open(const mxci_process_group_api *api, const mxci_comm_settings *settings,
                          const mxci_message_handler *handler, mxci_comm **out) {
    mxci_comm *comm = mxci_calloc(1, sizeof *comm);
    *out = NULL;
    if (!comm)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory to communicate");
    comm->api = api;
    comm->settings = *settings;
    if (handler)
        comm->handler = *handler;
    comm->enqueued_end = &comm->enqueued;
    comm->updated_end = &comm->updated;
    comm->outgoing_end = &comm->outgoing;
    comm->calls_end = &comm->calls;
    mxci_mutex_init(&comm->lock);
    mxci_mutex_init(&comm->progress_lock);
    mxci_cond_init(&comm->has_work);
    mxci_cond_init(&comm->completed);
    mxc_status status = mxci_thread_start(&comm->thread, "kvstore", comm_thread, comm);
    if (status != MXC_OK)
        mxci_comm_free(comm);
    else
        status = mxci_join_await(comm);
    if (status == MXC_OK)
        *out = comm;
    return status;
}

void mxci_comm_close(mxci_comm *comm) {
    if (!comm)
        return;
    comm->closing =
        (mxci_call){.kind = MXCI_CALL_BARRIER, .name = "end of the store", .on_completion = end_closing_barrier};
    mxci_comm_enqueue(comm, &comm->closing);
    post_update(comm, &comm->closing, 1); /* never on this thread: the communication thread ends itself with it */
    mxci_thread_join(comm->thread);
    if (!mxci_gpu_sums_close(comm)) {
        (void)comm->api->close(comm->group, 0);
        return;
    }
    if (comm->api->close(comm->group, comm->code == MXC_OK) || comm->code == MXC_OK)
        mxci_comm_free(comm);
}

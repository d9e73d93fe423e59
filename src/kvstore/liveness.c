/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Liveness and failure. Each rank sends heartbeats to the next rank of a ring and expects them from the previous one; a
 * process of the same machine that has exited is noticed earlier, by its process id. The first rank that detects a
 * failure notifies all others, so that all fail with the same message.
 *
 * Heartbeats also carry the slowest rank and its number of calls round the ring, so that a rank that waits for a call
 * longer than the stall time can name the rank that has not made it.
 */
#include <string.h>

#include "base/text.h"
#include "kvstore/comm_state.h"
#include "kvstore/gpu_sums.h"

#define POLL_NS 20000000    /* between checks of the processes of this machine */
#define GRACE_NS 1000000000 /* in which a process may exit, at the end, before its last message has arrived here */

int64_t mxci_liveness_interval(const mxci_comm *comm) {
    int64_t interval = comm->settings.timeout_ns / 8;
    return interval < 100000000 ? interval : 100000000;
}

/* ---- failing ----------------------------------------------------------------------------------------------------- */

const char *mxci_comm_position(const mxci_comm *comm, char *out) {
    const mxci_call *call = comm->calls;
    mxci_line line = {out, MXC_ERROR_MAX, 0};
    if (call && (call->kind == MXCI_CALL_REDUCE || call->kind == MXCI_CALL_BROADCAST))
        mxci_line_printf(&line, "%s, step %lld", call->name, (long long)call->step);
    else if (comm->last_name[0] != '\0')
        mxci_line_printf(&line, "%s after %s, step %lld", call ? call->name : "computing", comm->last_name,
                         (long long)comm->last_step);
    else
        mxci_line_printf(&line, "the beginning");
    return out;
}

/* The sends are not waited for. */
static void notify_all(mxci_comm *comm) {
    comm->failure_message = (mxci_control_message){.is_failure = 1, .status = (int32_t)comm->code};
    mxci_format(comm->failure_message.text, sizeof comm->failure_message.text, "%s", comm->message);
    for (int i = 0; i < comm->size; i++)
        if (i != comm->rank) /* a rank that cannot be notified will miss the heartbeats */
            MXC_IGNORE(comm->api->send(comm->group, MXCI_CHANNEL_CONTROL, i, &comm->failure_message,
                                       sizeof comm->failure_message, 0, &comm->failure_sends[i]));
}

/* Keep the memory that the transport may still read or write; the calls fail with those that are not started. */
static void drop_transfers(mxci_comm *comm) {
    for (int i = 0; i < MXCI_MAX_IN_FLIGHT; i++) {
        mxci_call *call = comm->in_flight[i].call;
        for (int j = 0; call && j < 2; j++)
            if (call->arrays[j])
                comm->kept_arrays[2 * i + j] = mxc_ndarray_retain(call->arrays[j]);
        comm->in_flight[i].call = NULL; /* still in comm->calls, and ready */
    }
}

void mxci_comm_fail(mxci_comm *comm, int notify, mxc_status status, const char *format, ...) {
    va_list args;
    if (comm->is_failed)
        return;
    mxci_mutex_lock(&comm->lock);
    va_start(args, format);
    mxci_vformat(comm->message, sizeof comm->message, format, args);
    va_end(args);
    comm->code = status;
    mxci_mutex_unlock(&comm->lock);
    comm->is_failed = 1;
    if (notify)
        notify_all(comm);
    drop_transfers(comm);
    mxci_gpu_sums_abort(comm);
}

int mxci_comm_check_status(mxci_comm *comm, mxc_status status) {
    char position[MXC_ERROR_MAX];
    if (status == MXC_OK)
        return 0;
    mxci_comm_fail(comm, 1, status, "kvstore: rank %d: %.200s; %.200s", comm->rank, mxc_last_error(),
                   mxci_comm_position(comm, position));
    return 1;
}

/* ---- heartbeats -------------------------------------------------------------------------------------------------- */

static mxc_status post_control_receive(mxci_comm *comm) {
    return comm->api->receive(comm->group, MXCI_CHANNEL_CONTROL, &comm->control_received, sizeof comm->control_received,
                              &comm->control_receive);
}

/* All that have arrived. A receive is always posted, so that failures are noticed at every step. */
static mxc_status receive_control_messages(mxci_comm *comm, int64_t now) {
    int done = 1;
    for (;;) {
        MXC_TRY(comm->api->test(comm->group, &comm->control_receive, &done));
        if (!done)
            return MXC_OK;
        comm->control_received.text[MXCI_CONTROL_TEXT - 1] = '\0';
        if (comm->control_received.is_failure)
            mxci_comm_fail(comm, 0, (mxc_status)comm->control_received.status, "%s", comm->control_received.text);
        else if (comm->control_receive.from == (comm->rank + comm->size - 1) % comm->size) {
            comm->heartbeat_received_ns = now;
            comm->slowest = comm->control_received.slowest;
            comm->slowest_calls = comm->control_received.n_calls;
        }
        MXC_TRY(post_control_receive(comm));
    }
}

/* To the next rank, when one is due and the last one has been sent. The slowest rank known so far is passed on; a rank
 * replaces it by itself if it is slower, or if it is that rank. */
static mxc_status send_heartbeat(mxci_comm *comm, int64_t now) {
    int done = 1;
    if (comm->is_sending_heartbeat)
        MXC_TRY(comm->api->test(comm->group, &comm->heartbeat_send, &done));
    comm->is_sending_heartbeat = !done;
    if (comm->is_sending_heartbeat || now - comm->heartbeat_sent_ns < mxci_liveness_interval(comm))
        return MXC_OK;
    comm->heartbeat_sent_ns = now;
    comm->is_sending_heartbeat = 1;
    mxci_mutex_lock(&comm->lock);
    int64_t own = comm->next_seq;
    mxci_mutex_unlock(&comm->lock);
    int is_own = comm->slowest == comm->rank || own <= comm->slowest_calls;
    comm->heartbeat.slowest = is_own ? comm->rank : comm->slowest;
    comm->heartbeat.n_calls = is_own ? own : comm->slowest_calls;
    return comm->api->send(comm->group, MXCI_CHANNEL_CONTROL, (comm->rank + 1) % comm->size, &comm->heartbeat,
                           sizeof comm->heartbeat, 0, &comm->heartbeat_send);
}

/* ---- checking other ranks ---------------------------------------------------------------------------------------- */

/* While this rank closes, a process may exit before its last message has arrived here. */
static void check_local_processes(mxci_comm *comm, int64_t now) {
    const mxci_rank_location *here = &comm->locations[comm->rank];
    char position[MXC_ERROR_MAX];
    if (now - comm->processes_checked_ns < POLL_NS)
        return;
    comm->processes_checked_ns = now;
    int exited = 0; /* the first rank on this machine whose process has exited */
    while (exited < comm->size && (exited == comm->rank || comm->locations[exited].host != here->host ||
                                   mxci_process_is_alive(comm->locations[exited].process)))
        exited++;
    if (exited == comm->size)
        return;
    if (comm->process_missing_ns == 0)
        comm->process_missing_ns = now;
    if (comm->closing.is_ready && now - comm->process_missing_ns < GRACE_NS)
        return;
    mxci_comm_fail(comm, 1, MXC_EWORKER, "kvstore: rank %d (process %lld) has exited; rank %d has reached %.300s",
                   exited, (long long)comm->locations[exited].process, comm->rank, mxci_comm_position(comm, position));
}

/* The previous rank of the ring. */
static void check_heartbeat(mxci_comm *comm, int64_t now) {
    char position[MXC_ERROR_MAX];
    int before = (comm->rank + comm->size - 1) % comm->size;
    if (now - comm->liveness_step_ns > comm->settings.timeout_ns / 2)
        comm->heartbeat_received_ns = now; /* this process itself was suspended */
    comm->liveness_step_ns = now;
    if (now - comm->heartbeat_received_ns > comm->settings.timeout_ns)
        mxci_comm_fail(comm, 1, MXC_EWORKER,
                       "kvstore: rank %d (process %lld) has sent no heartbeat for %.1f s; rank %d "
                       "has reached %.300s",
                       before, (long long)comm->locations[before].process,
                       (double)(now - comm->heartbeat_received_ns) * 1e-9, comm->rank,
                       mxci_comm_position(comm, position));
}

/* All ranks are alive, but one does not make a call for which this one has been ready for too long. */
static void check_stall(mxci_comm *comm, int64_t now) {
    char position[MXC_ERROR_MAX];
    const mxci_call *call = comm->calls;
    while (call && !call->is_ready)
        call = call->next;
    if (!call || comm->settings.stall_ns == 0 || now - call->ready_ns < comm->settings.stall_ns)
        return;
    mxci_comm_fail(comm, 1, MXC_EWORKER,
                   "kvstore: rank %d has waited for %.1f s at %.250s; rank %d is alive, but has "
                   "made only %lld calls, %lld are needed",
                   comm->rank, (double)(now - call->ready_ns) * 1e-9, mxci_comm_position(comm, position),
                   (int)comm->slowest, (long long)comm->slowest_calls, (long long)call->seq + 1);
}

void mxci_liveness_step(mxci_comm *comm, int64_t now) {
    if (comm->size == 1 || comm->is_failed || mxci_comm_check_status(comm, receive_control_messages(comm, now)) ||
        comm->is_failed || mxci_comm_check_status(comm, send_heartbeat(comm, now)))
        return;
    check_local_processes(comm, now);
    if (!comm->is_failed)
        check_heartbeat(comm, now);
    if (!comm->is_failed)
        check_stall(comm, now);
}

mxc_status mxci_liveness_open(mxci_comm *comm) {
    const mxci_rank_location here = {mxci_host_id(), mxci_process_id()};
    comm->locations = mxci_calloc((size_t)comm->size, sizeof *comm->locations);
    comm->failure_sends = mxci_calloc((size_t)comm->size, sizeof *comm->failure_sends);
    if (!comm->locations || !comm->failure_sends)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d ranks", comm->size);
    MXC_TRY(mxci_join_allgather(comm, &here, comm->locations, sizeof here));
    comm->heartbeat_received_ns = comm->liveness_step_ns = mxci_now_ns();
    return comm->size > 1 ? post_control_receive(comm) : MXC_OK;
}

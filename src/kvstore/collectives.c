/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order and progress of collective operations: rank 0 announces which piece of which call comes next, every rank starts
 * the pieces in that order and polls them until they are done. The protocol is described in comm.h.
 */
#include <string.h>

#include "base/text.h"
#include "kvstore/comm_state.h"
#include "kvstore/gpu_sums.h"

/* ---- announcements ----------------------------------------------------------------------------------------------- */

/* The free slot at the end of the ring of announcements. */
static mxci_announcement *next_announcement(mxci_comm *comm) {
    return &comm->announced[(comm->first_announced + comm->n_announced) % MXCI_MAX_ANNOUNCED];
}

static int n_free_transfers(const mxci_comm *comm) {
    int n = 0;
    for (int i = 0; i < MXCI_MAX_IN_FLIGHT; i++)
        n += !comm->in_flight[i].call;
    return n;
}

/* A barrier starts when all calls before it are complete; the closing one also when all messages of this rank have been
 * received. */
static int may_start(mxci_comm *comm, const mxci_call *call) {
    if (call->kind == MXCI_CALL_BARRIER && call != comm->calls)
        return 0;
    return call->is_ready && (call != &comm->closing || mxci_messages_all_sent(comm));
}

/* The ready call of the highest priority, the earliest of equal ones; NULL: none is ready. */
static mxci_call *find_most_urgent(mxci_comm *comm) {
    mxci_call *best = NULL;
    for (mxci_call *c = comm->calls; c; c = c->next)
        if (may_start(comm, c) && c->n_pieces_announced < c->n_pieces && (!best || c->priority > best->priority))
            best = c;
    return best;
}

/* Free the buffers of broadcasts that are done, in order. */
static mxc_status retire_broadcasts(mxci_comm *comm) {
    int done = 1;
    while (comm->n_broadcasts > 0 && done) {
        MXC_TRY(comm->api->test(comm->group, &comm->broadcasts[comm->first_broadcast], &done));
        if (done) {
            comm->first_broadcast = (comm->first_broadcast + 1) % MXCI_MAX_ANNOUNCED;
            comm->n_broadcasts--;
        }
    }
    return MXC_OK;
}

static mxci_call_signature signature_of(const mxci_call *call) {
    return (mxci_call_signature){.n = call->n,
                                 .share = call->share,
                                 .range_pieces = call->range_pieces,
                                 .kind = (int32_t)call->kind,
                                 .dtype = (int32_t)call->dtype,
                                 .on_gpus = call->on_gpus};
}

/* Rank 0: announce no more than can be started immediately, so that a call that becomes ready meanwhile can overtake.
 */
static mxc_status announce_calls(mxci_comm *comm, int *progressed) {
    mxci_call *call;
    MXC_TRY(retire_broadcasts(comm));
    while (comm->n_broadcasts < MXCI_MAX_ANNOUNCED && comm->n_announced < n_free_transfers(comm) &&
           (call = find_most_urgent(comm)) != NULL) {
        mxci_announcement *announcement = next_announcement(comm);
        *announcement =
            (mxci_announcement){.seq = call->seq, .piece = call->n_pieces_announced++, .signature = signature_of(call)};
        mxci_format(announcement->name, sizeof announcement->name, "%s", call->name);
        comm->n_announced++;
        *progressed = 1;
        int slot = (comm->first_broadcast + comm->n_broadcasts) % MXCI_MAX_ANNOUNCED;
        comm->broadcast_buffers[slot] = *announcement;
        comm->n_broadcasts++;
        MXC_TRY(comm->api->broadcast(comm->group, MXCI_CHANNEL_ORDER, 0, &comm->broadcast_buffers[slot],
                                     sizeof *announcement, &comm->broadcasts[slot]));
    }
    return MXC_OK;
}

/* Other ranks: receive the announcements of rank 0. One receiving broadcast is always pending. */
static mxc_status receive_announcements(mxci_comm *comm, int *progressed) {
    int done = 1;
    while (done && comm->n_announced < MXCI_MAX_ANNOUNCED) {
        if (comm->n_broadcasts == 0)
            MXC_TRY(comm->api->broadcast(comm->group, MXCI_CHANNEL_ORDER, 0, comm->broadcast_buffers,
                                         sizeof *comm->broadcast_buffers, comm->broadcasts));
        comm->n_broadcasts = 1;
        MXC_TRY(comm->api->test(comm->group, comm->broadcasts, &done));
        if (done) {
            *next_announcement(comm) = comm->broadcast_buffers[0];
            comm->n_announced++;
            comm->n_broadcasts = 0;
            *progressed = 1;
        }
    }
    return MXC_OK;
}

/* ---- transfers --------------------------------------------------------------------------------------------------- */

mxci_call *mxci_collectives_find(const mxci_comm *comm, int64_t seq) {
    mxci_call *c = comm->calls;
    while (c && c->seq != seq)
        c = c->next;
    return c;
}

/* Elements of all pieces but the last of a share. */
static int64_t piece_length(const mxci_call *call) {
    return (call->range + call->range_pieces - 1) / call->range_pieces;
}

/* Pieces 0 to range_pieces - 1 lie in the first share, and so on; the last piece of a share is shorter. */
static mxc_status start_piece(mxci_comm *comm, mxci_call *call, int64_t piece, mxci_group_request *t) {
    const int owner = (int)(piece / call->range_pieces); /* the rank whose share it is; 0 without shares */
    const int64_t each = piece_length(call), within = piece % call->range_pieces * each;
    const int64_t n = within + each < call->range ? each : call->range - within;
    const size_t at = (size_t)((owner * call->range + within) * mxci_call_element_size(call));
    switch (call->kind) {
    case MXCI_CALL_REDUCE:
        if (call->on_gpus)
            return mxci_gpu_sums_start(comm, (const char *)call->in + at, (char *)call->out + at, n, call->dtype, t);
        return comm->api->allreduce(comm->group, call->share > 0 ? owner : -1, (const char *)call->in + at,
                                    (char *)call->out + at, n, call->dtype, t);
    case MXCI_CALL_ALLGATHER:
        return comm->api->allgather(comm->group, call->in, call->out, (size_t)call->n, t);
    case MXCI_CALL_BROADCAST:
        return comm->api->broadcast(comm->group, MXCI_CHANNEL_DATA, owner, (char *)call->out + at, (size_t)n, t);
    case MXCI_CALL_BARRIER:
        break;
    }
    return comm->api->allreduce(comm->group, -1, &call->barrier_token, &call->barrier_token, 1, MXC_I64, t);
}

static const char *describe_signature(const mxci_call_signature *f, char *out, size_t size) {
    static const char *const kinds[] = {
        [MXCI_CALL_REDUCE] = "a sum",
        [MXCI_CALL_ALLGATHER] = "an allgather",
        [MXCI_CALL_BROADCAST] = "a broadcast",
        [MXCI_CALL_BARRIER] = "a barrier",
    };
    int is_known = f->kind >= 0 && f->kind <= MXCI_CALL_BARRIER;
    mxci_format(out, size, "%s of %lld %s in %lld pieces%s%s", is_known ? kinds[f->kind] : "a call", (long long)f->n,
                f->kind == MXCI_CALL_REDUCE ? mxc_dtype_name((mxc_dtype)f->dtype) : "bytes", (long long)f->range_pieces,
                f->share > 0 ? " of shares" : "", f->on_gpus ? " by GPUs" : "");
    return out;
}

/* Fails the communication and returns 0 unless the call has the name and the signature of the announcement, so that no
 * rank receives more than it has room for. */
static int check_announcement(mxci_comm *comm, const mxci_announcement *announcement, const mxci_call *call) {
    const mxci_call_signature own = signature_of(call), *other = &announcement->signature;
    char ours[128], theirs[128];
    if (strncmp(call->name, announcement->name, sizeof announcement->name - 1) != 0)
        mxci_comm_fail(comm, 1, MXC_EWORKER,
                       "call %lld of rank %d is %s, step %lld, of rank 0 it is %s: all ranks must "
                       "make the same calls in the same order",
                       (long long)call->seq, comm->rank, call->name, (long long)call->step, announcement->name);
    else if (own.n != other->n || own.share != other->share || own.range_pieces != other->range_pieces ||
             own.kind != other->kind || own.dtype != other->dtype || own.on_gpus != other->on_gpus)
        mxci_comm_fail(comm, 1, MXC_EWORKER,
                       "call %lld (%s) of rank %d is %s, of rank 0 it is %s: all ranks must make the same calls in the "
                       "same order",
                       (long long)call->seq, call->name, comm->rank, describe_signature(&own, ours, sizeof ours),
                       describe_signature(other, theirs, sizeof theirs));
    return !comm->is_failed;
}

static mxci_piece_in_flight *find_free_transfer(mxci_comm *comm) {
    for (int i = 0; i < MXCI_MAX_IN_FLIGHT; i++)
        if (!comm->in_flight[i].call)
            return &comm->in_flight[i];
    return NULL;
}

/* Start announced pieces in the order of the announcements. A piece that is not ready here holds up all behind it,
 * because every rank must start them in the same order. */
static mxc_status start_announced(mxci_comm *comm, int *progressed) {
    mxci_piece_in_flight *slot;
    while (comm->n_announced > 0 && (slot = find_free_transfer(comm)) != NULL) {
        const mxci_announcement *announcement = &comm->announced[comm->first_announced];
        mxci_call *call = mxci_collectives_find(comm, announcement->seq);
        if (!call)
            return MXC_OK;
        if (!check_announcement(comm, announcement, call) || !may_start(comm, call))
            return MXC_OK;
        slot->call = call;
        comm->first_announced = (comm->first_announced + 1) % MXCI_MAX_ANNOUNCED;
        comm->n_announced--;
        *progressed = 1;
        MXC_TRY(start_piece(comm, call, announcement->piece, &slot->transfer));
    }
    return MXC_OK;
}

static mxc_status complete_transfers(mxci_comm *comm, int *progressed) {
    for (int i = 0; i < MXCI_MAX_IN_FLIGHT; i++) {
        mxci_call *call = comm->in_flight[i].call;
        int done = 0;
        mxci_group_request *transfer = &comm->in_flight[i].transfer;
        if (call)
            MXC_TRY(call->on_gpus ? mxci_gpu_sums_test(comm, transfer, &done)
                                  : comm->api->test(comm->group, transfer, &done));
        if (!done)
            continue;
        comm->in_flight[i].call = NULL;
        *progressed = 1;
        if (++call->n_pieces_done == call->n_pieces)
            mxci_comm_end_call(comm, call, MXC_OK, NULL);
    }
    return MXC_OK;
}

/* After a failure calls end as they become ready, since until then a function of the engine may still touch them. */
static int fail_ready(mxci_comm *comm) {
    int any = 0;
    for (mxci_call *call = comm->calls, *next; call; call = next) {
        next = call->next;
        if (may_start(comm, call)) {
            mxci_comm_end_call(comm, call, comm->code, comm->message);
            any = 1;
        }
    }
    return any;
}

int mxci_collectives_step(mxci_comm *comm) {
    int progressed = 0;
    if (comm->is_failed ||
        mxci_comm_check_status(comm, comm->rank == 0 ? announce_calls(comm, &progressed)
                                                     : receive_announcements(comm, &progressed)) ||
        mxci_comm_check_status(comm, start_announced(comm, &progressed)) || comm->is_failed ||
        mxci_comm_check_status(comm, complete_transfers(comm, &progressed)))
        return fail_ready(comm);
    return progressed;
}

int mxci_collectives_is_busy(const mxci_comm *comm) {
    for (const mxci_call *c = comm->calls; c; c = c->next)
        if (c->is_ready)
            return 1;
    return 0;
}

int64_t mxci_collectives_in_flight_bytes(const mxci_comm *comm) {
    int64_t bytes = 0;
    for (int i = 0; i < MXCI_MAX_IN_FLIGHT; i++)
        if (comm->in_flight[i].call)
            bytes += 1 + piece_length(comm->in_flight[i].call) * mxci_call_element_size(comm->in_flight[i].call);
    return bytes;
}

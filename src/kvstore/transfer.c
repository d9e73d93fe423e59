/* What moves: rank 0 decides whose turn it is, everyone starts the transfers in that order and sees them land. */
#include <string.h>

#include "base/text.h"
#include "kvstore/comm_state.h"
#include "kvstore/devices.h"

/* ---- whose turn it is -------------------------------------------------------------------------------------------- */

static mxci_order *order_slot(mxci_comm *comm) {
    return &comm->orders[(comm->first_order + comm->n_orders) % MXCI_ORDERS];
}

static int free_flights(const mxci_comm *comm) {
    int n = 0;
    for (int i = 0; i < MXCI_FLIGHTS; i++)
        n += !comm->flights[i].call;
    return n;
}

/* Ranks meet when no call before is left; for the end also every message of this rank has been received. */
static int may_begin(mxci_comm *comm, const mxci_call *call) {
    if (call->kind == MXCI_CALL_MEET && call != comm->calls)
        return 0;
    return call->is_ready && (call != &comm->closing || mxci_post_all_sent(comm));
}

/* The most urgent call of those that are ready, the first of equals; NULL: none. */
static mxci_call *most_urgent(mxci_comm *comm) {
    mxci_call *best = NULL;
    for (mxci_call *c = comm->calls; c; c = c->next)
        if (may_begin(comm, c) && c->decided < c->pieces && (!best || c->priority > best->priority))
            best = c;
    return best;
}

/* Forget what has been told, in order. */
static mxc_status retire_told(mxci_comm *comm) {
    int done = 1;
    while (comm->n_telling > 0 && done) {
        MXC_TRY(comm->api->test(comm->group, &comm->telling[comm->first_telling], &done));
        if (done) {
            comm->first_telling = (comm->first_telling + 1) % MXCI_ORDERS;
            comm->n_telling--;
        }
    }
    return MXC_OK;
}

static mxc_status tell(mxci_comm *comm, const mxci_order *order) {
    int slot = (comm->first_telling + comm->n_telling) % MXCI_ORDERS;
    comm->told[slot] = *order;
    comm->n_telling++;
    return comm->api->broadcast(comm->group, MXCI_CHANNEL_ORDER, 0, &comm->told[slot], sizeof *order,
                                &comm->telling[slot]);
}

static mxci_form form_of(const mxci_call *call) {
    return (mxci_form){.n = call->n,
                       .share = call->share,
                       .run_pieces = call->run_pieces,
                       .kind = (int32_t)call->kind,
                       .dtype = (int32_t)call->dtype,
                       .on_gpus = call->on_gpus};
}

static int is_same_form(const mxci_form *a, const mxci_form *b) {
    return a->n == b->n && a->share == b->share && a->run_pieces == b->run_pieces && a->kind == b->kind &&
           a->dtype == b->dtype && a->on_gpus == b->on_gpus;
}

/* Rank 0: no further ahead than can begin at once, so that what becomes ready meanwhile may pass by. */
static mxc_status decide(mxci_comm *comm, int *moved) {
    mxci_call *call;
    MXC_TRY(retire_told(comm));
    while (comm->n_telling < MXCI_ORDERS && comm->n_orders < free_flights(comm) && (call = most_urgent(comm)) != NULL) {
        mxci_order *order = order_slot(comm);
        *order = (mxci_order){.seq = call->seq, .piece = call->decided++, .form = form_of(call)};
        mxci_format(order->what, sizeof order->what, "%s", call->what);
        comm->n_orders++;
        *moved = 1;
        MXC_TRY(tell(comm, order));
    }
    return MXC_OK;
}

/* Other ranks: hear what rank 0 has decided. */
static mxc_status hear(mxci_comm *comm, int *moved) {
    int done = 1;
    while (done && comm->n_orders < MXCI_ORDERS) {
        if (comm->n_telling == 0)
            MXC_TRY(comm->api->broadcast(comm->group, MXCI_CHANNEL_ORDER, 0, comm->told, sizeof *comm->told,
                                         comm->telling));
        comm->n_telling = 1;
        MXC_TRY(comm->api->test(comm->group, comm->telling, &done));
        if (done) {
            *order_slot(comm) = comm->told[0];
            comm->n_orders++;
            comm->n_telling = 0;
            *moved = 1;
        }
    }
    return MXC_OK;
}

/* ---- transfers --------------------------------------------------------------------------------------------------- */

mxci_call *mxci_transfer_find(const mxci_comm *comm, int64_t seq) {
    mxci_call *c = comm->calls;
    while (c && c->seq != seq)
        c = c->next;
    return c;
}

/* Elements of all pieces but the last of a share. */
static int64_t piece_length(const mxci_call *call) {
    return (call->run + call->run_pieces - 1) / call->run_pieces;
}

/* Elements of a call's piece, and where they begin. */
static int64_t piece_range(const mxci_call *call, int64_t piece, int64_t *begin) {
    int64_t each = piece_length(call), within = piece % call->run_pieces * each;
    *begin = piece / call->run_pieces * call->run + within;
    return within + each < call->run ? each : call->run - within;
}

static mxc_status start(mxci_comm *comm, mxci_call *call, int64_t piece, mxci_group_request *t) {
    int64_t begin, n = piece_range(call, piece, &begin);
    size_t at = (size_t)(begin * mxci_call_width(call));
    int owner = (int)(piece / call->run_pieces);
    switch (call->kind) {
    case MXCI_CALL_SUM:
        if (call->on_gpus)
            return mxci_devices_start(comm, (const char *)call->in + at, (char *)call->out + at, n, call->dtype, t);
        return comm->api->allreduce(comm->group, call->share > 0 ? owner : -1, (const char *)call->in + at,
                                    (char *)call->out + at, n, call->dtype, t);
    case MXCI_CALL_GATHER:
        return comm->api->allgather(comm->group, call->in, call->out, (size_t)call->n, t);
    case MXCI_CALL_BROADCAST:
        return comm->api->broadcast(comm->group, MXCI_CHANNEL_DATA, owner, (char *)call->out + at, (size_t)n, t);
    case MXCI_CALL_MEET:
        break;
    }
    return comm->api->allreduce(comm->group, -1, &call->token, &call->token, 1, MXC_I64, t);
}

static const char *form_text(const mxci_form *f, char *out, size_t size) {
    static const char *const kinds[] = {
        [MXCI_CALL_SUM] = "a sum",
        [MXCI_CALL_GATHER] = "a gathering",
        [MXCI_CALL_BROADCAST] = "a broadcast",
        [MXCI_CALL_MEET] = "a meeting",
    };
    int is_known = f->kind >= 0 && f->kind <= MXCI_CALL_MEET;
    mxci_format(out, size, "%s of %lld %s in %lld pieces%s%s", is_known ? kinds[f->kind] : "a call", (long long)f->n,
                f->kind == MXCI_CALL_SUM ? mxc_dtype_name((mxc_dtype)f->dtype) : "bytes", (long long)f->run_pieces,
                f->share > 0 ? " of shares" : "", f->on_gpus ? " by GPUs" : "");
    return out;
}

/* The same name, but not the same bytes. */
static void misfit(mxci_comm *comm, const mxci_order *order, const mxci_call *call, const mxci_form *own) {
    char ours[128], theirs[128];
    mxci_watch_fail(comm, 1, MXC_EWORKER,
                    "call %lld (%s) of rank %d is %s, of rank 0 it is %s: all ranks must make the same calls in the "
                    "same order",
                    (long long)call->seq, call->what, comm->rank, form_text(own, ours, sizeof ours),
                    form_text(&order->form, theirs, sizeof theirs));
}

static void disagree(mxci_comm *comm, const mxci_order *order, const mxci_call *call) {
    mxci_watch_fail(comm, 1, MXC_EWORKER,
                    "call %lld of rank %d is %s, step %lld, of rank 0 it is %s: all ranks must "
                    "make the same calls in the same order",
                    (long long)call->seq, comm->rank, call->what, (long long)call->step, order->what);
}

static mxci_flight *free_flight(mxci_comm *comm) {
    for (int i = 0; i < MXCI_FLIGHTS; i++)
        if (!comm->flights[i].call)
            return &comm->flights[i];
    return NULL;
}

/* Start what is decided, in that order, as far as it is ready here. */
static mxc_status begin(mxci_comm *comm, int *moved) {
    mxci_flight *flight;
    while (comm->n_orders > 0 && (flight = free_flight(comm)) != NULL) {
        const mxci_order *order = &comm->orders[comm->first_order];
        mxci_call *call = mxci_transfer_find(comm, order->seq);
        if (!call)
            return MXC_OK;
        const mxci_form own = form_of(call);
        if (strncmp(call->what, order->what, sizeof order->what - 1) != 0)
            disagree(comm, order, call);
        else if (!is_same_form(&own, &order->form))
            misfit(comm, order, call, &own);
        if (comm->is_failed || !may_begin(comm, call))
            return MXC_OK;
        flight->call = call;
        comm->first_order = (comm->first_order + 1) % MXCI_ORDERS;
        comm->n_orders--;
        *moved = 1;
        MXC_TRY(start(comm, call, order->piece, &flight->transfer));
    }
    return MXC_OK;
}

static mxc_status test(mxci_comm *comm, mxci_flight *flight, int *done) {
    if (flight->call->on_gpus)
        return mxci_devices_test(comm, &flight->transfer, done);
    return comm->api->test(comm->group, &flight->transfer, done);
}

static mxc_status land(mxci_comm *comm, int *moved) {
    for (int i = 0; i < MXCI_FLIGHTS; i++) {
        mxci_call *call = comm->flights[i].call;
        int done = 0;
        if (call)
            MXC_TRY(test(comm, &comm->flights[i], &done));
        if (!done)
            continue;
        comm->flights[i].call = NULL;
        *moved = 1;
        if (++call->finished == call->pieces)
            mxci_comm_end_call(comm, call, MXC_OK, NULL);
    }
    return MXC_OK;
}

static int fail_ready(mxci_comm *comm) {
    int any = 0;
    for (mxci_call *call = comm->calls, *next; call; call = next) {
        next = call->next;
        if (may_begin(comm, call)) {
            mxci_comm_end_call(comm, call, comm->code, comm->message);
            any = 1;
        }
    }
    return any;
}

int mxci_transfer_step(mxci_comm *comm) {
    int moved = 0;
    if (comm->is_failed || mxci_watch_failed(comm, comm->rank == 0 ? decide(comm, &moved) : hear(comm, &moved)) ||
        mxci_watch_failed(comm, begin(comm, &moved)) || comm->is_failed || mxci_watch_failed(comm, land(comm, &moved)))
        return fail_ready(comm);
    return moved;
}

int mxci_transfer_is_busy(const mxci_comm *comm) {
    for (const mxci_call *c = comm->calls; c; c = c->next)
        if (c->is_ready)
            return 1;
    return 0;
}

int64_t mxci_transfer_flying(const mxci_comm *comm) {
    int64_t bytes = 0;
    for (int i = 0; i < MXCI_FLIGHTS; i++)
        if (comm->flights[i].call)
            bytes += 1 + piece_length(comm->flights[i].call) * mxci_call_width(comm->flights[i].call);
    return bytes;
}

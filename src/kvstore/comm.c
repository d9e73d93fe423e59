/* Calls: how they come to the communication thread and how they end, and the thread's loop. */
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "kvstore/comm_state.h"
#include "kvstore/devices.h"

#define NAP_NS 50000      /* between looks at transfers that have not moved for a while */
#define LOOK_NS 20000     /* at transfers that move, before another thread of this processor has its turn */
#define SHORT_BYTES 65536 /* of what the thread that asks for it moves itself, */
#define DRIVE_NS 30000    /* for no longer than this and a nanosecond a byte */

/* ---- the program's side ------------------------------------------------------------------------------------------ */

void mxci_comm_announce(mxci_comm *comm, mxci_call *call) {
    call->next_announced = call->next_changed = NULL;
    call->is_ready = call->is_lost = 0;
    mxci_mutex_lock(&comm->lock);
    call->seq = comm->next_seq++;
    *comm->announced_end = call;
    comm->announced_end = &call->next_announced;
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

/* ---- what has been asked for ------------------------------------------------------------------------------------- */

void mxci_comm_end_call(mxci_comm *comm, mxci_call *call, mxc_status status, const char *message) {
    mxci_call **at = &comm->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    if (comm->calls_end == &call->next)
        comm->calls_end = at;
    if (call->kind == MXCI_CALL_SUM || call->kind == MXCI_CALL_BROADCAST) {
        snprintf(comm->last_what, sizeof comm->last_what, "%s", call->what);
        comm->last_step = call->step;
    }
    call->ended(call, status, message); /* it may be gone now */
}

static int64_t count_pieces(const mxci_comm *comm, const mxci_call *call) {
    int64_t most = comm->settings.piece_bytes / mxci_call_width(call);
    if (call->kind == MXCI_CALL_MEET || call->kind == MXCI_CALL_GATHER || call->run <= most)
        return 1;
    return (call->run + most - 1) / most;
}

static void list_call(mxci_comm *comm, mxci_call *call) {
    call->next = NULL;
    call->decided = call->finished = call->token = 0;
    call->run = call->share > 0 ? call->share : call->n;
    call->run_pieces = count_pieces(comm, call);
    call->pieces = call->share > 0 ? comm->size * call->run_pieces : call->run_pieces;
    *comm->calls_end = call;
    comm->calls_end = &call->next;
}

static void note_change(mxci_comm *comm, mxci_call *call) {
    if (!call->is_lost) {
        call->is_ready = 1;
        call->ready_ns = mxci_now_ns();
    } else if (comm->is_failed)
        mxci_comm_end_call(comm, call, comm->code, comm->message);
    else {
        mxci_watch_fail(comm, 1, MXC_EWORKER, "rank %d could not compute what it was to send: %s, step %lld",
                        comm->rank, call->what, (long long)call->step);
        mxci_comm_end_call(comm, call, comm->code, comm->message);
    }
}

/* See what the program has asked for; returns whether there was anything. */
static int take_calls(mxci_comm *comm) {
    mxci_mutex_lock(&comm->lock);
    mxci_call *announced = comm->announced, *changed = comm->changed, *next;
    comm->announced = comm->changed = NULL;
    comm->announced_end = &comm->announced;
    comm->changed_end = &comm->changed;
    mxci_mutex_unlock(&comm->lock);
    int any = announced || changed != NULL;
    for (; announced; announced = next) {
        next = announced->next_announced;
        list_call(comm, announced);
    }
    for (; changed; changed = next) {
        next = changed->next_changed;
        note_change(comm, changed);
    }
    return any;
}

/* ---- asking for it ----------------------------------------------------------------------------------------------- */

static void change(mxci_comm *comm, mxci_call *call, int wake) {
    mxci_mutex_lock(&comm->lock);
    *comm->changed_end = call;
    comm->changed_end = &call->next_changed;
    if (wake)
        mxci_cond_signal(&comm->asked);
    mxci_mutex_unlock(&comm->lock);
}

static void nudge(mxci_comm *comm) {
    mxci_mutex_lock(&comm->lock);
    comm->is_nudged = 1;
    mxci_cond_signal(&comm->asked);
    mxci_mutex_unlock(&comm->lock);
}

/* See a short call through here, if the communication thread is not at work: to wake it and be woken takes longer. Once
 * the driver's lock is dropped the call may have ended, and the communication with it. */
static void drive(mxci_comm *comm, mxci_call *call) {
    const int64_t seq = call->seq, bytes = call->n * mxci_call_width(call), end = mxci_now_ns() + DRIVE_NS + bytes;
    int is_over;
    change(comm, call, 0);
    do {
        take_calls(comm);
        mxci_transfer_step(comm);
        is_over = !mxci_transfer_find(comm, seq);
    } while (!is_over && mxci_now_ns() < end);
    if (!is_over)
        nudge(comm);
    mxci_mutex_unlock(&comm->driver);
}

void mxci_comm_ready(mxci_comm *comm, mxci_call *call) {
    if (call->n * mxci_call_width(call) <= SHORT_BYTES && mxci_mutex_trylock(&comm->driver))
        drive(comm, call);
    else
        change(comm, call, 1);
}

void mxci_comm_lost(mxci_comm *comm, mxci_call *call) {
    call->is_lost = 1;
    change(comm, call, 1);
}

typedef struct waiter {
    mxci_call call;
    mxci_comm *comm;
    int is_ended;
    mxc_status status;
    char message[MXC_ERROR_MAX];
} waiter;

static void end_waiting(mxci_call *call, mxc_status status, const char *message) {
    waiter *w = (waiter *)call;
    mxci_comm *comm = w->comm;
    snprintf(w->message, sizeof w->message, "%s", message ? message : "");
    mxci_mutex_lock(&comm->lock);
    w->status = status;
    w->is_ended = 1;
    mxci_cond_broadcast(&comm->ended);
    mxci_mutex_unlock(&comm->lock);
}

mxc_status mxci_comm_call(mxci_comm *comm, mxci_call *call) {
    waiter w = {.call = *call, .comm = comm};
    w.call.ended = end_waiting;
    mxci_comm_announce(comm, &w.call);
    mxci_comm_ready(comm, &w.call);
    mxci_mutex_lock(&comm->lock);
    while (!w.is_ended)
        mxci_cond_wait(&comm->ended, &comm->lock);
    mxci_mutex_unlock(&comm->lock);
    return w.status == MXC_OK ? MXC_OK : MXC_FAIL(w.status, "%s", w.message);
}

mxc_status mxci_comm_least(mxci_comm *comm, const char *what, int64_t *value) {
    int64_t *all = mxci_calloc((size_t)comm->size, sizeof *all);
    if (!all)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d ranks", comm->size);
    mxci_call call = {.kind = MXCI_CALL_GATHER, .n = sizeof *value, .what = what, .in = value, .out = all};
    mxc_status status = mxci_comm_call(comm, &call);
    for (int i = 0; i < comm->size && status == MXC_OK; i++)
        *value = all[i] < *value ? all[i] : *value;
    mxci_free(all);
    return status;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* Each look moves a part of what is on its way. */
static int step_transfers(mxci_comm *comm, int64_t now) {
    int64_t end = now < comm->spin_until_ns ? now + LOOK_NS : now;
    int moved = mxci_transfer_step(comm);
    while (mxci_transfer_flying(comm) > 0 && mxci_now_ns() < end)
        moved |= mxci_transfer_step(comm);
    return moved;
}

/* When to look again: at once while things move (at least a byte a nanosecond) and shortly after, then now and then;
 * when nothing can move but by a call or a beat, at the time of the beat. */
static int64_t next_look(mxci_comm *comm, int moved, int64_t now) {
    int busy = mxci_transfer_is_busy(comm) || comm->mailbox.receive != NULL;
    if (moved)
        comm->spin_until_ns = now + 1000 * mxci_option_get(MXCI_OPT_MXC_SPIN_US) + mxci_transfer_flying(comm);
    return now < comm->spin_until_ns ? now : now + (busy ? NAP_NS : mxci_watch_interval(comm));
}

static int64_t step(mxci_comm *comm, int64_t now) {
    int moved = take_calls(comm);
    mxci_watch_step(comm, now);
    moved |= step_transfers(comm, now);
    moved |= mxci_post_step(comm);
    return next_look(comm, moved, now);
}

static void rest_until(mxci_comm *comm, int64_t time) {
    mxci_mutex_lock(&comm->lock);
    if (!comm->announced && !comm->changed && !comm->posted && !comm->is_nudged)
        mxci_cond_wait_until(&comm->asked, &comm->lock, time);
    comm->is_nudged = 0;
    mxci_mutex_unlock(&comm->lock);
}

static void run(void *arg) {
    mxci_comm *comm = arg;
    int is_closed = !mxci_join_group(comm);
    while (!is_closed) {
        int64_t now = mxci_now_ns(), next;
        mxci_mutex_lock(&comm->driver);
        next = step(comm, now);
        is_closed = comm->is_closed;
        mxci_mutex_unlock(&comm->driver);
        if (next == now)
            mxci_thread_yield();
        else if (!is_closed)
            rest_until(comm, next);
    }
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static void end_closing(mxci_call *call, mxc_status status, const char *message) {
    mxci_comm *comm = (mxci_comm *)((char *)call - offsetof(mxci_comm, closing));
    (void)status, (void)message;
    comm->is_closed = 1;
}

void mxci_comm_free(mxci_comm *comm) {
    for (mxci_post *p = comm->stranded, *next; p; p = next) {
        next = p->next;
        mxci_free(p);
    }
    for (int i = 0; i < 2 * MXCI_FLIGHTS; i++)
        mxc_ndarray_release(comm->held[i]);
    mxci_cond_destroy(&comm->asked);
    mxci_cond_destroy(&comm->ended);
    mxci_mutex_destroy(&comm->driver);
    mxci_mutex_destroy(&comm->lock);
    mxci_free(comm->places);
    mxci_free(comm->failing);
    mxci_free(comm->arriving);
    mxci_free(comm);
}

mxc_status mxci_comm_open(const mxci_process_group_api *api, const mxci_comm_settings *settings,
                          const mxci_mailbox *mailbox, mxci_comm **out) {
    mxci_comm *comm = mxci_calloc(1, sizeof *comm);
    *out = NULL;
    if (!comm)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory to communicate");
    comm->api = api;
    comm->settings = *settings;
    if (mailbox)
        comm->mailbox = *mailbox;
    comm->announced_end = &comm->announced;
    comm->changed_end = &comm->changed;
    comm->posted_end = &comm->posted;
    comm->calls_end = &comm->calls;
    mxci_mutex_init(&comm->lock);
    mxci_mutex_init(&comm->driver);
    mxci_cond_init(&comm->asked);
    mxci_cond_init(&comm->ended);
    mxc_status status = mxci_thread_start(&comm->thread, "kvstore", run, comm);
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
    comm->closing = (mxci_call){.kind = MXCI_CALL_MEET, .what = "end of the store", .ended = end_closing};
    mxci_comm_announce(comm, &comm->closing);
    change(comm, &comm->closing, 1); /* the thread sees it through itself, as it is the one to end */
    mxci_thread_join(comm->thread);
    if (!mxci_devices_close(comm)) {
        (void)comm->api->close(comm->group, 0);
        return;
    }
    if (comm->api->close(comm->group, comm->code == MXC_OK) || comm->code == MXC_OK)
        mxci_comm_free(comm);
}

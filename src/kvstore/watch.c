/*
 * Who lives: each rank sends a beat to the next one, and misses those of the one before. A process on the same machine
 * that has ended is missed at once. Whoever finds a failure tells all the others.
 */
#include <string.h>

#include "base/text.h"
#include "kvstore/comm_state.h"
#include "kvstore/devices.h"

#define LOOK_NS 20000000    /* between looks at processes of this machine */
#define GRACE_NS 1000000000 /* in which a process may end before we know that it left as it should */

int64_t mxci_watch_interval(const mxci_comm *comm) {
    int64_t interval = comm->settings.timeout_ns / 8;
    return interval < 100000000 ? interval : 100000000;
}

/* ---- failing ----------------------------------------------------------------------------------------------------- */

const char *mxci_watch_where(const mxci_comm *comm, char *out) {
    const mxci_call *call = comm->calls;
    mxci_line line = {out, MXC_ERROR_MAX, 0};
    if (call && (call->kind == MXCI_CALL_SUM || call->kind == MXCI_CALL_BROADCAST))
        mxci_line_printf(&line, "%s, step %lld", call->what, (long long)call->step);
    else if (comm->last_what[0] != '\0')
        mxci_line_printf(&line, "%s after %s, step %lld", call ? call->what : "computing", comm->last_what,
                         (long long)comm->last_step);
    else
        mxci_line_printf(&line, "the beginning");
    return out;
}

static void tell_all(mxci_comm *comm) {
    comm->failure = (mxci_news){.is_failure = 1, .status = (int32_t)comm->code};
    mxci_format(comm->failure.text, sizeof comm->failure.text, "%s", comm->message);
    for (int i = 0; i < comm->size; i++)
        if (i != comm->rank) /* what cannot be told will be missed */
            MXC_IGNORE(comm->api->send(comm->group, MXCI_CHANNEL_CONTROL, i, &comm->failure, sizeof comm->failure, 0,
                                       &comm->failing[i]));
}

/* Keep the memory that transfers may still touch, and end their calls. */
static void drop_flights(mxci_comm *comm) {
    for (int i = 0; i < MXCI_FLIGHTS; i++) {
        mxci_call *call = comm->flights[i].call;
        for (int j = 0; call && j < 2; j++)
            if (call->arrays[j])
                comm->held[2 * i + j] = mxc_ndarray_retain(call->arrays[j]);
        comm->flights[i].call = NULL; /* the call is in the list, ready: it ends with the others */
    }
}

void mxci_watch_fail(mxci_comm *comm, int tell, mxc_status status, const char *format, ...) {
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
    if (tell)
        tell_all(comm);
    drop_flights(comm);
    mxci_devices_abort(comm);
}

int mxci_watch_failed(mxci_comm *comm, mxc_status status) {
    char where[MXC_ERROR_MAX];
    if (status == MXC_OK)
        return 0;
    mxci_watch_fail(comm, 1, status, "kvstore: rank %d: %.200s; %.200s", comm->rank, mxc_last_error(),
                    mxci_watch_where(comm, where));
    return 1;
}

/* ---- news -------------------------------------------------------------------------------------------------------- */

static mxc_status listen(mxci_comm *comm) {
    return comm->api->receive(comm->group, MXCI_CHANNEL_CONTROL, &comm->heard, sizeof comm->heard, &comm->hearing);
}

static mxc_status hear_news(mxci_comm *comm, int64_t now) {
    int done = 1;
    for (;;) {
        MXC_TRY(comm->api->test(comm->group, &comm->hearing, &done));
        if (!done)
            return MXC_OK;
        comm->heard.text[MXCI_NEWS_TEXT - 1] = '\0';
        if (comm->heard.is_failure)
            mxci_watch_fail(comm, 0, (mxc_status)comm->heard.status, "%s", comm->heard.text);
        else if (comm->hearing.from == (comm->rank + comm->size - 1) % comm->size) {
            comm->heard_ns = now;
            comm->slowest = comm->heard.slowest;
            comm->slowest_calls = comm->heard.n_calls;
        }
        MXC_TRY(listen(comm));
    }
}

/* What was heard goes round, until a slower rank puts itself in, or the slowest hears of itself. */
static void fill_beat(mxci_comm *comm) {
    mxci_mutex_lock(&comm->lock);
    int64_t own = comm->next_seq;
    mxci_mutex_unlock(&comm->lock);
    int is_own = comm->slowest == comm->rank || own <= comm->slowest_calls;
    comm->beat.slowest = is_own ? comm->rank : comm->slowest;
    comm->beat.n_calls = is_own ? own : comm->slowest_calls;
}

static mxc_status send_beat(mxci_comm *comm, int64_t now) {
    int done = 1;
    if (comm->is_beating)
        MXC_TRY(comm->api->test(comm->group, &comm->beating, &done));
    comm->is_beating = !done;
    if (comm->is_beating || now - comm->beat_ns < mxci_watch_interval(comm))
        return MXC_OK;
    comm->beat_ns = now;
    comm->is_beating = 1;
    fill_beat(comm);
    return comm->api->send(comm->group, MXCI_CHANNEL_CONTROL, (comm->rank + 1) % comm->size, &comm->beat,
                           sizeof comm->beat, 0, &comm->beating);
}

/* ---- looking after others ---------------------------------------------------------------------------------------- */

/* The first rank on this machine whose process has ended, or -1. */
static int find_gone(const mxci_comm *comm) {
    const mxci_place *here = &comm->places[comm->rank];
    for (int i = 0; i < comm->size; i++)
        if (i != comm->rank && comm->places[i].host == here->host && !mxci_process_is_alive(comm->places[i].process))
            return i;
    return -1;
}

static void look_at_processes(mxci_comm *comm, int64_t now) {
    char where[MXC_ERROR_MAX];
    if (now - comm->looked_ns < LOOK_NS)
        return;
    comm->looked_ns = now;
    int gone = find_gone(comm);
    if (gone < 0)
        return;
    if (comm->gone_ns == 0)
        comm->gone_ns = now;
    if (comm->closing.is_ready && now - comm->gone_ns < GRACE_NS)
        return;
    mxci_watch_fail(comm, 1, MXC_EWORKER, "kvstore: rank %d (process %lld) is gone; rank %d stands at %.300s", gone,
                    (long long)comm->places[gone].process, comm->rank, mxci_watch_where(comm, where));
}

static void look_for_silence(mxci_comm *comm, int64_t now) {
    char where[MXC_ERROR_MAX];
    int before = (comm->rank + comm->size - 1) % comm->size;
    if (now - comm->step_ns > comm->settings.timeout_ns / 2)
        comm->heard_ns = now; /* it was this process that stood still */
    comm->step_ns = now;
    if (now - comm->heard_ns > comm->settings.timeout_ns)
        mxci_watch_fail(comm, 1, MXC_EWORKER,
                        "kvstore: rank %d (process %lld) has been silent for %.1f s; rank %d "
                        "stands at %.300s",
                        before, (long long)comm->places[before].process, (double)(now - comm->heard_ns) * 1e-9,
                        comm->rank, mxci_watch_where(comm, where));
}

/* All live, but one does not come to a call for which the others are ready. */
static void look_for_stall(mxci_comm *comm, int64_t now) {
    char where[MXC_ERROR_MAX];
    const mxci_call *call = comm->calls;
    while (call && !call->is_ready)
        call = call->next;
    if (!call || comm->settings.stall_ns == 0 || now - call->ready_ns < comm->settings.stall_ns)
        return;
    mxci_watch_fail(comm, 1, MXC_EWORKER,
                    "kvstore: rank %d has waited for %.1f s at %.250s; rank %d lives, but has "
                    "made only %lld calls, %lld are needed",
                    comm->rank, (double)(now - call->ready_ns) * 1e-9, mxci_watch_where(comm, where),
                    (int)comm->slowest, (long long)comm->slowest_calls, (long long)call->seq + 1);
}

void mxci_watch_step(mxci_comm *comm, int64_t now) {
    if (comm->size == 1 || comm->is_failed || mxci_watch_failed(comm, hear_news(comm, now)) || comm->is_failed ||
        mxci_watch_failed(comm, send_beat(comm, now)))
        return;
    look_at_processes(comm, now);
    if (!comm->is_failed)
        look_for_silence(comm, now);
    if (!comm->is_failed)
        look_for_stall(comm, now);
}

mxc_status mxci_watch_open(mxci_comm *comm) {
    const mxci_place here = {mxci_host_id(), mxci_process_id()};
    comm->places = mxci_calloc((size_t)comm->size, sizeof *comm->places);
    comm->failing = mxci_calloc((size_t)comm->size, sizeof *comm->failing);
    if (!comm->places || !comm->failing)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d ranks", comm->size);
    MXC_TRY(mxci_join_gather(comm, &here, comm->places, sizeof here));
    comm->heard_ns = comm->step_ns = mxci_now_ns();
    return comm->size > 1 ? listen(comm) : MXC_OK;
}

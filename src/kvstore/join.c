/*
 * Coming together: the communication thread joins the group and compares what the ranks were told, while the program
 * waits for it. Joining may block inside the transport for as long as a process does not come: the program then goes on
 * without the thread, which cleans up when it is through.
 */
#include <string.h>

#include "base/text.h"
#include "kvstore/comm_state.h"

#define SPIN_NS 1000000 /* looks at a gathering without a pause, */
#define NAP_NS 1000000  /* and then with pauses */

static int is_abandoned(mxci_comm *comm) {
    mxci_mutex_lock(&comm->lock);
    int abandoned = comm->joining == MXCI_ABANDONED;
    mxci_mutex_unlock(&comm->lock);
    return abandoned;
}

mxc_status mxci_join_gather(mxci_comm *comm, const void *in, void *out, size_t bytes) {
    const int64_t spin_until = mxci_now_ns() + SPIN_NS;
    mxci_group_request gathering;
    int done = 0;
    MXC_TRY(comm->api->allgather(comm->group, in, out, bytes, &gathering));
    for (;;) {
        MXC_TRY(comm->api->test(comm->group, &gathering, &done));
        if (done)
            return MXC_OK;
        if (is_abandoned(comm))
            return MXC_FAIL(MXC_EWORKER, "kvstore: not all processes have come");
        if (mxci_now_ns() > spin_until)
            mxci_sleep_ns(NAP_NS);
    }
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* The first line of each text that is not in the other's place. */
static mxc_status refuse_rank(int rank, const char *ours, const char *theirs) {
    size_t n = strcspn(ours, "\n"), m = strcspn(theirs, "\n");
    while (n == m && n > 0 && memcmp(ours, theirs, n) == 0) {
        ours += n + (ours[n] == '\n');
        theirs += m + (theirs[m] == '\n');
        n = strcspn(ours, "\n");
        m = strcspn(theirs, "\n");
    }
    return MXC_FAIL(MXC_EWORKER, "kvstore: rank 0 has %.*s, rank %d has %.*s: all must be given the same", (int)n, ours,
                    rank, (int)m, theirs);
}

/* Every rank compares all, so that all find the same. */
static mxc_status compare_terms(mxci_comm *comm, char (*all)[MXCI_TERMS]) {
    MXC_TRY(mxci_join_gather(comm, comm->settings.terms, all, MXCI_TERMS));
    for (int i = 0; i < comm->size; i++) {
        all[i][MXCI_TERMS - 1] = '\0';
        if (strcmp(all[i], all[0]) != 0) {
            comm->all_leave = 1;
            return refuse_rank(i, all[0], all[i]);
        }
    }
    return MXC_OK;
}

/* The first thing that ranks exchange, of a size that never changes: it also tells versions apart. */
static mxc_status agree(mxci_comm *comm) {
    char(*all)[MXCI_TERMS] = mxci_calloc((size_t)comm->size, sizeof *all);
    if (!all)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d ranks", comm->size);
    mxc_status status = compare_terms(comm, all);
    mxci_free(all);
    return status;
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

static mxc_status join_all(mxci_comm *comm) {
    MXC_TRY(comm->api->open(&comm->group));
    mxci_mutex_lock(&comm->lock);
    comm->rank = comm->api->rank(comm->group);
    comm->size = comm->api->size(comm->group);
    mxci_mutex_unlock(&comm->lock);
    MXC_TRY(agree(comm));
    return mxci_watch_open(comm);
}

static void leave(mxci_comm *comm) {
    if (!comm->group || comm->api->close(comm->group, comm->all_leave))
        mxci_comm_free(comm);
}

int mxci_join_group(mxci_comm *comm) {
    mxc_status status = join_all(comm);
    mxci_mutex_lock(&comm->lock);
    int is_awaited = comm->joining != MXCI_ABANDONED;
    if (is_awaited) {
        comm->joining = status == MXC_OK ? MXCI_JOINED : MXCI_REFUSED;
        comm->code = status;
        mxci_format(comm->message, sizeof comm->message, "%s", status != MXC_OK ? mxc_last_error() : "");
        mxci_cond_broadcast(&comm->ended);
    }
    mxci_mutex_unlock(&comm->lock);
    if (!is_awaited && status == MXC_OK) /* the others have come after all */
        mxci_watch_fail(comm, 1, MXC_EWORKER, "kvstore: rank %d gave up waiting for all processes (join_timeout)",
                        comm->rank);
    if (!is_awaited)
        leave(comm);
    return is_awaited && status == MXC_OK;
}

/* The lock is held. What is known: not who has not come, as the transport waits for all at once. */
static mxc_status give_up(mxci_comm *comm) {
    char who[64] = "";
    if (comm->size > 0)
        mxci_format(who, sizeof who, " (this is rank %d of %d)", comm->rank, comm->size);
    comm->joining = MXCI_ABANDONED;
    return MXC_FAIL(MXC_EWORKER,
                    "kvstore: not all processes of the job have made the store in %.4g s (join_timeout)%s; each must "
                    "call mxc_kvstore_create",
                    (double)comm->settings.join_ns * 1e-9, who);
}

mxc_status mxci_join_await(mxci_comm *comm) {
    const int64_t until = comm->settings.join_ns > 0 ? mxci_now_ns() + comm->settings.join_ns : INT64_MAX;
    const mxci_thread thread = comm->thread;
    mxc_status status = MXC_OK;
    mxci_mutex_lock(&comm->lock);
    while (comm->joining == MXCI_JOINING && mxci_cond_wait_until(&comm->ended, &comm->lock, until))
        ;
    if (comm->joining == MXCI_JOINING)
        status = give_up(comm);
    else if (comm->joining == MXCI_REFUSED)
        status = MXC_FAIL(comm->code, "%s", comm->message);
    int is_ours = comm->joining != MXCI_ABANDONED;
    mxci_mutex_unlock(&comm->lock);
    if (!is_ours)
        mxci_thread_detach(thread);
    else if (status != MXC_OK) {
        mxci_thread_join(thread);
        leave(comm);
    }
    return status;
}

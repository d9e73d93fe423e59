/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joining the group: the communication thread opens the transport and compares the ranks' configurations, while the
 * program waits for it. Opening the transport may block for as long as one process does not join, and cannot be
 * cancelled; after join_timeout the program goes on without the thread, which then owns comm and frees it.
 */
#include <string.h>

#include "base/text.h"
#include "kvstore/comm_state.h"

#define SPIN_NS 1000000      /* of polling without a pause, */
#define IDLE_POLL_NS 1000000 /* and then between polls */

mxc_status mxci_join_allgather(mxci_comm *comm, const void *in, void *out, size_t bytes) {
    const int64_t spin_until = mxci_now_ns() + SPIN_NS;
    mxci_group_request transfer;
    int done = 0;
    MXC_TRY(comm->api->allgather(comm->group, in, out, bytes, &transfer));
    for (;;) {
        MXC_TRY(comm->api->test(comm->group, &transfer, &done));
        if (done)
            return MXC_OK;
        mxci_mutex_lock(&comm->lock);
        int is_abandoned = comm->join_state == MXCI_ABANDONED;
        mxci_mutex_unlock(&comm->lock);
        if (is_abandoned)
            return MXC_FAIL(MXC_EWORKER, "kvstore: not all processes have joined");
        if (mxci_now_ns() > spin_until)
            mxci_sleep_ns(IDLE_POLL_NS);
    }
}

/* ---- configuration ----------------------------------------------------------------------------------------------- */

/* Fail with the first line in which the two configurations differ. */
static mxc_status fail_different_config(int rank, const char *ours, const char *theirs) {
    size_t n = strcspn(ours, "\n"), m = strcspn(theirs, "\n");
    while (n == m && n > 0 && memcmp(ours, theirs, n) == 0) {
        ours += n + (ours[n] == '\n');
        theirs += m + (theirs[m] == '\n');
        n = strcspn(ours, "\n");
        m = strcspn(theirs, "\n");
    }
    return MXC_FAIL(MXC_EWORKER, "kvstore: rank 0 has %.*s, rank %d has %.*s: all processes must be given the same",
                    (int)n, ours, rank, (int)m, theirs);
}

/* Exchange the configurations, the first message of the protocol; its size never changes, so that different versions
 * of the library can compare it. Every rank compares all of them, so that all find the same difference and leave
 * together. */
static mxc_status check_configs(mxci_comm *comm) {
    char(*all)[MXCI_CONFIG_TEXT] = mxci_calloc((size_t)comm->size, sizeof *all);
    if (!all)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d ranks", comm->size);
    mxc_status status = mxci_join_allgather(comm, comm->settings.config, all, MXCI_CONFIG_TEXT);
    for (int i = 0; i < comm->size && status == MXC_OK; i++) {
        all[i][MXCI_CONFIG_TEXT - 1] = '\0';
        if (strcmp(all[i], all[0]) != 0) {
            comm->all_leave = 1;
            status = fail_different_config(i, all[0], all[i]);
        }
    }
    mxci_free(all);
    return status;
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

static mxc_status open_group(mxci_comm *comm) {
    MXC_TRY(comm->api->open(&comm->group));
    mxci_mutex_lock(&comm->lock);
    comm->rank = comm->api->rank(comm->group);
    comm->size = comm->api->size(comm->group);
    mxci_mutex_unlock(&comm->lock);
    MXC_TRY(check_configs(comm));
    return mxci_liveness_open(comm);
}

/* A transport that is still in use keeps the memory of comm until the process ends. */
static void leave_group(mxci_comm *comm) {
    if (!comm->group || comm->api->close(comm->group, comm->all_leave))
        mxci_comm_free(comm);
}

/* Reports the result to the thread that waits in mxci_join_await, or cleans up if that has given up. */
int mxci_join_group(mxci_comm *comm) {
    mxc_status status = open_group(comm);
    mxci_mutex_lock(&comm->lock);
    int is_waited_for = comm->join_state != MXCI_ABANDONED;
    if (is_waited_for) {
        comm->join_state = status == MXC_OK ? MXCI_JOINED : MXCI_REFUSED;
        comm->code = status;
        mxci_format(comm->message, sizeof comm->message, "%s", status != MXC_OK ? mxc_last_error() : "");
        mxci_cond_broadcast(&comm->completed);
    }
    mxci_mutex_unlock(&comm->lock);
    if (!is_waited_for && status == MXC_OK) /* all others have joined after all */
        mxci_comm_fail(comm, 1, MXC_EWORKER, "kvstore: rank %d gave up waiting for all processes (join_timeout)",
                       comm->rank);
    if (!is_waited_for)
        leave_group(comm);
    return is_waited_for && status == MXC_OK;
}

/* The lock is held. Which process is missing is not known, since the transport waits for all at once. */
static mxc_status give_up(mxci_comm *comm) {
    char position[64] = "";
    if (comm->size > 0)
        mxci_format(position, sizeof position, " (this is rank %d of %d)", comm->rank, comm->size);
    comm->join_state = MXCI_ABANDONED;
    return MXC_FAIL(MXC_EWORKER,
                    "kvstore: not all processes of the job have made the store in %.4g s (join_timeout)%s; each must "
                    "call mxc_kvstore_create",
                    (double)comm->settings.join_ns * 1e-9, position);
}

mxc_status mxci_join_await(mxci_comm *comm) {
    const int64_t until = comm->settings.join_ns > 0 ? mxci_now_ns() + comm->settings.join_ns : INT64_MAX;
    const mxci_thread thread = comm->thread;
    mxc_status status = MXC_OK;
    mxci_mutex_lock(&comm->lock);
    while (comm->join_state == MXCI_JOINING && mxci_cond_wait_until(&comm->completed, &comm->lock, until))
        ;
    if (comm->join_state == MXCI_JOINING)
        status = give_up(comm);
    else if (comm->join_state == MXCI_REFUSED)
        status = MXC_FAIL(comm->code, "%s", comm->message);
    int is_ours = comm->join_state != MXCI_ABANDONED;
    mxci_mutex_unlock(&comm->lock);
    if (!is_ours)
        mxci_thread_detach(thread);
    else if (status != MXC_OK) {
        mxci_thread_join(thread);
        leave_group(comm);
    }
    return status;
}

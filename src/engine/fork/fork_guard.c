/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guard is a count of the threads inside, spread over several cache lines, and a flag that fork() sets. Both are
 * accessed with sequential consistency: a thread counts itself and then looks at the flag, fork() sets the flag and
 * then sums the counts, so that at least one of the two sees the other.
 */
#include "engine/fork/fork_guard.h"

#include "base/sys.h"

enum { COUNTERS = 16, YIELDS = 1000, NAP_NS = 50000 };

/* How many threads are inside. A thread uses the counter of its number. */
static struct counter { _Alignas(MXCI_CACHE_LINE) _Atomic int32_t inside; } counters[COUNTERS];

_Atomic uint32_t mxci_fork_requested;
static MXCI_THREAD_LOCAL int depth;
static MXCI_THREAD_LOCAL int index_plus_one;
static _Atomic int32_t thread_count;

static mxci_global_mutex members_lock = MXCI_GLOBAL_MUTEX_INIT; /* guards what follows; held throughout fork() */
static mxci_fork_member *members;
static int registered;
static int forker_depth; /* how deep the thread that forks is inside the guard */

/* Threads of this process: the one that forked it, and those whose number is at least first_own. */
static int forker, first_own;

int mxci_thread_index(void) {
    if (!index_plus_one)
        index_plus_one = (atomic_fetch_add(&thread_count, 1) & 0x3fffffff) + 1;
    return index_plus_one - 1;
}

int mxci_thread_is_lost(int index) {
    return index < first_own && index != forker;
}

static struct counter *my_counter(void) {
    return &counters[mxci_thread_index() % COUNTERS];
}

static void fork_guard_enter(void) {
    struct counter *counter = my_counter();
    for (;;) {
        atomic_fetch_add(&counter->inside, 1);
        if (!atomic_load(&mxci_fork_requested))
            return;
        atomic_fetch_sub(&counter->inside, 1);
        mxci_park(&mxci_fork_requested, 1, INT64_MAX);
    }
}

void mxci_fork_guard_enter(void) {
    if (depth++ == 0)
        fork_guard_enter();
}

void mxci_fork_guard_leave(void) {
    if (--depth == 0)
        atomic_fetch_sub(&my_counter()->inside, 1);
}

int mxci_fork_guard_suspend(void) {
    int before = depth;
    depth = 0;
    if (before)
        atomic_fetch_sub(&my_counter()->inside, 1);
    return before;
}

void mxci_fork_guard_resume(int before) {
    if (before)
        fork_guard_enter();
    depth = before;
}

/* Wait until no thread is inside. */
static void wait_for_empty(void) {
    for (int round = 0;; round++) {
        int inside = 0;
        for (int i = 0; i < COUNTERS; i++)
            inside += atomic_load(&counters[i].inside);
        if (inside == 0)
            return;
        if (round < YIELDS)
            mxci_thread_yield();
        else
            mxci_sleep_ns(NAP_NS);
    }
}

/* Lets the threads that wait to enter go on. */
static void end_request(void) {
    atomic_store(&mxci_fork_requested, 0);
    mxci_unpark(&mxci_fork_requested, INT32_MAX);
}

/* A thread that forks inside a function leaves the guard first, since another thread may be forking, too. */
static void fork_guard_prepare(void) {
    int before = mxci_fork_guard_suspend();
    mxci_global_lock(&members_lock);
    forker_depth = before;
    atomic_store(&mxci_fork_requested, 1);
    wait_for_empty();
    for (mxci_fork_member *m = members; m; m = m->next)
        m->handlers->lock(m);
}

static void parent(void) {
    int before = forker_depth;
    for (mxci_fork_member *m = members; m; m = m->next)
        m->handlers->unlock(m);
    end_request();
    mxci_global_unlock(&members_lock);
    mxci_fork_guard_resume(before);
}

static void child(void) {
    forker = mxci_thread_index();
    first_own = atomic_load(&thread_count) & 0x3fffffff;
    for (int i = 0; i < COUNTERS; i++)
        atomic_store(&counters[i].inside, 0);
    depth = forker_depth;
    if (depth)
        atomic_store(&my_counter()->inside, 1);
    for (mxci_fork_member *m = members; m; m = m->next)
        m->handlers->unlock(m);
    for (mxci_fork_member *m = members; m; m = m->next)
        m->handlers->child(m);
    end_request();
    mxci_global_unlock(&members_lock);
}

mxc_status mxci_fork_guard_add(mxci_fork_member *member) {
    mxc_status status = MXC_OK;
    mxci_global_lock(&members_lock);
    if (!registered)
        status = mxci_at_fork_before_locks(fork_guard_prepare, parent, child);
    if (status == MXC_OK) {
        registered = 1;
        member->next = members;
        members = member;
    }
    mxci_global_unlock(&members_lock);
    return status;
}

void mxci_fork_guard_remove(mxci_fork_member *member) {
    mxci_fork_member **at = &members;
    mxci_global_lock(&members_lock);
    while (*at != member)
        at = &(*at)->next;
    *at = member->next;
    mxci_global_unlock(&members_lock);
}

mxc_status mxci_fork_guard_visit(const mxci_stream_list *but, mxc_status (*visit)(mxci_stream_list *streams, void *arg),
                                 void *arg) {
    mxc_status status = MXC_OK;
    int before =
        mxci_fork_guard_suspend(); /* a thread that forks holds the lock while it waits for this one to leave */
    mxci_global_lock(&members_lock);
    for (mxci_fork_member *m = members; m && status == MXC_OK; m = m->next)
        if (m->streams != but)
            status = visit(m->streams, arg);
    mxci_global_unlock(&members_lock);
    mxci_fork_guard_resume(before);
    return status;
}

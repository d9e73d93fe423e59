/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers around fork(), and locks that are free in its child. pthread_atfork calls prepare handlers in the reverse
 * order of their registration, which depends on the modules that a program happens to use. Here the order is fixed:
 * running work is quiesced first, then global mutexes and the other modules' locks are taken, since the work needs
 * those locks to end.
 */
#include <stdatomic.h>

#include "base/sys.h"

enum { LOCKS, QUIESCE, STAGES }; /* prepare handlers of QUIESCE run before those of LOCKS */
enum { HANDLERS = 32 };

typedef struct handlers {
    void (*prepare)(void), (*parent)(void), (*child)(void);
} handlers;

static mxci_mutex lock = MXCI_MUTEX_INIT; /* guards what follows */
static handlers registered[STAGES][HANDLERS];
static int counts[STAGES], has_atfork;
static mxci_global_mutex *globals;
static _Thread_local int active[STAGES]; /* counts when this thread began to fork; its address also names the thread */

static void sys_fork_call(void (*handler)(void)) {
    if (handler)
        handler();
}

/* Take every global mutex that this thread does not hold, and lock. All or none, with a new attempt after a yield: a
 * thread that holds one may be about to take another one, in any order. */
static void take_globals(void) {
    for (;;) {
        mxci_global_mutex *m;
        mxci_mutex_lock(&lock);
        for (m = globals; m; m = m->next) {
            m->kept = atomic_load(&m->holder) == active;
            if (!m->kept && !mxci_mutex_trylock(&m->mutex))
                break;
        }
        if (!m)
            return;
        for (mxci_global_mutex *taken = globals; taken != m; taken = taken->next)
            if (!taken->kept)
                mxci_mutex_unlock(&taken->mutex);
        mxci_mutex_unlock(&lock);
        mxci_thread_yield();
    }
}

static void drop_globals(void) {
    for (mxci_global_mutex *m = globals; m; m = m->next)
        if (!m->kept)
            mxci_mutex_unlock(&m->mutex);
    mxci_mutex_unlock(&lock);
}

/* Nothing is locked while QUIESCE handlers run: the work that they wait for may register a handler. */
static void prepare(void) {
    mxci_mutex_lock(&lock);
    for (int stage = 0; stage < STAGES; stage++)
        active[stage] = counts[stage];
    mxci_mutex_unlock(&lock);
    for (int i = active[QUIESCE]; i-- > 0;)
        sys_fork_call(registered[QUIESCE][i].prepare);
    take_globals();
    for (int i = active[LOCKS]; i-- > 0;)
        sys_fork_call(registered[LOCKS][i].prepare);
}

static void parent(void) {
    for (int i = 0; i < active[LOCKS]; i++)
        sys_fork_call(registered[LOCKS][i].parent);
    drop_globals();
    for (int i = 0; i < active[QUIESCE]; i++)
        sys_fork_call(registered[QUIESCE][i].parent);
}

static void child(void) {
    for (int i = 0; i < active[LOCKS]; i++)
        sys_fork_call(registered[LOCKS][i].child);
    drop_globals();
    for (int i = 0; i < active[QUIESCE]; i++)
        sys_fork_call(registered[QUIESCE][i].child);
}

/* lock is held. */
static mxc_status register_once(void) {
    if (!has_atfork && pthread_atfork(prepare, parent, child))
        return MXC_FAIL(MXC_ENOMEM, "no memory to prepare for fork");
    has_atfork = 1;
    return MXC_OK;
}

static mxc_status sys_fork_add(int stage, handlers h) {
    mxc_status status;
    mxci_mutex_lock(&lock);
    status = register_once();
    if (status == MXC_OK && counts[stage] == HANDLERS)
        status = MXC_FAIL(MXC_ENOMEM, "no room to prepare for fork: %d handlers are registered", HANDLERS);
    if (status == MXC_OK)
        registered[stage][counts[stage]++] = h;
    mxci_mutex_unlock(&lock);
    return status;
}

mxc_status mxci_at_fork(void (*prepare_one)(void), void (*parent_one)(void), void (*child_one)(void)) {
    return sys_fork_add(LOCKS, (handlers){prepare_one, parent_one, child_one});
}

mxc_status mxci_at_fork_before_locks(void (*prepare_one)(void), void (*parent_one)(void), void (*child_one)(void)) {
    return sys_fork_add(QUIESCE, (handlers){prepare_one, parent_one, child_one});
}

/* Without memory to register for forks the mutex works, but fork() does not wait for it; the next call tries again. */
static void enlist(mxci_global_mutex *m) {
    mxci_mutex_lock(&lock);
    if (!atomic_load(&m->listed) && register_once() == MXC_OK) {
        m->next = globals;
        globals = m;
        atomic_store(&m->listed, 1);
    }
    mxci_mutex_unlock(&lock);
}

void mxci_global_lock(mxci_global_mutex *m) {
    if (!atomic_load_explicit(&m->listed, memory_order_acquire))
        enlist(m);
    mxci_mutex_lock(&m->mutex);
    atomic_store_explicit(&m->holder, active, memory_order_relaxed);
}

void mxci_global_unlock(mxci_global_mutex *m) {
    atomic_store_explicit(&m->holder, NULL, memory_order_relaxed);
    mxci_mutex_unlock(&m->mutex);
}

/*
 * Handlers around fork(), and locks that are free in its child. The system alone would call the handlers that were
 * registered last first, which is whatever modules a program happened to use; here work is brought to rest before
 * anybody's locks are taken, since running work needs those locks to end.
 */
#include <stdatomic.h>

#include "base/sys.h"

enum { HOOKS = 32 };

typedef struct hook {
    void (*prepare)(void), (*parent)(void), (*child)(void);
} hook;

static mxci_mutex lock = MXCI_MUTEX_INIT; /* guards what follows */
static hook hooks[2][HOOKS];              /* [1]: those that bring work to rest */
static int counts[2], registered;
static mxci_global_mutex *globals;
static _Thread_local int active[2]; /* counts as they were when this thread began to fork */

static void call(void (*handler)(void)) {
    if (handler)
        handler();
}

/* Take every global lock that this thread does not hold, and lock. All or none: a thread that holds one may be about to
 * take another one. */
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

/* Nothing is locked while the handlers run that bring work to rest: the work may add a handler. */
static void prepare(void) {
    mxci_mutex_lock(&lock);
    for (int quiet = 0; quiet < 2; quiet++)
        active[quiet] = counts[quiet];
    mxci_mutex_unlock(&lock);
    for (int i = active[1]; i-- > 0;)
        call(hooks[1][i].prepare);
    take_globals();
    for (int i = active[0]; i-- > 0;)
        call(hooks[0][i].prepare);
}

static void parent(void) {
    for (int i = 0; i < active[0]; i++)
        call(hooks[0][i].parent);
    drop_globals();
    for (int i = 0; i < active[1]; i++)
        call(hooks[1][i].parent);
}

static void child(void) {
    for (int i = 0; i < active[0]; i++)
        call(hooks[0][i].child);
    drop_globals();
    for (int i = 0; i < active[1]; i++)
        call(hooks[1][i].child);
}

/* lock is held. */
static mxc_status register_once(void) {
    if (!registered && pthread_atfork(prepare, parent, child))
        return MXC_FAIL(MXC_ENOMEM, "no memory to prepare for fork");
    registered = 1;
    return MXC_OK;
}

static mxc_status add(int quiet, hook h) {
    mxc_status status;
    mxci_mutex_lock(&lock);
    status = register_once();
    if (status == MXC_OK && counts[quiet] == HOOKS)
        status = MXC_FAIL(MXC_ENOMEM, "no room to prepare for fork: %d handlers are there", HOOKS);
    if (status == MXC_OK)
        hooks[quiet][counts[quiet]++] = h;
    mxci_mutex_unlock(&lock);
    return status;
}

mxc_status mxci_at_fork(void (*prepare_one)(void), void (*parent_one)(void), void (*child_one)(void)) {
    return add(0, (hook){prepare_one, parent_one, child_one});
}

mxc_status mxci_at_fork_before_locks(void (*prepare_one)(void), void (*parent_one)(void), void (*child_one)(void)) {
    return add(1, (hook){prepare_one, parent_one, child_one});
}

/* Without memory to register for forks the lock works, but is not known to fork(); the next call tries again. */
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

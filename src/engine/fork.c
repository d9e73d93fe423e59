/*
 * Engines and fork(): before it, dispatch pauses and running functions end; in the child, threads are started again
 * when they are needed. A function that was waiting inside the engine, or an asynchronous one that had not ended,
 * cannot go on in the child, where its thread is gone: mxci_engine_resume ends it there as canceled.
 */
#include "engine/fork.h"

#include "base/sys.h"
#include "engine/engine.h"

enum { GATES = 16, YIELDS = 1000, NAP_NS = 50000 };

/* How many threads are inside; spread so that threads do not share a line. */
static struct gate { _Alignas(MXCI_CACHE_LINE) _Atomic int32_t inside; } gates[GATES];

_Atomic uint32_t mxci_gate_closed;
static MXCI_THREAD_LOCAL int depth;
static MXCI_THREAD_LOCAL int index_plus_one;
static _Atomic int32_t thread_count;

static mxci_global_mutex engines_lock = MXCI_GLOBAL_MUTEX_INIT;
static mxc_engine *engines;
static int prepared;
static int forker_depth; /* of the thread that forks; under engines_lock */

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

static struct gate *my_gate(void) {
    return &gates[mxci_thread_index() % GATES];
}

static void pass(void) {
    struct gate *gate = my_gate();
    for (;;) {
        atomic_fetch_add(&gate->inside, 1);
        if (!atomic_load(&mxci_gate_closed))
            return;
        atomic_fetch_sub(&gate->inside, 1);
        mxci_park(&mxci_gate_closed, 1, INT64_MAX);
    }
}

void mxci_gate_enter(void) {
    if (depth++ == 0)
        pass();
}

void mxci_gate_leave(void) {
    if (--depth == 0)
        atomic_fetch_sub(&my_gate()->inside, 1);
}

int mxci_gate_suspend(void) {
    int before = depth;
    depth = 0;
    if (before)
        atomic_fetch_sub(&my_gate()->inside, 1);
    return before;
}

void mxci_gate_resume(int before) {
    if (before)
        pass();
    depth = before;
}

/* Wait until no thread is inside. */
static void wait_for_empty(void) {
    for (int round = 0;; round++) {
        int inside = 0;
        for (int i = 0; i < GATES; i++)
            inside += atomic_load(&gates[i].inside);
        if (inside == 0)
            return;
        if (round < YIELDS)
            mxci_thread_yield();
        else
            mxci_sleep_ns(NAP_NS);
    }
}

static void each_engine(void (*visit)(mxc_engine *)) {
    for (mxc_engine *e = engines; e; e = e->next)
        visit(e);
}

static void open_gate(void) {
    atomic_store(&mxci_gate_closed, 0);
    mxci_unpark(&mxci_gate_closed, INT32_MAX);
}

/* A thread that forks inside a function steps out of it, for another one may be forking, too. */
static void prepare(void) {
    int before = mxci_gate_suspend();
    mxci_global_lock(&engines_lock);
    forker_depth = before;
    atomic_store(&mxci_gate_closed, 1);
    wait_for_empty();
    each_engine(mxci_engine_lock_stripes);
}

static void parent(void) {
    int before = forker_depth;
    each_engine(mxci_engine_unlock_stripes);
    open_gate();
    mxci_global_unlock(&engines_lock);
    mxci_gate_resume(before);
}

static void child(void) {
    forker = mxci_thread_index();
    first_own = atomic_load(&thread_count) & 0x3fffffff;
    for (int i = 0; i < GATES; i++)
        atomic_store(&gates[i].inside, 0);
    depth = forker_depth;
    if (depth)
        atomic_store(&my_gate()->inside, 1);
    each_engine(mxci_engine_unlock_stripes);
    each_engine(mxci_engine_forked);
    open_gate();
    mxci_global_unlock(&engines_lock);
}

mxc_status mxci_fork_add(mxc_engine *engine) {
    mxc_status status = MXC_OK;
    mxci_global_lock(&engines_lock);
    if (!prepared)
        status = mxci_at_fork_quiet(prepare, parent, child);
    if (status == MXC_OK) {
        prepared = 1;
        engine->next = engines;
        engines = engine;
    }
    mxci_global_unlock(&engines_lock);
    return status;
}

void mxci_fork_remove(mxc_engine *engine) {
    mxc_engine **at = &engines;
    mxci_global_lock(&engines_lock);
    while (*at != engine)
        at = &(*at)->next;
    *at = engine->next;
    mxci_global_unlock(&engines_lock);
}

mxc_status mxci_fork_visit(const mxc_engine *but, mxc_status (*visit)(mxc_engine *engine, void *arg), void *arg) {
    mxc_status status = MXC_OK;
    int before = mxci_gate_suspend(); /* a thread that forks holds the lock while it waits for the gate */
    mxci_global_lock(&engines_lock);
    for (mxc_engine *e = engines; e && status == MXC_OK; e = e->next)
        if (e != but)
            status = visit(e, arg);
    mxci_global_unlock(&engines_lock);
    mxci_gate_resume(before);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After fork() the child has the engine's queues but only one of its threads. Counters of threads are reset at once;
 * the rest waits until the child uses the engine. Then a function that was waiting inside the engine, and an
 * asynchronous one that had not ended, complete as canceled, since their threads are gone; and workers are started for
 * what is queued.
 */
#include "engine/fork/fork_child.h"

#include "engine/schedule/complete.h"

/* mxc_engine.fork_state: running -- fork, in the child --> forked -- resume --> running; to threadless instead if
 * threads could not be started, so that lost tasks are not canceled twice. */
enum { RUNNING, FORKED, THREADLESS };

static mxc_engine *engine_of(mxci_fork_member *member) {
    return (mxc_engine *)(void *)((char *)member - offsetof(mxc_engine, fork_member));
}

static void lock_stripes(mxci_fork_member *member) {
    for (int i = 0; i < MXCI_STRIPES; i++)
        mxci_lock_acquire(&engine_of(member)->stripes[i].lock);
}

static void unlock_stripes(mxci_fork_member *member) {
    for (int i = 0; i < MXCI_STRIPES; i++)
        mxci_lock_release(&engine_of(member)->stripes[i].lock);
}

static void forget_threads(mxci_fork_member *member) {
    mxc_engine *engine = engine_of(member);
    mxci_threaded *threaded = &engine->threaded;
    atomic_store(&engine->fork_state, FORKED);
    atomic_store(&engine->waiters.sleeping, 0);
    atomic_store(&engine->waiters.spinning, 0);
    atomic_store(&engine->draining, 0);
    atomic_store(&engine->completing, 0);
    if (atomic_load(&engine->seeded.owner) != (uint32_t)mxci_thread_index() + 1)
        atomic_store(&engine->seeded.owner, 0);
    mxci_mutex_init(&threaded->mutex);
    mxci_mutex_init(&engine->wait_all_mutex);
    mxci_streams_forked(&engine->streams);
    mxci_thread_slots_forked(&engine->slots);
    for (mxci_worker_pool *pool = atomic_load(&threaded->devices); pool; pool = pool->next)
        mxci_worker_pool_forked(pool);
    if (threaded->cpu) {
        mxci_worker_pool_forked(threaded->io);
        mxci_worker_pool_forked(threaded->cpu);
    }
}

const mxci_fork_handlers mxci_engine_fork_handlers = {
    .lock = lock_stripes,
    .unlock = unlock_stripes,
    .child = forget_threads,
};

static mxc_status start_pools(mxci_threaded *threaded) {
    if (!threaded->cpu)
        return MXC_OK;
    MXC_TRY(mxci_worker_pool_start(threaded->cpu));
    MXC_TRY(mxci_worker_pool_start(threaded->io));
    for (mxci_worker_pool *pool = atomic_load(&threaded->devices); pool; pool = pool->next)
        MXC_TRY(mxci_worker_pool_start(pool));
    return MXC_OK;
}

mxc_status mxci_engine_resume_slow(mxc_engine *engine) {
    uint32_t state = atomic_exchange(&engine->fork_state, RUNNING);
    mxc_status status;
    if (state == RUNNING)
        return MXC_OK;
    if (state == FORKED) { /* before any thread runs here, so that the slots hold what the parent's threads had begun */
        mxci_task_list ready = {NULL, NULL};
        mxci_fork_guard_enter();
        mxci_tasks_cancel_lost(engine, &ready);
        mxci_engine_dispatch(engine, &ready);
        mxci_fork_guard_leave();
    }
    status = start_pools(&engine->threaded);
    if (status != MXC_OK)
        atomic_store(&engine->fork_state, THREADLESS);
    return status;
}

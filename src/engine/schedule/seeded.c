/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seeded kind, for tests: pushes only enqueue; waits run ready tasks, one after the other, in an order that the
 * seed picks among all that the dependencies allow. The completion of an asynchronous function is one more event in
 * this order. One seed is one schedule, as long as one thread pushes and waits.
 */
#include "engine/engine.h"
#include "engine/schedule/complete.h"
#include "engine/schedule/run_task.h"

static int seeded_runs_inline(const mxci_operation *operation) {
    (void)operation;
    return 0;
}

/* splitmix64; the lock is held */
static uint32_t random_number(mxci_seeded *s) {
    uint64_t z = s->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32);
}

static uint32_t seeded_random(mxc_engine *engine) {
    uint32_t number;
    mxci_lock_acquire(&engine->seeded.lock);
    number = random_number(&engine->seeded);
    mxci_lock_release(&engine->seeded.lock);
    return number;
}

static void seeded_enqueue(mxc_engine *engine, mxci_engine_task *task) {
    mxci_lock_acquire(&engine->seeded.lock);
    mxci_task_list_add(&engine->seeded.ready, task);
    engine->seeded.count++;
    mxci_lock_release(&engine->seeded.lock);
}

static void seeded_wake(mxc_engine *engine, mxci_worker_pool *pool) {
    (void)pool;
    mxci_eventcount_notify_all(&engine->waiters);
}

/* The second event enqueues the task once more, with done set: then it is completed, not run. */
static int seeded_async_event(mxci_engine_task *task, int completed) {
    mxc_engine *engine = task->home->engine;
    (void)completed;
    if (atomic_fetch_sub_explicit(&task->async_events, 1, memory_order_acq_rel) != 1)
        return 0;
    atomic_store_explicit(&task->done, 1, memory_order_relaxed);
    seeded_enqueue(engine, task);
    mxci_eventcount_notify_all(&engine->waiters);
    return 0;
}

/* Takes one of the ready tasks at random; NULL if there are none. */
static mxci_engine_task *pick(mxci_seeded *s) {
    mxci_engine_task *task = NULL;
    mxci_lock_acquire(&s->lock);
    if (s->count) {
        uint32_t skip = random_number(s) % s->count--;
        mxci_engine_task *before = NULL;
        for (task = s->ready.first; skip--; task = task->next)
            before = task;
        *(before ? &before->next : &s->ready.first) = task->next;
        if (s->ready.last == task)
            s->ready.last = before;
    }
    mxci_lock_release(&s->lock);
    return task;
}

/* 0 if nothing is ready. */
static int run_one(mxc_engine *engine) {
    mxci_task_list ready = {NULL, NULL};
    mxci_thread_slot *slot = mxci_thread_slot_claim(&engine->slots);
    mxci_engine_task *task = NULL;
    mxci_fork_guard_enter();
    if (slot)
        task = pick(&engine->seeded);
    if (task && atomic_load_explicit(&task->done, memory_order_relaxed))
        mxci_task_complete(task, task->failure, &ready);
    else if (task)
        mxci_task_run(slot, NULL, task, &ready, NULL);
    mxci_engine_dispatch(engine, &ready);
    if (slot)
        mxci_thread_slot_release(slot);
    mxci_fork_guard_leave();
    return task != NULL;
}

/* Functions run on one thread at a time, the owner, and on that one also from waits inside them. */
static int become_owner(mxci_seeded *s, uint32_t me) {
    uint32_t expected = 0;
    return atomic_load(&s->owner) == me || atomic_compare_exchange_strong(&s->owner, &expected, me);
}

static mxc_status seeded_wait(const mxci_wait *wait) {
    mxc_engine *engine = wait->engine;
    uint32_t me = (uint32_t)mxci_thread_index() + 1;
    int nested = atomic_load(&engine->seeded.owner) == me;
    while (!wait->is_over(wait)) {
        uint32_t word = mxci_wait_announce(wait);
        int progress = become_owner(&engine->seeded, me) && run_one(engine);
        if (!nested && atomic_load(&engine->seeded.owner) == me)
            atomic_store(&engine->seeded.owner, 0);
        if (!progress)
            mxci_wait_sleep(wait, word);
    }
    /* Another waiting thread may have slept because this one was the owner. */
    mxci_eventcount_notify_all(&engine->waiters);
    return MXC_OK;
}

const mxci_engine_ops mxci_engine_ops_seeded = {
    .runs_inline = seeded_runs_inline,
    .enqueue = seeded_enqueue,
    .wake = seeded_wake,
    .async_event = seeded_async_event,
    .wait = seeded_wait,
    .random = seeded_random,
};

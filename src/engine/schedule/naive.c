/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The naive kind: a push runs its function and returns when that has ended, also an asynchronous one. Threads of the
 * program that push run concurrently where the variables allow it. A function pushed from inside another one that it
 * depends on runs when that has ended; so does one that is nested too deep.
 */
#include "engine/core/frame.h"
#include "engine/engine.h"
#include "engine/schedule/complete.h"
#include "engine/schedule/run_task.h"

/* Tasks that the innermost push on this thread will run before it returns; NULL outside of pushes. */
static MXCI_THREAD_LOCAL mxci_task_list *deferred;

static int naive_runs_inline(const mxci_operation *operation) {
    (void)operation;
    return 1;
}

static mxc_status wait_until_done(mxci_engine_task *task) {
    mxci_wait wait = {.engine = task->home->engine, .is_over = mxci_wait_task_done, .task = task};
    MXC_TRY(mxci_wait_for(&wait));
    atomic_store_explicit(&task->done, 0, memory_order_relaxed);
    return MXC_OK;
}

/* The waiting thread owns the task from here on. */
static void set_done(mxci_engine_task *task) {
    mxc_engine *engine = task->home->engine;
    atomic_store(&task->done, 1);
    mxci_eventcount_notify_all(&engine->waiters);
}

/* While a task waits for its turn on this thread it is in flight, so that the child of a fork runs it. */
static void begin_hold(mxci_engine_task *task) {
    task->has_waiter = 1;
    atomic_store(&task->done, 1);
    mxci_in_flight_add(&task->home->engine->in_flight, task);
}

static void end_hold(mxci_engine_task *task) {
    mxci_in_flight_remove(&task->home->engine->in_flight, task);
    task->has_waiter = 0;
    atomic_store_explicit(&task->done, 0, memory_order_relaxed);
}

/* Run a task, then those that became ready by it and have no waiting thread. own: see mxci_task_run. */
static void run_now(mxc_engine *engine, mxci_engine_task *task, mxci_failure **own) {
    mxci_task_list kept = {NULL, NULL}, *outer = deferred;
    mxci_thread_slot *slot = mxci_thread_slot_claim(&engine->slots);
    if (!slot && outer) { /* nested too deep */
        begin_hold(task);
        mxci_task_list_add(outer, task);
        return;
    }
    for (; !slot; slot = mxci_thread_slot_claim(&engine->slots))
        mxci_thread_yield();
    deferred = &kept;
    while (task) {
        mxci_task_list ready = {NULL, NULL};
        mxci_task_run(slot, NULL, task, &ready, own);
        own = NULL;
        while ((task = mxci_task_list_take(&ready)) != NULL) {
            if (task->has_waiter) {
                set_done(task);
            } else {
                begin_hold(task);
                mxci_task_list_add(&kept, task);
            }
        }
        task = mxci_task_list_take(&kept);
        if (task)
            end_hold(task);
    }
    deferred = outer;
    mxci_thread_slot_release(slot);
}

static void naive_enqueue(mxc_engine *engine, mxci_engine_task *task) {
    if (task->has_waiter)
        set_done(task);
    else
        run_now(engine, task, NULL);
}

static mxc_status naive_run_inline(mxc_engine *engine, mxci_engine_task *task, int ready) {
    mxci_failure *own = NULL;
    mxc_status status;
    if (!ready && (mxci_frame_inside(NULL) || mxci_in_parallel_for()))
        return MXC_OK; /* the thread that completes what it depends on runs it: perhaps this one, after this function */
    if (!ready) {      /* another thread runs what the task depends on */
        mxci_in_flight_add(&engine->in_flight, task); /* as begin_hold, but done may be set already */
        status = wait_until_done(task);
        end_hold(task);
        MXC_TRY(status);
    }
    task->has_waiter = 0;
    run_now(engine, task, &own);
    status = mxci_failure_raise(own);
    mxci_failure_release(own);
    return status;
}

/* The task is always completed by the thread that called the function. */
static int naive_async_event(mxci_engine_task *task, int completed) {
    int last = atomic_fetch_sub_explicit(&task->async_events, 1, memory_order_acq_rel) == 1;
    if (completed && last)
        set_done(task);
    if (!completed && !last)
        (void)wait_until_done(task);
    return !completed;
}

static mxc_status naive_wait(const mxci_wait *wait) {
    mxci_wait_without_helping(wait);
    return MXC_OK;
}

const mxci_engine_ops mxci_engine_ops_naive = {
    .runs_inline = naive_runs_inline,
    .enqueue = naive_enqueue,
    .run_inline = naive_run_inline,
    .async_event = naive_async_event,
    .wait = naive_wait,
    .waits_for_turn = 1,
};

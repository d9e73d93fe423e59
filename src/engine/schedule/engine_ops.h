/* SPDX-License-Identifier: Apache-2.0 */
/* The function table of a kind of engine (naive, threaded, seeded): what the kinds do differently. */
#ifndef MXCI_ENGINE_SCHEDULE_ENGINE_OPS_H
#define MXCI_ENGINE_SCHEDULE_ENGINE_OPS_H

#include "engine/core/task.h"
#include "engine/schedule/wait.h"

typedef struct mxci_engine_ops {
    /* Before an operation's first push: choose its pool and start the pool's threads. Optional. No lock held, outside
     * the fork guard; may block. Status: MXC_ENOMEM, MXC_EIO, those of the device. */
    mxc_status (*prepare)(mxc_engine *engine, mxci_operation *operation, mxc_property property);
    /* 1 if a push of the operation may run it on the pushing thread. Any locks; must not block. */
    int (*runs_inline)(const mxci_operation *operation);
    /* Take a task that is ready. A stripe may be locked, else inside the fork guard; must not block. */
    void (*enqueue)(mxc_engine *engine, mxci_engine_task *task);
    /* After tasks were enqueued: have a thread look at them. pool: that of the last one. No lock held; must not block.
     * Optional. */
    void (*wake)(mxc_engine *engine, mxci_worker_pool *pool);
    /* An inline push has entered the queues of its variables; ready: run it now. Inside the fork guard, no lock held;
     * may block. May return the function's own failure. Never called, and may be NULL, where runs_inline is always 0.
     */
    mxc_status (*run_inline)(mxc_engine *engine, mxci_engine_task *task, int ready);
    /* One of the two events that end an asynchronous function: completed 1: mxc_done_complete was called; 0: the call
     * has returned. 1: the caller completes the task; 0: it will be completed elsewhere and may be gone. Inside the
     * fork guard, no lock held; may block. */
    int (*async_event)(mxci_engine_task *task, int completed);
    /* Sleep or help until wait->is_over. Outside the fork guard, no lock held; blocks. Status: MXC_ESTATE, or what kept
     * another thread from taking this one's place. */
    mxc_status (*wait)(const mxci_wait *wait);
    /* A parallel loop has so many parts to give away: wake threads for them. NULL: the caller runs all parts. Inside
     * the fork guard; must not block. */
    void (*call_helpers)(mxc_engine *engine, int wanted);
    /* The next random number of the schedule. NULL: the parts of a loop that one thread runs are run in order. */
    uint32_t (*random)(mxc_engine *engine);
    int waits_for_turn; /* an inline push from outside of functions blocks until its dependencies are granted */
} mxci_engine_ops;

extern const mxci_engine_ops mxci_engine_ops_naive, mxci_engine_ops_threaded, mxci_engine_ops_seeded;

#endif

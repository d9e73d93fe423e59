/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: its parts, one struct each, which are declared in the headers below. The parts in core/, device/ and
 * fork/, and the worker pools, do not include this header: they are given what they use. Only schedule/, which brings
 * the parts together, and the files beside this one see the whole.
 */
#ifndef MXCI_ENGINE_ENGINE_H
#define MXCI_ENGINE_ENGINE_H

#include <mxc/engine.h>

#include "engine/core/in_flight.h"
#include "engine/core/var.h"
#include "engine/device/device_stream.h"
#include "engine/fork/fork_guard.h"
#include "engine/schedule/engine_ops.h"
#include "engine/schedule/eventcount.h"
#include "engine/schedule/parallel_for.h"
#include "engine/schedule/thread_slot.h"
#include "engine/schedule/worker_pool.h"

enum { MXCI_STRIPES = 16 };

/* State of the threaded kind: threaded.c */
typedef struct mxci_threaded {
    mxci_worker_env env;
    mxci_worker_pool *cpu, *io;          /* NULL in other kinds */
    _Atomic(mxci_worker_pool *) devices; /* list of the devices' pools, which are added at first use, never removed */
    mxci_mutex mutex;                    /* guards adding to it */
    int64_t spin_ns;
} mxci_threaded;

/* State of the seeded kind: seeded.c */
typedef struct mxci_seeded {
    mxci_lock lock; /* guards what follows but owner */
    mxci_task_list ready;
    uint32_t count;
    uint64_t random;
    _Atomic uint32_t owner; /* number of the thread that runs functions, plus one; 0: none */
} mxci_seeded;

struct mxc_engine {
    const mxci_engine_ops *ops;
    mxc_engine_kind kind;
    int parallelism;
    int64_t spin_ns;              /* how long waiting threads spin */
    mxci_fork_member fork_member; /* fork/fork_guard.h */
    _Atomic uint32_t fork_state;  /* fork/fork_child.c; not 0: this is a child that has not resumed yet */
    mxci_thread_slots slots;
    mxci_threaded threaded;
    mxci_seeded seeded;
    mxci_vars vars;
    mxci_in_flight_list in_flight;
    mxci_mutex wait_all_mutex; /* held by the one mxc_wait_all that goes on */

    mxci_engine_errors errors;
    mxci_stream_list streams;
    _Atomic int32_t draining;   /* threads that wait for all tasks of an epoch */
    _Atomic int32_t completing; /* threads inside mxc_done_complete */
    mxci_eventcount waiters;    /* threads that wait in the engine */
    mxci_loop_slots loops;
    mxci_stripe stripes[MXCI_STRIPES];
};

/* The stripe of this thread's pushes. */
static inline mxci_stripe *mxci_engine_stripe(mxc_engine *engine) {
    return &engine->stripes[mxci_thread_index() % MXCI_STRIPES];
}

/* Enqueue ready tasks and wake threads for them. Inside the fork guard; does not block. */
static inline void mxci_engine_dispatch(mxc_engine *engine, mxci_task_list *ready) {
    mxci_engine_task *task;
    while ((task = mxci_task_list_take(ready)) != NULL) {
        mxci_worker_pool *pool = task->operation->pool; /* the task may be gone as soon as it is enqueued */
        engine->ops->enqueue(engine, task);
        if (engine->ops->wake)
            engine->ops->wake(engine, pool);
    }
}

#endif

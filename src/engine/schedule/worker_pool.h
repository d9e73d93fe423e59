/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ready queue and the worker threads that serve it. Workers spin for a while, then sleep; one that waits inside a
 * function is replaced by another, so that what it waits for can run.
 *
 *   awake -- nothing found for a while --> asleep -- woken --> awake
 *   awake -- more threads than wanted --> retired -- another worker waits inside a function --> awake
 */
#ifndef MXCI_ENGINE_SCHEDULE_WORKER_POOL_H
#define MXCI_ENGINE_SCHEDULE_WORKER_POOL_H

#include "engine/device/device_stream.h"
#include "engine/schedule/eventcount.h"
#include "engine/schedule/parallel_for.h"
#include "engine/schedule/ready_queue.h"
#include "engine/schedule/thread_slot.h"

typedef struct mxci_worker {
    _Alignas(MXCI_CACHE_LINE) _Atomic uint32_t state; /* worker_pool.c */
    int alive;                                        /* has a thread in this process */
    mxci_worker_pool *pool;
    mxci_thread_slot *slot;
    mxci_device_stream stream; /* of its own, if the pool has a device */
    mxci_thread thread;
} mxci_worker;

/* What the pools of an engine share with it. Constant. */
typedef struct mxci_worker_env {
    mxci_eventcount *waiters; /* threads that wait in the engine and may help */
    mxci_loop_slots *loops;
    mxci_thread_slots *slots;
    mxci_stream_list *streams;
    /* Run tasks until there are none. On a thread of the pool, inside the fork guard, no lock held. */
    void (*serve)(mxci_worker_pool *pool, mxci_worker *worker);
} mxci_worker_env;

struct mxci_worker_pool {
    mxci_ready_queue queue;
    _Alignas(MXCI_CACHE_LINE) _Atomic int32_t spinning; /* threads that look for work */
    _Atomic int32_t sleeping;
    _Atomic int32_t excess; /* threads above wanted that neither wait nor are retired */
    _Atomic uint32_t started, stopping;

    const mxci_worker_env *env;
    mxci_worker_pool *next; /* in the engine's list */
    mxc_context context;
    mxc_property property;     /* which of a device's queues */
    const mxci_device *device; /* whose streams the workers have; NULL: none */
    int64_t spin_ns;
    int helps_loops;
    mxci_mutex mutex;           /* guards what follows, and starting threads */
    int wanted, created, limit; /* threads: that shall run, made so far, at most */
    mxci_worker worker[];
};

/* A pool for so many threads; not started. MXC_ENOMEM. */
mxc_status mxci_worker_pool_create(const mxci_worker_env *env, mxc_context context, mxc_property property, int wanted,
                                   mxci_worker_pool **out);
/* End the threads and join them; the queue is empty. Threads of other pools may still look at this one. Blocks. */
void mxci_worker_pool_stop(mxci_worker_pool *pool);
/* Free. All pools of the engine are stopped. */
void mxci_worker_pool_destroy(mxci_worker_pool *pool);
/* Start the threads unless they are there. Outside the fork guard; may block. MXC_ENOMEM, MXC_ESTATE (no slots left),
 * MXC_EIO, statuses of the device. */
mxc_status mxci_worker_pool_start_slow(mxci_worker_pool *pool);
static inline mxc_status mxci_worker_pool_start(mxci_worker_pool *pool) {
    return atomic_load_explicit(&pool->started, memory_order_acquire) ? MXC_OK : mxci_worker_pool_start_slow(pool);
}

/* Tasks were put into the queue: wake a worker for them unless one is spinning. Does not block. */
void mxci_worker_pool_wake(mxci_worker_pool *pool);
/* Wake up to count sleeping workers; returns how many. Does not block. */
int mxci_worker_pool_wake_some(mxci_worker_pool *pool, int count);

/* The pool whose thread this is, NULL if none. */
mxci_worker_pool *mxci_worker_pool_of_thread(void);
/* This thread of the pool begins or ends a wait inside a function. Begin starts or wakes a replacement and may block.
 * Status: MXC_ESTATE (too many wait), MXC_ENOMEM, MXC_EIO: no thread can take its place. */
mxc_status mxci_worker_pool_begin_wait(mxci_worker_pool *pool);
void mxci_worker_pool_end_wait(mxci_worker_pool *pool);

/* In the child of a fork: all threads but the calling one are gone. */
void mxci_worker_pool_forked(mxci_worker_pool *pool);

#endif

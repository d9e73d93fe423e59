/*
 * A queue of ready blocks and the threads that run them. Threads look for work for a while, then sleep; one that waits
 * inside a function is replaced by another, so that what it waits for can run.
 *
 * Order: urgent first, then larger priority, then first come.
 */
#ifndef MXCI_ENGINE_POOL_H
#define MXCI_ENGINE_POOL_H

#include "engine/run.h"

typedef struct mxci_worker {
    _Alignas(MXCI_CACHE_LINE) _Atomic uint32_t state; /* awake, asleep, called, retired */
    int alive;                                        /* has a thread in this process */
    mxci_pool *pool;
    mxci_runner *runner;
    mxci_stream stream; /* of its own, if the pool has a device */
    mxci_thread thread;
} mxci_worker;

struct mxci_pool {
    _Alignas(MXCI_CACHE_LINE) _Atomic int32_t ready;  /* blocks in the queue; written under the lock, spun upon */
    _Alignas(MXCI_CACHE_LINE) mxci_lock lock;         /* guards the queue */
    mxci_list fifo;                                   /* not urgent, priority 0: nearly all */
    mxci_block *heap;                                 /* the others: a pairing heap */
    uint64_t order;                                   /* blocks so far */
    _Alignas(MXCI_CACHE_LINE) _Atomic int32_t ranked; /* blocks in the heap; written under the lock */
    _Atomic int32_t helped;                           /* blocks that a waiting thread may run; written under the lock */
    _Alignas(MXCI_CACHE_LINE) _Atomic int32_t spinning; /* threads that look for work */
    _Atomic int32_t sleeping;
    _Atomic int32_t surplus; /* threads above base that neither wait nor are retired */
    _Atomic uint32_t started, stopping;

    mxc_engine *engine;
    mxci_pool *next; /* in the engine's list */
    mxc_context context;
    mxc_property property;     /* which of a device's queues */
    const mxci_device *device; /* whose streams the workers have; NULL: none */
    int64_t spin_ns;
    int helps_loops;
    mxci_mutex mutex;       /* guards what follows, and starting threads */
    int base, count, limit; /* threads wanted, made so far, at most */
    mxci_worker worker[];
};

/* A pool for base threads, numbers from the engine's; not started. MXC_ENOMEM, MXC_ESTATE (no numbers left). */
mxc_status mxci_pool_create(mxc_engine *engine, mxc_context context, mxc_property property, int base, mxci_pool **out);
/* End the threads; the queue is empty. Threads of other pools may still look at this one. */
void mxci_pool_stop(mxci_pool *pool);
/* Free. All pools of the engine are stopped. */
void mxci_pool_destroy(mxci_pool *pool);
/* Start the threads unless they are there. MXC_ENOMEM, MXC_EIO, what the device says. */
mxc_status mxci_pool_start_slow(mxci_pool *pool);
static inline mxc_status mxci_pool_start(mxci_pool *pool) {
    return atomic_load_explicit(&pool->started, memory_order_acquire) ? MXC_OK : mxci_pool_start_slow(pool);
}

/* Queue a block. Inside the gate, or with a stripe locked. */
void mxci_pool_put(mxci_pool *pool, mxci_block *block);
/* Wake a thread for it unless one is looking. */
void mxci_pool_wake(mxci_pool *pool);
/* Wake up to count sleeping workers; returns how many. */
int mxci_pool_call(mxci_pool *pool, int count);
/* The block that is first, NULL if there is none. helped: only if a waiting thread may run it. Inside the gate. */
mxci_block *mxci_pool_take(mxci_pool *pool, int helped);

/* The pool whose thread this is, NULL if none. */
mxci_pool *mxci_pool_of_thread(void);
/* This thread of the pool begins or ends a wait inside a function. Status of begin: MXC_ESTATE (too many wait),
 * MXC_ENOMEM, MXC_EIO: no thread can take its place. */
mxc_status mxci_pool_begin_wait(mxci_pool *pool);
void mxci_pool_end_wait(mxci_pool *pool);

/* In the child of a fork: all threads but the calling one are gone. */
void mxci_pool_forked(mxci_pool *pool);
/* 1 if the queue's counts agree. The pool is locked. */
int mxci_pool_is_valid(const mxci_pool *pool);

/* threaded.c: run blocks until there are none, on a thread of the pool. Inside the gate. */
void mxci_pool_run(mxci_pool *pool, mxci_worker *worker);

#endif

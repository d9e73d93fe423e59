/* The engine itself, and what differs between its kinds. */
#ifndef MXCI_ENGINE_ENGINE_H
#define MXCI_ENGINE_ENGINE_H

#include <mxc/engine.h>

#include "engine/loop.h"
#include "engine/pool.h"
#include "engine/run.h"
#include "engine/var.h"
#include "engine/wait.h"

enum {
    MXCI_STRIPES = 16,
    MXCI_GUESTS = 32, /* numbers for threads that belong to no pool */
    MXCI_EXTRAS = 64  /* numbers for threads of other pools than the CPU's, and of those that replace waiting ones */
};

typedef struct mxci_var_slab mxci_var_slab;

/* What a kind of engine does its own way. All are called inside the gate or with a stripe locked, but for wait. */
typedef struct mxci_kind {
    /* Make ready for a function: find its pool and have threads. Not in the gate. */
    mxc_status (*prepare)(mxc_engine *engine, mxci_body *body, mxc_property property);
    /* 1 if this push may run its function on the pushing thread. */
    int (*direct)(const mxci_body *body);
    /* Queue a block that is ready. May be called with a stripe locked: never blocks. */
    void (*enqueue)(mxc_engine *engine, mxci_block *block);
    /* After blocks were queued, with no locks held: have a thread look at them. pool: of the last one. */
    void (*wake)(mxc_engine *engine, mxci_pool *pool);
    /* A direct push was queued on its variables; ready: run it now. May return the function's own failure. */
    mxc_status (*run)(mxc_engine *engine, mxci_block *block, int ready);
    /* Half of an asynchronous function is over: its end was told, or its call has returned. 1: the caller ends the
     * block; 0: somebody else does, the block may be gone. */
    int (*half)(mxci_block *block, int told);
    /* Wait; the gate is left. */
    mxc_status (*wait)(const mxci_wait *wait);
    int waits_for_turn; /* a direct push from outside of functions waits until its own may run */
} mxci_kind;

extern const mxci_kind mxci_kind_naive, mxci_kind_threaded, mxci_kind_seeded;

/* State of the seeded kind: seeded.c */
typedef struct mxci_seeded {
    mxci_lock lock;
    mxci_list ready;
    uint32_t count;
    uint64_t random;
    _Atomic uint32_t owner; /* number of the thread that runs functions, plus one; 0: none */
} mxci_seeded;

struct mxc_engine {
    const mxci_kind *kind;
    mxc_engine_kind kind_id;
    int workers, parallelism, thread_limit;
    int64_t spin_ns;
    mxc_engine *next;             /* fork.c */
    mxci_runner *runners;         /* thread_limit: CPU workers, guests, extras */
    mxci_pool *cpu, *io;          /* threaded */
    _Atomic(mxci_pool *) devices; /* list of the other pools */
    mxci_mutex pools_mutex;       /* guards adding to it */
    _Atomic uint32_t forked;      /* not 0: this is a child that has not resumed yet */
    _Atomic int32_t extras;       /* numbers given away */

    mxci_lock vars_lock; /* guards the next two */
    mxc_var *free_vars;
    mxci_var_slab *var_slabs;
    mxci_lock flight_lock; /* guards flight */
    mxci_block *flight;    /* see mxci_flight_add */
    mxci_mutex all_mutex;  /* held by the one mxc_wait_all that goes on */
    mxci_seeded seeded;

    _Alignas(MXCI_CACHE_LINE) _Atomic int64_t failed; /* variables with a failure: rarely written */
    _Atomic(mxci_stream *) streams;                   /* those that run ahead; NULL: no variable has marks */
    _Atomic int32_t n_streams;
    _Atomic(mxci_failure *) first_failure; /* since the last mxc_wait_all */
    _Atomic int32_t draining;              /* threads that wait for an epoch */
    _Atomic int32_t telling;               /* threads inside mxc_done_complete */
    mxci_event event;
    mxci_loops loops;
    mxci_stripe stripes[MXCI_STRIPES];
};

/* ---- for fork.c ---- */
void mxci_engine_lock_stripes(mxc_engine *engine);
void mxci_engine_unlock_stripes(mxc_engine *engine);
void mxci_engine_forked(mxc_engine *engine);
/* In the child of a fork, before the first push or wait: start threads, end what cannot go on. */
mxc_status mxci_engine_resume_slow(mxc_engine *engine);
static inline mxc_status mxci_engine_resume(mxc_engine *engine) {
    return atomic_load_explicit(&engine->forked, memory_order_acquire) ? mxci_engine_resume_slow(engine) : MXC_OK;
}
/* The next of the engine's spare numbers, NULL if there is none left. */
mxci_runner *mxci_engine_extra(mxc_engine *engine);

/* 0: nothing has ever run ahead, so that no variable has marks. */
static inline int mxci_has_marks(mxc_engine *engine) {
    return atomic_load_explicit(&engine->streams, memory_order_relaxed) != NULL;
}

/* Queue all and wake threads. Inside the gate. */
void mxci_dispatch(mxc_engine *engine, mxci_list *ready);

/* seeded.c: the next number of the schedule. */
uint32_t mxci_seeded_random(mxc_engine *engine);

#endif

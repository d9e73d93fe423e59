/*
 * One pushed run of a function: a block, with a dependency for each variable it names. Blocks come from free lists, one
 * set per stripe; a thread pushes through the stripe of its number, and a block goes home to it from any thread.
 */
#ifndef MXCI_ENGINE_BLOCK_H
#define MXCI_ENGINE_BLOCK_H

#include <mxc/engine.h>

#include "base/device.h"
#include "engine/failure.h"
#include "engine/lock.h"

enum {
    MXCI_BLOCK_CLASSES = 19, /* class c has room for 4 << c dependencies */
    MXCI_MAX_VARS = 4 << (MXCI_BLOCK_CLASSES - 1)
};

typedef struct mxci_block mxci_block;
typedef struct mxci_pool mxci_pool;

typedef enum mxci_mode {
    MXCI_READ,
    MXCI_CHANGE,
    MXCI_SYNC, /* a wait: ordered as a change, but changes nothing */
    MXCI_VOID  /* a change that is not made: counted, but the value and its failure stay */
} mxci_mode;

/* A block's place in the queue of one variable. */
typedef struct mxci_dep {
    mxc_var *var;
    struct mxci_dep *next; /* behind it in the variable's queue; guarded by the variable's lock */
    uint32_t index;        /* of this dependency in its block */
    uint32_t mode;         /* mxci_mode */
} mxci_dep;

/* What a block runs; all runs of a prepared operator share one. Constant. */
typedef struct mxci_body {
    mxc_task_fn fn;             /* either this */
    mxc_task_async_fn async_fn; /* or this */
    void *arg;
    void (*destroy)(void *arg);
    const char *name;
    mxc_context context;
    unsigned flags;
    int priority, urgent;
    const mxci_device *device; /* whose stream the function gets; NULL: none */
    mxci_pool *pool;           /* whose workers run it; NULL: the engine has none */
    mxc_engine_op *op;         /* NULL: a function pushed once */
} mxci_body;

/* Free lists and counters for the pushes of some threads. */
typedef struct mxci_stripe {
    _Alignas(MXCI_CACHE_LINE) mxci_lock lock; /* guards this part; stands for the gate while a push is going on */
    mxc_engine *engine;
    uint32_t epoch; /* 0 or 1: which of the counters a push adds to; mxc_wait_all flips it */
    void *slabs;    /* all memory of blocks, linked by its first word */
    mxci_block *free[MXCI_BLOCK_CLASSES];
    _Atomic uint64_t pushed[2];                          /* written under the lock */
    _Alignas(MXCI_CACHE_LINE) _Atomic uint64_t ended[2]; /* this part: any thread */
    _Atomic(mxci_block *) returned[MXCI_BLOCK_CLASSES];
} mxci_stripe;

struct mxci_block {
    /* One cache line for what every run touches. */
    _Alignas(MXCI_CACHE_LINE) mxci_block *next; /* in a free list, a list of ready blocks, a queue or heap of a pool */
    const mxci_body *body;
    mxci_stripe *home;
    uint64_t token;
    _Atomic int32_t waits; /* dependencies that are not granted yet */
    int32_t n_deps;
    int32_t priority;
    uint8_t urgent, size_class, epoch;
    uint8_t waited;        /* naive engine: a thread is going to run it once done is set */
    _Atomic uint32_t done; /* set last, for the thread that waits: MXCI_SYNC granted; naive engine: may run */
    uint8_t in_flight;     /* is in the engine's flight */
    uint8_t canceled;      /* in the child of a fork: the function was ended without its thread */
    uint64_t order;        /* in its pool: when it came */

    mxci_block *child;                      /* in a pool's heap */
    mxci_block *flight_next, **flight_link; /* in the engine's flight; guarded by its lock */
    mxci_failure *failure;                  /* how an asynchronous function ended */
    _Atomic uint32_t parties; /* asynchronous: 2 until the call has returned or the end was told, then 1, then 0 */
    int32_t pusher;           /* MXC_TASK_AWAITED: number of the thread that waits for it */
    mxci_body own;            /* body of a function pushed once */
    mxci_dep deps[];
};
_Static_assert(offsetof(mxci_block, child) == MXCI_CACHE_LINE, "the first line of a block is full");

/* Block with room for n <= MXCI_MAX_VARS dependencies; NULL without memory. hot: rather one that has just come back, as
 * it does on this thread where functions run in the push; it is still in the cache. The stripe is locked. */
mxci_block *mxci_block_take(mxci_stripe *stripe, int n, int hot);
/* Put one back that was not used. The stripe is locked. */
void mxci_block_put(mxci_stripe *stripe, mxci_block *block);
/* Give it back to its stripe from any thread. */
void mxci_block_return(mxci_block *block);
/* Free all memory of a stripe's blocks. */
void mxci_stripe_clear(mxci_stripe *stripe);

static inline mxci_block *mxci_dep_block(mxci_dep *dep) {
    return (mxci_block *)(void *)((char *)(dep - dep->index) - offsetof(mxci_block, deps));
}

/* A list of blocks linked by next. */
typedef struct mxci_list {
    mxci_block *first, *last;
} mxci_list;

static inline void mxci_list_add(mxci_list *list, mxci_block *block) {
    block->next = NULL;
    if (list->first)
        list->last->next = block;
    else
        list->first = block;
    list->last = block;
}

static inline mxci_block *mxci_list_take(mxci_list *list) {
    mxci_block *block = list->first;
    if (block)
        list->first = block->next;
    return block;
}

#endif

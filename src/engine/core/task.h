/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task: one pushed instance of an operation, with a dependency for each variable that it names.
 *
 *   free -- mxci_task_alloc --> filled in by the push -- mxci_task_enqueue --> queued on its variables
 *   queued -- unmet_deps reaches 0 --> ready -- a thread takes it --> running
 *   running -- the function returns (asynchronous: has also called mxc_done_complete) --> complete
 *   complete -- mxci_task_release_deps, then mxci_task_recycle --> free
 *
 * A task whose operation would read a variable in the error state goes from ready to complete without running.
 *
 * Tasks come from free lists, one set per stripe (the lock striping of pushes): a thread pushes through the stripe of
 * its number, and a task returns to its stripe from any thread.
 */
#ifndef MXCI_ENGINE_CORE_TASK_H
#define MXCI_ENGINE_CORE_TASK_H

#include <mxc/engine.h>

#include "base/device.h"
#include "engine/core/failure.h"
#include "engine/core/lock.h"

enum {
    MXCI_TASK_SIZE_CLASSES = 19, /* class c has room for 4 << c dependencies */
    MXCI_MAX_VARS = 4 << (MXCI_TASK_SIZE_CLASSES - 1)
};

typedef struct mxci_engine_task mxci_engine_task;
typedef struct mxci_worker_pool mxci_worker_pool; /* engine/schedule/worker_pool.h */

typedef enum mxci_dep_mode {
    MXCI_DEP_READ,
    MXCI_DEP_WRITE,
    MXCI_DEP_BARRIER, /* a waiting thread: ordered as a write, but writes nothing */
    MXCI_DEP_CANCELED /* a write that is not made: the version grows, but the value and its error state stay */
} mxci_dep_mode;

/* A task's place in the queue of one variable. */
typedef struct mxci_dep {
    mxc_var *var;
    struct mxci_dep *next; /* behind it in the variable's queue; guarded by the variable's lock */
    uint32_t index;        /* of this dependency in its task */
    uint32_t mode;         /* mxci_dep_mode */
} mxci_dep;

/* What a task runs. Constant once the first task was pushed; all tasks of a prepared operation share one. */
typedef struct mxci_operation {
    mxc_task_fn fn;             /* either this */
    mxc_task_async_fn async_fn; /* or this */
    void *arg;
    void (*destroy)(void *arg);
    const char *name;
    mxc_context context;
    unsigned flags; /* MXC_TASK_... */
    int priority, urgent;
    const mxci_device *device; /* whose stream the function gets; NULL: none */
    mxci_worker_pool *pool;    /* whose workers run it; NULL: the engine has no workers */
    mxc_engine_op *prepared;   /* NULL: a function pushed once */
} mxci_operation;

/* Free lists and counters of the pushes of some threads. */
typedef struct mxci_stripe {
    /* Guards this part. A push holds it instead of entering the fork guard. */
    _Alignas(MXCI_CACHE_LINE) mxci_lock lock;
    mxc_engine *engine;
    uint32_t epoch; /* 0 or 1: which of the counters a push adds to; mxc_wait_all flips it */
    void *slabs;    /* all memory of tasks, linked by its first word */
    mxci_engine_task *free[MXCI_TASK_SIZE_CLASSES];
    _Atomic uint64_t pushed[2]; /* tasks so far, by epoch; written under the lock, read without */
    /* This part: any thread, without the lock. */
    _Alignas(MXCI_CACHE_LINE) _Atomic uint64_t completed[2];
    _Atomic(mxci_engine_task *) returned[MXCI_TASK_SIZE_CLASSES]; /* stacks of recycled tasks, moved to free at need */
} mxci_stripe;

struct mxci_engine_task {
    /* One cache line for what every run touches. */
    _Alignas(MXCI_CACHE_LINE) mxci_engine_task *next; /* in a free list, a list of ready tasks, or a ready queue */
    const mxci_operation *operation;
    mxci_stripe *home;
    uint64_t token;
    _Atomic int32_t unmet_deps; /* dependencies that are not granted yet */
    int32_t n_deps;
    int32_t priority;
    uint8_t urgent, size_class, epoch;
    uint8_t has_waiter;    /* naive engine: the pushing thread runs the task once done is set */
    _Atomic uint32_t done; /* set last, for a waiting thread: a barrier is granted; naive engine: the task may run */
    uint8_t in_flight;     /* is in the engine's in-flight list */
    uint8_t canceled;      /* in the child of a fork: the task was ended without the thread that ran it */
    uint64_t sequence;     /* in its ready queue: order of arrival */

    mxci_engine_task *heap_child;                       /* in a ready queue's heap */
    mxci_engine_task *in_flight_next, **in_flight_link; /* engine/core/in_flight.h; guarded by its lock */
    mxci_failure *failure;                              /* how an asynchronous function ended */
    _Atomic uint32_t async_events; /* asynchronous: of "the call returned" and "complete was called",
                                      those still to come */
    int32_t pusher;                /* MXC_TASK_AWAITED: number of the thread that waits for it */
    mxci_operation own;            /* operation of a function pushed once */
    mxci_dep deps[];
};
_Static_assert(offsetof(mxci_engine_task, heap_child) == MXCI_CACHE_LINE, "the first line of a task is full");

/* Task with room for n <= MXCI_MAX_VARS dependencies; NULL without memory. recent: prefer the one that was recycled
 * last, which is still in this thread's cache where functions run in the push. The stripe is locked. */
mxci_engine_task *mxci_task_alloc(mxci_stripe *stripe, int n, int recent);
/* Put one back that was not queued. The stripe is locked. */
void mxci_task_free(mxci_stripe *stripe, mxci_engine_task *task);
/* Give a complete task back to its stripe. Any thread, no lock. */
void mxci_task_recycle(mxci_engine_task *task);
/* Free all memory of a stripe's tasks, of which none is in use. */
void mxci_stripe_clear(mxci_stripe *stripe);

static inline mxci_engine_task *mxci_dep_task(mxci_dep *dep) {
    return (mxci_engine_task *)(void *)((char *)(dep - dep->index) - offsetof(mxci_engine_task, deps));
}

/* A list of tasks linked by next, first in first out. last is valid only while first is not NULL. */
typedef struct mxci_task_list {
    mxci_engine_task *first, *last;
} mxci_task_list;

static inline void mxci_task_list_add(mxci_task_list *list, mxci_engine_task *task) {
    task->next = NULL;
    if (list->first)
        list->last->next = task;
    else
        list->first = task;
    list->last = task;
}

/* NULL if the list is empty. */
static inline mxci_engine_task *mxci_task_list_take(mxci_task_list *list) {
    mxci_engine_task *task = list->first;
    if (task)
        list->first = task->next;
    return task;
}

#endif

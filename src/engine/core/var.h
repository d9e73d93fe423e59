/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A variable: the queue of tasks that name it, its version, and its error state.
 *
 *   idle -- enqueue --> granted to any number of readers, or to one writer; later tasks wait in push order
 *   granted -- the last granted task releases it --> granted to the next writer, or to all readers before it
 *   deleted (mxc_var_delete) and idle -- mxci_var_free --> destroy is called, free for reuse
 *
 * A task runs when all its dependencies are granted. It enters the queues of all its variables with all of them locked,
 * in the order of their addresses, so that two tasks stand in the same order in every queue that they share; hence no
 * cycle of tasks that wait for each other.
 *
 * Error state: failure is NULL if the value is good. A failed or skipped task sets it on what it would have written; a
 * write that succeeds clears it.
 */
#ifndef MXCI_ENGINE_CORE_VAR_H
#define MXCI_ENGINE_CORE_VAR_H

#include "engine/core/task.h"
#include "engine/device/device_stream.h"

typedef struct mxci_var_slab mxci_var_slab;

/* The variables of one engine. */
typedef struct mxci_vars {
    mxc_engine *engine;
    mxci_engine_errors *errors; /* of the engine */
    mxci_stream_list *streams;  /* of the engine */
    /* Called when a deleted variable is idle. 1: device work still uses what destroy would free, and mxci_var_free will
     * be called when that has ended; 0: it may be freed now. No lock is held; may block where there is no memory to
     * defer. */
    int (*defer_free)(mxc_var *var);
    _Alignas(MXCI_CACHE_LINE) mxci_lock lock; /* guards what follows */
    mxc_var *free;
    mxci_var_slab *slabs;
} mxci_vars;

struct mxc_var {
    _Alignas(MXCI_CACHE_LINE) mxci_lock lock; /* guards all that follows but vars */
    uint32_t readers;                         /* granted and not complete */
    _Atomic uint32_t pending;                 /* granted or waiting; read without the lock */
    uint8_t writing, deleted;                 /* a write is granted; mxc_var_delete was called */
    uint16_t device_memory;          /* code of the context of the memory that it guards: engine/device/run_memory.h */
    mxci_dep *first, *last;          /* waiting; first is a write or stands behind one */
    _Atomic uint64_t version;        /* writes that are complete; read without the lock */
    _Atomic uint64_t pushed;         /* writes pushed; read without the lock */
    _Atomic(mxci_failure *) failure; /* NULL: the value is good. Also read by the tasks that it is granted to */
    uint64_t wake_at;                /* version that a thread waits for; UINT64_MAX: none */

    mxci_vars *vars;
    void (*destroy)(void *arg); /* after deletion */
    void *arg;
    mxc_var *next_free;
    /* Device work that has been queued: that writes the variable; and all that uses it, after which last_write is done
     * too. See engine/device/ordering.h. */
    mxci_stream_event last_write, last_use;
};
_Static_assert(sizeof(mxc_var) == 2 * MXCI_CACHE_LINE, "a variable fills two lines");

/* Enter the queues of all variables. 1: all dependencies were granted at once, the task is ready. Takes the locks of
 * the variables; inside the fork guard or with a stripe locked; does not block otherwise. */
int mxci_task_enqueue(mxci_engine_task *task);
/* Leave the queues: what was written gets the failure as its error state, or is good if that is NULL. Adds the tasks
 * that became ready, and ends barriers whose turn came. 1: something that a thread sleeps for has happened, so the
 * caller must notify the engine's eventcount. Inside the fork guard or with a stripe locked. */
int mxci_task_release_deps(mxci_engine_task *task, mxci_failure *failure, mxci_task_list *ready);
/* The error state that the task, whose dependencies are granted, inherits from a variable that it reads: it must be
 * skipped. NULL if it may run. Not retained: it stays as long as the task is granted. */
mxci_failure *mxci_task_inherited_failure(const mxci_engine_errors *errors, const mxci_engine_task *task);

/* Writes pushed so far, complete or not. Of two equal numbers no write was pushed between. */
static inline uint64_t mxci_var_pushed(const mxc_var *var) {
    return atomic_load_explicit(&var->pushed, memory_order_acquire);
}

/* New variable. MXC_ENOMEM. */
mxc_status mxci_var_create(mxci_vars *vars, mxc_var **out);
/* Ask for a notification, once, when the variable reaches this version. Look at the version again afterwards. */
void mxci_var_wake_at(mxc_var *var, uint64_t version);
/* The error state, retained; NULL if the value is good. */
mxci_failure *mxci_var_failure(mxc_var *var);
/* The device work behind event failed: sets the error state, unless the variable was written since. */
void mxci_var_set_late_failure(mxc_var *var, mxci_stream_event event, mxci_failure *failure);
/* Deleted, idle, and used by no device: call destroy, and keep the memory for another variable. */
void mxci_var_free(mxc_var *var);

/* Free the memory of all variables, none of which is in use. */
void mxci_vars_clear(mxci_vars *vars);

/* 1 if the structure's invariants hold. The variable is locked. */
int mxci_var_is_valid(const mxc_var *var);

#endif

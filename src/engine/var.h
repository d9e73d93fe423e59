/*
 * A variable: who may touch it now, who waits in which order, and whether its value is to be trusted.
 *
 * Any number of readers or one change is granted at a time, in push order. A block runs when all its dependencies are
 * granted. A block enters the queues of all its variables with all of them locked, in the order of their addresses, so
 * that two blocks stand in the same order in every queue that they share.
 */
#ifndef MXCI_ENGINE_VAR_H
#define MXCI_ENGINE_VAR_H

#include "engine/block.h"
#include "engine/mark.h"

struct mxc_var {
    _Alignas(MXCI_CACHE_LINE) mxci_lock lock; /* guards all that follows but engine */
    uint32_t readers;                         /* granted and not ended */
    _Atomic uint32_t pending;                 /* granted or waiting; read without the lock */
    uint8_t changing, deleted;                /* a change is granted; mxc_var_delete was called */
    uint16_t memory;                 /* context of the memory that goes with the variable: see mxci_var_memory */
    mxci_dep *first, *last;          /* waiting; first is a change or stands behind one */
    _Atomic uint64_t version;        /* changes that have ended; read without the lock */
    _Atomic uint64_t pushed;         /* changes pushed; read without the lock */
    _Atomic(mxci_failure *) failure; /* NULL: the value is good. Whoever the variable is granted to reads it, too */
    uint64_t wake_at;                /* version that a thread waits for; UINT64_MAX: none */

    mxc_engine *engine;
    void (*destroy)(void *arg); /* after deletion */
    void *arg;
    mxc_var *next_free;
    mxci_mark written, used; /* queued work that changes it; and, implying that, all that uses it */
};
_Static_assert(sizeof(mxc_var) == 2 * MXCI_CACHE_LINE, "a variable fills two lines");

/* Enter the queues of all variables. 1: all were granted at once, the block may run. */
int mxci_block_queue(mxci_block *block);
/* Leave them; what was changed gets the failure, or is good if that is NULL. Adds the blocks that became ready; waits
 * whose turn came are over. */
void mxci_block_release(mxci_block *block, mxci_failure *failure, mxci_list *ready);
/* The failure that keeps the block, which is granted, from running; NULL if it may run. */
mxci_failure *mxci_block_inherited(const mxci_block *block);

/* Have the engine's event raised, once, when the variable reaches this version. The caller sees if it has already. */
void mxci_var_wake_at(mxc_var *var, uint64_t version);
/* The failure, retained; NULL if the value is good. */
mxci_failure *mxci_var_failure(mxc_var *var);
/* The work behind a mark failed, and so has the variable unless it has changed since. Takes over failure. */
void mxci_var_late_failure(mxc_var *var, mxci_mark mark, mxci_failure *failure);
/* Deleted, and nothing uses it any more: call back, and free. */
void mxci_var_end(mxc_var *var);

/* Fresh variables, under the engine's lock for them. */
void mxci_vars_clear(mxc_engine *engine);

/* 1 if what the structure says of itself agrees. The variable is locked. */
int mxci_var_is_valid(const mxc_var *var);

#endif

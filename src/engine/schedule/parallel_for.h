/* SPDX-License-Identifier: Apache-2.0 */
/* mxc_parallel_for: loops whose parts are taken by whichever thread has time. */
#ifndef MXCI_ENGINE_SCHEDULE_PARALLEL_FOR_H
#define MXCI_ENGINE_SCHEDULE_PARALLEL_FOR_H

#include <mxc/engine.h>

#include "engine/core/lock.h"

enum { MXCI_LOOP_THREADS = 1024 }; /* of a loop, at most */
enum { MXCI_LOOP_SLOTS = 16 }; /* loops of one engine that share their parts at one time; more run on their callers */

typedef struct mxci_loop {
    mxc_range_fn body;
    void *arg;
    int64_t n;
    uint32_t threads, parts_each; /* at most so many threads, with so many parts for each */
    int is_dynamic;               /* body is told the number of the thread, not that of the part */
} mxci_loop;

/*
 * One loop: free -- the caller takes the slot --> taken -- what is stored, then the places, then the bit in open -->
 * open: threads join, each with a number of its own; a thread runs the parts of its number, then those that others have
 * not begun -- the caller finds no more and takes the places back --> closed -- who has joined has left --> free.
 */
typedef struct mxci_loop_slot {
    /* generation:48 places:16. A place is taken by a compare-and-exchange, which fails if the slot holds another loop
     * by then, as that has another generation. */
    _Alignas(MXCI_CACHE_LINE) _Atomic uint64_t state;
    mxci_loop what;                                  /* stable while threads that have joined have not left */
    _Atomic uint32_t taken;                          /* a caller owns the slot */
    _Alignas(MXCI_CACHE_LINE) _Atomic uint32_t left; /* threads that have joined and left; the caller may sleep on it */
    _Atomic uint32_t sleeping;
    _Alignas(MXCI_CACHE_LINE) _Atomic uint16_t begun[MXCI_LOOP_THREADS]; /* parts of each thread's that have begun */
} mxci_loop_slot;

typedef struct mxci_loop_slots {
    _Alignas(MXCI_CACHE_LINE) _Atomic uint32_t open; /* bit i: slot[i] has places */
    mxci_loop_slot slot[MXCI_LOOP_SLOTS];
} mxci_loop_slots;

/* 1 if a loop has a place for a thread. Sequential consistency: pairs with the caller, which opens its loop and then
 * looks for sleepers, as this thread announces its sleep and then looks here. */
static inline int mxci_loops_open(mxci_loop_slots *loops) {
    return atomic_load_explicit(&loops->open, memory_order_seq_cst) != 0;
}
/* Run parts of one loop until it has no more; 0 if there was no place. Enters the fork guard. No lock may be held. */
int mxci_loops_help(mxci_loop_slots *loops);
/* 1 if this thread runs a part of a loop now. */
int mxci_in_parallel_for(void);

#endif

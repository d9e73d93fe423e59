/* SPDX-License-Identifier: Apache-2.0 */
/* mxc_parallel_for: loops whose parts are taken by whichever thread has time. */
#ifndef MXCI_ENGINE_SCHEDULE_PARALLEL_FOR_H
#define MXCI_ENGINE_SCHEDULE_PARALLEL_FOR_H

#include <mxc/engine.h>

#include "engine/core/lock.h"

enum {
    MXCI_LOOP_SLOTS = 16
}; /* loops of one engine that share their parts at one time; more run on their callers alone */

/*
 * One loop: free -- the caller takes the slot --> taken -- state is stored, the bit in open is set --> open: any thread
 * claims parts -- the last part is claimed --> closed -- all parts have ended --> free.
 */
typedef struct mxci_loop_slot {
    /* generation:32 parts:16 next:16. A part is claimed by a compare-and-exchange of next, which fails if the slot
     * holds another loop by then, as that has another generation. */
    _Alignas(MXCI_CACHE_LINE) _Atomic uint64_t state;
    mxc_range_fn body; /* stable while claimed parts have not ended */
    void *arg;
    int64_t n;
    _Atomic uint32_t taken;                           /* a caller owns the slot */
    _Alignas(MXCI_CACHE_LINE) _Atomic uint32_t ended; /* parts; the caller may sleep on it */
    _Atomic uint32_t sleeping;
} mxci_loop_slot;

typedef struct mxci_loop_slots {
    _Alignas(MXCI_CACHE_LINE) _Atomic uint32_t open; /* bit i: slot[i] has parts to give away */
    mxci_loop_slot slot[MXCI_LOOP_SLOTS];
} mxci_loop_slots;

/* 1 if a part waits for a thread. Sequential consistency: pairs with the caller, which opens its loop and then looks
 * for sleepers, as this thread announces its sleep and then looks here. */
static inline int mxci_loops_open(mxci_loop_slots *loops) {
    return atomic_load_explicit(&loops->open, memory_order_seq_cst) != 0;
}
/* Run parts of one loop until it has no more; 0 if there was none. Enters the fork guard. No lock may be held. */
int mxci_loops_help(mxci_loop_slots *loops);
/* 1 if this thread runs a part of a loop now. */
int mxci_in_parallel_for(void);

#endif

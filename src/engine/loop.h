/* mxc_parallel_for: loops whose parts are taken by whoever has time. */
#ifndef MXCI_ENGINE_LOOP_H
#define MXCI_ENGINE_LOOP_H

#include <mxc/engine.h>

#include "engine/lock.h"

enum { MXCI_LOOPS = 16 }; /* that share their parts at one time in one engine; more run on their callers alone */

typedef struct mxci_loop {
    /* generation:32 parts:16 next:16, so that a part is claimed by one exchange that fails for an earlier loop */
    _Alignas(MXCI_CACHE_LINE) _Atomic uint64_t state;
    mxc_range_fn body; /* stable while claimed parts have not ended */
    void *arg;
    int64_t n;
    _Atomic uint32_t taken;                           /* a caller owns the slot */
    _Alignas(MXCI_CACHE_LINE) _Atomic uint32_t ended; /* parts; the caller may sleep on it */
    _Atomic uint32_t sleeping;
} mxci_loop;

typedef struct mxci_loops {
    _Alignas(MXCI_CACHE_LINE) _Atomic uint32_t open; /* bit i: loop[i] has parts to give away */
    mxci_loop loop[MXCI_LOOPS];
} mxci_loops;

/* 1 if a part waits for a thread. */
static inline int mxci_loops_open(mxci_loops *loops) {
    return atomic_load_explicit(&loops->open, memory_order_seq_cst) != 0;
}
/* Run parts of one loop until it has no more; 0 if there was none. Enters the gate. */
int mxci_loops_help(mxci_loops *loops);
/* 1 if this thread runs a part of a loop now. */
int mxci_in_part(void);

#endif

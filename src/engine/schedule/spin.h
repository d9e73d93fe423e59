/* SPDX-License-Identifier: Apache-2.0 */
/* Spin-waiting for a while, before a thread sleeps. Used as: spin = begin(...); do if (found) break; while (again). */
#ifndef MXCI_ENGINE_SCHEDULE_SPIN_H
#define MXCI_ENGINE_SCHEDULE_SPIN_H

#include <stdint.h>

#include "base/sys.h"

enum {
    MXCI_SPIN_CLOCK = 64,          /* pauses between readings of the clock */
    MXCI_SPIN_YIELD = 256,         /* pauses between yields */
    MXCI_SPIN_PREEMPTED_NS = 50000 /* a yield that took longer than this gave the processor to another thread */
};

typedef struct mxci_spin {
    int64_t deadline;
    uint32_t pauses;
} mxci_spin;

static inline mxci_spin mxci_spin_begin(int64_t duration_ns) {
    return (mxci_spin){mxci_now_ns() + duration_ns, 0};
}

/* Pause once; 0 when the time is over. Now and then this thread yields its processor: schedulers tend to wake a thread
 * on the processor of its waker, so what is awaited may have to come from a thread that is queued for this very
 * processor. If the yield took long another thread has run here, and the time is over, too: it is better to sleep, and
 * to be woken where a processor is free. */
static inline int mxci_spin_again(mxci_spin *spin) {
    int64_t before;
    mxci_pause();
    if (++spin->pauses % MXCI_SPIN_CLOCK)
        return 1;
    before = mxci_now_ns();
    if (spin->pauses % MXCI_SPIN_YIELD || before >= spin->deadline)
        return before < spin->deadline;
    mxci_thread_yield();
    return mxci_now_ns() - before < MXCI_SPIN_PREEMPTED_NS;
}

#endif

/*
 * A lock of one word for short sections: spins briefly, then sleeps, so that a holder that was preempted costs no
 * processor. Not recursive. All locks of the engine are taken inside the gate or under a stripe's lock (engine/fork.h).
 */
#ifndef MXCI_ENGINE_LOCK_H
#define MXCI_ENGINE_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/sys.h"

/* Writers on different cores keep to different lines. */
#define MXCI_CACHE_LINE 64

typedef struct mxci_lock {
    _Atomic uint32_t word; /* 0 free, 1 held, 2 held and somebody may sleep */
} mxci_lock;

void mxci_lock_take_slow(mxci_lock *lock);

static inline void mxci_lock_take(mxci_lock *lock) {
    uint32_t expected = 0;
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &expected, 1, memory_order_acquire, memory_order_relaxed))
        mxci_lock_take_slow(lock);
}

static inline void mxci_lock_drop(mxci_lock *lock) {
    if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2)
        mxci_unpark(&lock->word, 1);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock of one word for short sections: spins briefly, then sleeps on a futex, so that a holder that was preempted
 * costs no processor time. Not recursive. All locks of the engine are taken inside the fork guard or under a stripe's
 * lock (engine/fork/fork_guard.h), so that fork() finds them free.
 */
#ifndef MXCI_ENGINE_CORE_LOCK_H
#define MXCI_ENGINE_CORE_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/sys.h"

typedef struct mxci_lock {
    _Atomic uint32_t word; /* 0 free, 1 held, 2 held and threads may sleep */
} mxci_lock;

void mxci_lock_acquire_slow(mxci_lock *lock);

/* Acquire and release order suffice: a lock publishes what its holder wrote to the next holder only. */
static inline void mxci_lock_acquire(mxci_lock *lock) {
    uint32_t expected = 0;
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &expected, 1, memory_order_acquire, memory_order_relaxed))
        mxci_lock_acquire_slow(lock);
}

static inline void mxci_lock_release(mxci_lock *lock) {
    if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2)
        mxci_unpark(&lock->word, 1);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The slow path of the one-word lock: the third mutex of Drepper, "Futexes Are Tricky" (2011), which spins first. */
#include "engine/core/lock.h"

enum { SPINS = 200, YIELDS = 3 };

/* Once this thread may have slept it holds the lock with 2, since it cannot know whether others still sleep; the
 * release then wakes one sleeper, at worst for nothing. */
void mxci_lock_acquire_slow(mxci_lock *lock) {
    for (int i = 0; i < SPINS + YIELDS; i++) {
        uint32_t expected = 0;
        if (atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong_explicit(&lock->word, &expected, 1, memory_order_acquire,
                                                    memory_order_relaxed))
            return;
        if (i < SPINS)
            mxci_pause();
        else
            mxci_thread_yield();
    }
    while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire) != 0)
        mxci_park(&lock->word, 2, INT64_MAX);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An eventcount: threads sleep until any of the conditions that they wait for may have become true. A waiting thread
 * reads the word, looks at its condition, and sleeps while the word stays as it was; a thread that makes a condition
 * true notifies, which changes the word.
 */
#ifndef MXCI_ENGINE_SCHEDULE_EVENTCOUNT_H
#define MXCI_ENGINE_SCHEDULE_EVENTCOUNT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/sys.h"

typedef struct mxci_eventcount {
    _Alignas(MXCI_CACHE_LINE) _Atomic uint32_t word; /* grows with each notification */
    _Atomic int32_t sleeping;
    _Atomic int32_t spinning; /* threads that wait awake, and take parts of parallel loops */
} mxci_eventcount;

/* Wake up to count sleepers. Comes after the condition has been stored. Sequential consistency makes a lost wake-up
 * impossible: the notifier changes the word and then looks for sleepers, a sleeper counts itself and then compares the
 * word (mxci_park, in the kernel). Takes no lock. */
static inline void mxci_eventcount_notify(mxci_eventcount *waiters, int count) {
    atomic_fetch_add(&waiters->word, 1);
    if (atomic_load(&waiters->sleeping) > 0)
        mxci_unpark(&waiters->word, count);
}

static inline void mxci_eventcount_notify_all(mxci_eventcount *waiters) {
    mxci_eventcount_notify(waiters, INT32_MAX);
}

#endif

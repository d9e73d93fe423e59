/* SPDX-License-Identifier: Apache-2.0 */
/* Fault injection inside base/sys: the n-th call from now fails. Tests turn it on; off, it costs one relaxed load. */
#ifndef MXCI_BASE_INJECT_H
#define MXCI_BASE_INJECT_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct mxci_injector {
    atomic_int active, sticky;
    _Atomic int64_t left;
} mxci_injector;

static inline void mxci_inject_set(mxci_injector *injector, int64_t fail_at, int sticky) {
    atomic_store(&injector->active, 0);
    atomic_store(&injector->left, fail_at);
    atomic_store(&injector->sticky, sticky);
    atomic_store(&injector->active, fail_at > 0);
}

/* 1 if this call is to fail. */
static inline int mxci_inject(mxci_injector *injector) {
    int64_t left;
    if (!atomic_load_explicit(&injector->active, memory_order_relaxed))
        return 0;
    left = atomic_fetch_sub(&injector->left, 1);
    return left == 1 || (left < 1 && atomic_load(&injector->sticky));
}

#endif

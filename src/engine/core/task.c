/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free lists of tasks. A stripe's own list is used under its lock; tasks return to it through a lock-free stack
 * (Treiber stack), of which only the holder of the lock pops.
 */
#include "engine/core/task.h"

#include "base/check.h"
#include "base/size.h"
#include "base/sys.h"

enum { SLAB_BYTES = 16384 };

/* The header of a block of tasks, which follow it. */
typedef struct slab {
    _Alignas(MXCI_CACHE_LINE) struct slab *next;
    size_t bytes;
} slab;

/* Tasks begin at cache lines. */
_Static_assert(MXCI_SIZE_ALIGN % MXCI_CACHE_LINE == 0, "aligned sizes are whole cache lines");
static size_t task_bytes(int size_class) {
    size_t bytes = sizeof(mxci_engine_task) + ((size_t)4 << size_class) * sizeof(mxci_dep);
    return mxci_size_align(bytes);
}

/* Carve fresh memory into tasks on the free list. 0 without memory. */
static int add_slab(mxci_stripe *stripe, int size_class) {
    size_t each = task_bytes(size_class), count = SLAB_BYTES / each ? SLAB_BYTES / each : 1;
    size_t bytes = sizeof(slab) + count * each;
    slab *s = mxci_pages_alloc(bytes);
    if (!s)
        return 0;
    s->next = stripe->slabs;
    s->bytes = bytes;
    stripe->slabs = s;
    for (size_t i = count; i-- > 0;) {
        mxci_engine_task *task = (mxci_engine_task *)(void *)((char *)(s + 1) + i * each);
        task->home = stripe;
        task->size_class = (uint8_t)size_class;
        task->next = stripe->free[size_class];
        stripe->free[size_class] = task;
    }
    return 1;
}

/* Pop the task that returned last. Only the holder of the stripe's lock pops, so the first one cannot be taken, used
 * and returned between the load and the exchange (no ABA). */
static mxci_engine_task *pop_returned(_Atomic(mxci_engine_task *) *list) {
    mxci_engine_task *first = atomic_load_explicit(list, memory_order_acquire);
    while (first && !atomic_compare_exchange_weak_explicit(list, &first, first->next, memory_order_acquire,
                                                           memory_order_acquire))
        continue;
    return first;
}

/* From the stripe's own list, which is refilled with what returned, or with fresh tasks. NULL without memory. */
static mxci_engine_task *pop_free(mxci_stripe *stripe, int size_class) {
    mxci_engine_task **list = &stripe->free[size_class], *task;
    if (!*list)
        *list = atomic_exchange_explicit(&stripe->returned[size_class], NULL, memory_order_acquire);
    if (!*list && !add_slab(stripe, size_class))
        return NULL;
    task = *list;
    *list = task->next;
    return task;
}

mxci_engine_task *mxci_task_alloc(mxci_stripe *stripe, int n, int recent) {
    mxci_engine_task *task = NULL;
    int size_class = 0;
    MXCI_ASSERT(n <= MXCI_MAX_VARS);
    while (4 << size_class < n)
        size_class++;
    if (recent)
        task = pop_returned(&stripe->returned[size_class]);
    if (!task)
        task = pop_free(stripe, size_class);
    if (!task)
        return NULL;
    task->n_deps = n;
    task->has_waiter = 0;
    return task;
}

void mxci_task_free(mxci_stripe *stripe, mxci_engine_task *task) {
    task->next = stripe->free[task->size_class];
    stripe->free[task->size_class] = task;
}

/* Release order: a thread that pops the task, with acquire order, sees all that was written to it before it returned.
 */
void mxci_task_recycle(mxci_engine_task *task) {
    _Atomic(mxci_engine_task *) *list = &task->home->returned[task->size_class];
    mxci_engine_task *first = atomic_load_explicit(list, memory_order_relaxed);
    do
        task->next = first;
    while (!atomic_compare_exchange_weak_explicit(list, &first, task, memory_order_release, memory_order_relaxed));
}

void mxci_stripe_clear(mxci_stripe *stripe) {
    slab *s = stripe->slabs;
    while (s) {
        slab *next = s->next;
        mxci_pages_free(s, s->bytes);
        s = next;
    }
}

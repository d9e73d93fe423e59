/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of ready tasks: a list and a pairing heap (Fredman et al., "The pairing heap", 1986); see ready_queue.h. */
#include "engine/schedule/ready_queue.h"

#include "base/check.h"

/* 1 if a runs before b. */
static int runs_before(const mxci_engine_task *a, const mxci_engine_task *b) {
    if (a->urgent != b->urgent)
        return a->urgent;
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->sequence < b->sequence;
}

/* A pairing heap: children hang on heap_child, siblings on next. Either may be NULL. */
static mxci_engine_task *meld(mxci_engine_task *a, mxci_engine_task *b) {
    if (!a || !b)
        return a ? a : b;
    if (runs_before(b, a)) {
        mxci_engine_task *swap = a;
        a = b;
        b = swap;
    }
    b->next = a->heap_child;
    a->heap_child = b;
    return a;
}

/* The heap without its root: children melded in pairs, then the pairs from the last to the first. */
static mxci_engine_task *without_root(mxci_engine_task *root) {
    mxci_engine_task *pairs = NULL, *heap = NULL, *child = root->heap_child;
    while (child) {
        mxci_engine_task *a = child, *b = a->next;
        child = b ? b->next : NULL;
        a->next = NULL;
        if (b)
            b->next = NULL;
        a = meld(a, b);
        a->next = pairs;
        pairs = a;
    }
    while (pairs) {
        mxci_engine_task *rest = pairs->next;
        pairs->next = NULL;
        heap = meld(heap, pairs);
        pairs = rest;
    }
    return heap;
}

static int is_helpable(const mxci_engine_task *task) {
    return (task->operation->flags & MXC_TASK_HELPED) != 0;
}

/* Only the holder of the lock writes, so a load and a store are enough; release order, since some read without it. */
static void add_to(_Atomic int32_t *count, int by) {
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by, memory_order_release);
}

int mxci_ready_queue_is_valid(const mxci_ready_queue *queue) {
    int ready = queue->ready, ranked = queue->ranked, helpable = queue->helpable;
    return ready >= ranked && ranked >= 0 && helpable >= 0 && helpable <= ready && !queue->heap == !ranked &&
           !queue->fifo.first == (ready == ranked);
}

void mxci_ready_queue_put(mxci_ready_queue *queue, mxci_engine_task *task) {
    mxci_lock_acquire(&queue->lock);
    task->sequence = queue->sequence++;
    if (task->urgent || task->priority != 0) {
        task->heap_child = NULL;
        task->next = NULL;
        queue->heap = meld(queue->heap, task);
        add_to(&queue->ranked, 1);
    } else {
        mxci_task_list_add(&queue->fifo, task);
    }
    if (is_helpable(task))
        add_to(&queue->helpable, 1);
    add_to(&queue->ready, 1);
    MXCI_ASSERT(mxci_ready_queue_is_valid(queue));
    mxci_lock_release(&queue->lock);
}

mxci_engine_task *mxci_ready_queue_take(mxci_ready_queue *queue, int only_helpable) {
    mxci_engine_task *task;
    int from_heap;
    if (atomic_load_explicit(&queue->ready, memory_order_acquire) == 0)
        return NULL;
    mxci_lock_acquire(&queue->lock);
    from_heap = queue->heap && (!queue->fifo.first || queue->heap->urgent || queue->heap->priority > 0);
    task = from_heap ? queue->heap : queue->fifo.first;
    if (task && only_helpable && !is_helpable(task))
        task = NULL;
    if (task) {
        if (from_heap) {
            queue->heap = without_root(task);
            add_to(&queue->ranked, -1);
        } else {
            queue->fifo.first = task->next;
        }
        if (is_helpable(task))
            add_to(&queue->helpable, -1);
        add_to(&queue->ready, -1);
    }
    MXCI_ASSERT(mxci_ready_queue_is_valid(queue));
    mxci_lock_release(&queue->lock);
    return task;
}

void mxci_ready_queue_fence(mxci_ready_queue *queue) {
    mxci_lock_acquire(&queue->lock);
    mxci_lock_release(&queue->lock);
}

void mxci_ready_queue_forked(mxci_ready_queue *queue) {
    atomic_store(&queue->lock.word, 0);
}

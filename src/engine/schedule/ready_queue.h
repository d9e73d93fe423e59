/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of ready tasks: urgent first, then larger priority, then first come. Nearly all tasks are not urgent and have
 * priority 0: those are in a list; the others are in a pairing heap.
 */
#ifndef MXCI_ENGINE_SCHEDULE_READY_QUEUE_H
#define MXCI_ENGINE_SCHEDULE_READY_QUEUE_H

#include "engine/core/task.h"

typedef struct mxci_ready_queue {
    _Alignas(MXCI_CACHE_LINE) _Atomic int32_t ready; /* tasks in the queue; written under the lock, spun upon */
    _Alignas(MXCI_CACHE_LINE) mxci_lock lock;
    mxci_task_list fifo;
    mxci_engine_task *heap;
    uint64_t sequence;                                /* tasks so far */
    _Alignas(MXCI_CACHE_LINE) _Atomic int32_t ranked; /* tasks in the heap; written under the lock */
    _Atomic int32_t helpable; /* tasks that a waiting thread may run (MXC_TASK_HELPED); written under the lock */
} mxci_ready_queue;

/* Inside the fork guard, or with a stripe locked. Do not block. */
void mxci_ready_queue_put(mxci_ready_queue *queue, mxci_engine_task *task);
/* The task that is first; NULL if there is none, or if only_helpable is set and a waiting thread may not run it. */
mxci_engine_task *mxci_ready_queue_take(mxci_ready_queue *queue, int only_helpable);
/* Acquire and release the lock, so that tasks put before are seen. */
void mxci_ready_queue_fence(mxci_ready_queue *queue);
/* In the child of a fork: the lock may have been held by a thread that is gone, which can only have looked. */
void mxci_ready_queue_forked(mxci_ready_queue *queue);
/* 1 if the counts agree. The lock is held. */
int mxci_ready_queue_is_valid(const mxci_ready_queue *queue);

#endif

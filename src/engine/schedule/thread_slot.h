/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread slots: under which number (mxc_run.worker) a thread runs tasks, so that no two running functions have the
 * same. A worker has its slot for life; a thread of the program, an external thread, claims one for a while.
 */
#ifndef MXCI_ENGINE_SCHEDULE_THREAD_SLOT_H
#define MXCI_ENGINE_SCHEDULE_THREAD_SLOT_H

#include "engine/core/task.h"
#include "engine/device/device_stream.h"

enum {
    MXCI_EXTERNAL_THREADS = 32, /* slots for threads that belong to no pool */
    /* Slots for workers of other pools than the CPU's, and for those that replace waiting ones. */
    MXCI_SPARE_THREADS = 64,
};

/* A stream for functions that run on a thread which is no worker of their device; never asynchronous. */
typedef struct mxci_slot_stream {
    struct mxci_slot_stream *next;
    mxci_device_stream stream;
} mxci_slot_stream;

typedef struct mxci_thread_slot {
    _Alignas(MXCI_CACHE_LINE) _Atomic uint32_t claimed; /* of external threads */
    int number;
    mxci_engine_task *task;    /* running now: what fork() has to end in the child */
    mxci_slot_stream *streams; /* kept for the next function on the same context: making one is costly */
} mxci_thread_slot;

/* The slots of one engine: of the CPU's workers, of external threads, and spare ones, in this order. */
typedef struct mxci_thread_slots {
    mxci_thread_slot *slot;
    int count, workers;
    _Atomic int32_t spares_used;
} mxci_thread_slots;

/* MXC_ENOMEM. spares: 1 if the engine has pools. */
mxc_status mxci_thread_slots_create(mxci_thread_slots *slots, int workers, int spares);
/* Close all streams and free. Nothing runs any more. */
void mxci_thread_slots_destroy(mxci_thread_slots *slots);
/* In the child of a fork: streams are the parent's, which no child can use or close. */
void mxci_thread_slots_forked(mxci_thread_slots *slots);

/* Claim a slot for an external thread; NULL if all are taken. Does not block. */
mxci_thread_slot *mxci_thread_slot_claim(mxci_thread_slots *slots);
void mxci_thread_slot_release(mxci_thread_slot *slot);
/* A spare slot, for the life of a worker; NULL if there is none left. */
mxci_thread_slot *mxci_thread_slot_take_spare(mxci_thread_slots *slots);

/* The slot's stream for the operation, created if it has none; NULL if its device has no streams. May block. Status:
 * MXC_ENOMEM, those of the device. */
mxc_status mxci_thread_slot_stream(mxci_thread_slot *slot, const mxci_operation *operation, mxci_device_stream **out);
/* Work on the slot's stream failed, and may fail for ever after: the next function gets another stream. */
void mxci_thread_slot_drop_stream(mxci_thread_slot *slot, mxc_context context);

#endif

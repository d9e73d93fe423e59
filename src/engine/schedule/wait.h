/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for something in the engine: what for, and how a thread sleeps until it may have happened. */
#ifndef MXCI_ENGINE_SCHEDULE_WAIT_H
#define MXCI_ENGINE_SCHEDULE_WAIT_H

#include <mxc/engine.h>

#include "engine/core/task.h"

typedef struct mxci_wait mxci_wait;
struct mxci_wait {
    mxc_engine *engine;
    int (*is_over)(const mxci_wait *wait); /* 1 once it has happened; then stays 1. Takes no lock */
    mxc_var *var;                          /* that is waited for, or NULL */
    uint64_t version;                      /* of var */
    mxci_engine_task *task;                /* whose done is waited for */
    uint32_t epoch;                        /* whose tasks are to be complete */
    int64_t deadline;                      /* time of mxci_now_ns after which it is over, too; 0: none */
};

/* Wait in the way of the engine's kind; the fork guard is left meanwhile. Blocks; no lock may be held. MXC_OK: it is
 * over; MXC_ESTATE, or what kept a thread from taking this one's place. */
mxc_status mxci_wait_for(const mxci_wait *wait);
/* Wait without helping: spin for a while, then sleep. Outside the fork guard. */
void mxci_wait_without_helping(const mxci_wait *wait);
/* Before looking whether it is over: have the eventcount notified when it happens. Returns the eventcount's word; as
 * long as that stays, it has not happened since. */
uint32_t mxci_wait_announce(const mxci_wait *wait);
/* Sleep until a notification, unless it is over by then or word, from the last announcement, has changed. */
void mxci_wait_sleep(const mxci_wait *wait, uint32_t word);
/* Block until no task is left and no device works. */
void mxci_wait_until_idle(mxc_engine *engine);

/* For is_over: task->done is set. Acquire order, so that the waiting thread sees what was done before. */
int mxci_wait_task_done(const mxci_wait *wait);

#endif

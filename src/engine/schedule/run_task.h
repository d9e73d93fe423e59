/* SPDX-License-Identifier: Apache-2.0 */
/* Running one task's function on this thread. */
#ifndef MXCI_ENGINE_SCHEDULE_RUN_TASK_H
#define MXCI_ENGINE_SCHEDULE_RUN_TASK_H

#include "engine/core/task.h"
#include "engine/device/device_stream.h"
#include "engine/schedule/thread_slot.h"

/* Run or skip a task whose dependencies are granted, and complete it unless it is asynchronous and goes on. Adds the
 * tasks that became ready. Inside the fork guard, no lock held; the function may block.
 * @param slot    of this thread
 * @param stream  the worker's; NULL: the slot's own, if the operation has a device
 * @param own     gets the function's own failure, retained, or NULL; may be NULL */
void mxci_task_run(mxci_thread_slot *slot, mxci_device_stream *stream, mxci_engine_task *task, mxci_task_list *ready,
                   mxci_failure **own);

#endif

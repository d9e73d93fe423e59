/* SPDX-License-Identifier: Apache-2.0 */
/* Completing tasks: callbacks, dependents, counters. */
#ifndef MXCI_ENGINE_SCHEDULE_COMPLETE_H
#define MXCI_ENGINE_SCHEDULE_COMPLETE_H

#include "engine/core/task.h"

/* Complete a task that ran or was skipped: call destroy, release its dependencies with failure as the error state of
 * what it would have written, and recycle it. Takes over failure. Adds the tasks that became ready. The task is gone
 * afterwards. Inside the fork guard, no lock held; may block in a destroy callback of the program. */
void mxci_task_complete(mxci_engine_task *task, mxci_failure *failure, mxci_task_list *ready);

/* In the child of a fork: complete with MXC_ECANCELED what ran on threads that are gone, and what was asynchronous; add
 * the tasks that those threads were to run. Inside the fork guard. */
void mxci_tasks_cancel_lost(mxc_engine *engine, mxci_task_list *ready);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The in-flight list: tasks that no queue holds although they are not complete. These are asynchronous functions, and
 * tasks for which a thread of a naive engine waits. The child of a fork finds here what it has to end.
 */
#ifndef MXCI_ENGINE_CORE_IN_FLIGHT_H
#define MXCI_ENGINE_CORE_IN_FLIGHT_H

#include "engine/core/task.h"

typedef struct mxci_in_flight_list {
    mxci_lock lock;
    mxci_engine_task *first;
} mxci_in_flight_list;

/* Inside the fork guard. */
void mxci_in_flight_add(mxci_in_flight_list *list, mxci_engine_task *task);
void mxci_in_flight_remove(mxci_in_flight_list *list, mxci_engine_task *task);

#endif

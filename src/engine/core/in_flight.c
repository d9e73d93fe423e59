/* SPDX-License-Identifier: Apache-2.0 */
/* The in-flight list: see in_flight.h. It is doubly linked, so that any task leaves it in constant time. */
#include "engine/core/in_flight.h"

void mxci_in_flight_add(mxci_in_flight_list *list, mxci_engine_task *task) {
    mxci_lock_acquire(&list->lock);
    task->in_flight_next = list->first;
    task->in_flight_link = &list->first;
    if (list->first)
        list->first->in_flight_link = &task->in_flight_next;
    list->first = task;
    mxci_lock_release(&list->lock);
    task->in_flight = 1;
}

void mxci_in_flight_remove(mxci_in_flight_list *list, mxci_engine_task *task) {
    mxci_lock_acquire(&list->lock);
    *task->in_flight_link = task->in_flight_next;
    if (task->in_flight_next)
        task->in_flight_next->in_flight_link = task->in_flight_link;
    mxci_lock_release(&list->lock);
    task->in_flight = 0;
}

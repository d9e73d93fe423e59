/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queued changes of arrays. A task describes how elements are produced on the host. For arrays in host memory its
 * elements are split over threads; for device arrays they are produced in host scratch memory and copied.
 */
#ifndef MXCI_NDARRAY_ARRAY_TASK_H
#define MXCI_NDARRAY_ARRAY_TASK_H

#include "ndarray/array.h"

/* Work that takes a few microseconds at most, in bytes moved or elements computed. */
#define MXCI_CHEAP_BYTES 16384

/* A task that changes to and reads from (may be NULL), with a reference to each. Status: MXC_ENOMEM. */
mxc_status mxci_array_task_create(mxc_ndarray *to, mxc_ndarray *from, mxci_array_task **out);
/* Free it in place of queueing it. */
void mxci_array_task_drop(mxci_array_task *task);
/* Queue it; fn is mxci_array_task_run or another function. The task is freed when it is done, or here on failure. */
mxc_status mxci_array_task_push(mxci_array_task *task, const char *name, mxc_task_fn fn, mxc_property property,
                                mxc_context context, int priority, int cheap);
/* The engine function of a task that produces elements; arg is the task. */
mxc_status mxci_array_task_run(const mxc_run *run, void *arg);

#endif

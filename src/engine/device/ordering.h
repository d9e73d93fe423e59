/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordering of tasks and device work: what a task waits for on devices before its function runs, and which events it
 * leaves on its variables. A variable has two: last_write, behind the work that writes it, and last_use, behind that
 * and all work that reads it. A task orders itself behind last_write of what it reads, and behind last_use of what it
 * writes.
 */
#ifndef MXCI_ENGINE_DEVICE_ORDERING_H
#define MXCI_ENGINE_DEVICE_ORDERING_H

#include "engine/core/var.h"

/* Before the function of a task, whose dependencies are granted: order what it will queue behind the events of its
 * variables, on stream, or on the host if that is NULL. May block. Statuses of the device; the error of queued work. */
mxc_status mxci_order_before(const mxci_stream_list *streams, const mxci_engine_task *task,
                             const mxci_device_stream *stream);
/* After it: record an event behind what it has queued on an asynchronous stream; else block until that is done. The
 * same statuses. */
mxc_status mxci_order_after(const mxci_stream_list *streams, const mxci_engine_task *task, mxci_device_stream *stream);

/* Block until the device work that writes the variable is done, or with all set, all that uses it. Its error becomes
 * the variable's error state and is returned. No lock may be held; leaves the fork guard meanwhile. */
mxc_status mxci_var_synchronize(mxc_var *var, int all);
/* For mxci_vars.defer_free. The variable is deleted and idle. 1: queued work still uses what destroy would free, and a
 * task was pushed that waits for it and frees the variable. */
int mxci_var_defer_free(mxc_var *var);

#endif

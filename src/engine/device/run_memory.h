/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory and copies for the function that runs on this thread.
 *
 * Pools of device memory are stream-ordered: a block returns to its pool when the last task that named it is complete,
 * although the device's own stream may still work on it. So a task that takes a block orders itself behind what that
 * stream has been given, by one of the calls below. They may block if several engines use the device.
 */
#ifndef MXCI_ENGINE_DEVICE_RUN_MEMORY_H
#define MXCI_ENGINE_DEVICE_RUN_MEMORY_H

#include <mxc/engine.h>

/* Memory of context was taken for what the variable guards; called before any task names the variable. The memory is
 * freed by the variable's deletion and in no other way. Statuses of the device. */
mxc_status mxci_var_memory_acquired(mxc_var *var, mxc_context context);
/* 1 if that has been called with this context. */
int mxci_var_has_memory_of(const mxc_var *var, mxc_context context);
/* Memory of run->context was taken for the function that runs on this thread. */
mxc_status mxci_run_memory_acquired(const mxc_run *run);
/* Block until what the function has queued is done: before memory that it used returns to a pool in another way than
 * with a variable. */
mxc_status mxci_run_synchronize(const mxc_run *run);
/* Copy between two places of which at least one is on a device, as a part of the function that runs on this thread:
 * behind what run's stream was given, and done when the function's own work is. Does not block where run has a stream.
 */
mxc_status mxci_run_copy_async(const mxc_run *run, mxc_context to, void *destination, mxc_context from,
                               const void *source, size_t bytes);
/* The same, and done on return. */
mxc_status mxci_run_copy(const mxc_run *run, mxc_context to, void *destination, mxc_context from, const void *source,
                         size_t bytes);

#endif

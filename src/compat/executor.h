/* SPDX-License-Identifier: Apache-2.0 */
/* Executors of the adapter: what executor.c, executor_bind.c, monitor.c and predict.c share. */
#ifndef MXNET_EXECUTOR_H
#define MXNET_EXECUTOR_H

#include "compat/mxnet.h"

/** What a monitor is to be told, in the order of execution. */
typedef struct mxnet_observed {
    char *name;
    mxc_ndarray *array; /* a copy */
    struct mxnet_observed *next;
} mxnet_observed;

/** Calls a front end's monitor. libmxc reports from threads of the engine while a node runs; front ends expect the
 *  calls on their own thread, where they may compute. So the arrays are copied and shown after the run. */
typedef struct mxnet_monitor {
    ExecutorMonitorCallback callback; /* NULL: none */
    void *user;
    int is_all; /* inputs, too */
    mxnet_observed *first, **last;
} mxnet_monitor;

/** Set a monitor on an executor, of inputs also if is_all; callback NULL removes it. */
int mxnet_monitor_set(mxnet_monitor *monitor, mxc_executor *executor, ExecutorMonitorCallback callback, void *user,
                      int is_all);
/** Wait for the executor's run and show what it computed, if there is a monitor. */
int mxnet_monitor_show(mxnet_monitor *monitor, const mxc_executor *executor);
void mxnet_monitor_clear(mxnet_monitor *monitor);

/** ExecutorHandle. */
typedef struct mxnet_executor {
    mxc_executor *executor;
    mxnet_monitor monitor;
} mxnet_executor;

/** Wrap an executor, taking it over, also if it fails. */
int mxnet_executor_new(mxc_executor *executor, ExecutorHandle *out);
/** The executor of a handle; NULL with a message for no handle. */
mxc_executor *mxnet_executor_of(ExecutorHandle handle);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Monitors: showing a step's results to the caller's function. */
#ifndef MXCI_EXECUTOR_RUN_MONITOR_H
#define MXCI_EXECUTOR_RUN_MONITOR_H

#include "executor/run/executor.h"

/* Call the monitor with what the step of node reads, if it is to see that. */
mxc_status mxci_monitor_inputs(mxc_executor *executor, const mxci_step *step, int32_t node);
/* Call the monitor with each output that the step of node has made. */
mxc_status mxci_monitor_step(mxc_executor *executor, const mxci_step *step, int32_t node);

#endif

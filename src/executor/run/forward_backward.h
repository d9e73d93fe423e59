/* SPDX-License-Identifier: Apache-2.0 */
/* Runs beyond <mxc/executor.h>: of single steps, and for recorded graphs. */
#ifndef MXCI_EXECUTOR_RUN_FORWARD_BACKWARD_H
#define MXCI_EXECUTOR_RUN_FORWARD_BACKWARD_H

#include "executor/run/executor.h"

/* Bind without passes that rewrite the graph, and make segments of single steps, as monitors and partial forward need.
 * Blocks until no run is queued. */
mxc_status mxci_executor_use_single_steps(mxc_executor *executor);

/* Let backward follow the latest forward run even if that was one of inference, as which backward then behaves. The
 * executor has been bound with gradients. */
void mxci_executor_allow_backward(mxc_executor *executor);

#endif

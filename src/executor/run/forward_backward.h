/* SPDX-License-Identifier: Apache-2.0 */
/* What runs of single steps share with tests. */
#ifndef MXCI_EXECUTOR_RUN_FORWARD_BACKWARD_H
#define MXCI_EXECUTOR_RUN_FORWARD_BACKWARD_H

#include "executor/run/executor.h"

/* Bind without passes that rewrite the graph, and make segments of single steps, as monitors and partial forward need.
 * Blocks until no run is queued. */
mxc_status mxci_executor_use_single_steps(mxc_executor *executor);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments: steps that follow each other on one context run as one engine operation. Backward is also cut where
 * gradients of arguments are ready, so that a
 * key-value store that waits for these gradients does not wait for all.
 */
#ifndef MXCI_EXECUTOR_RUN_SEGMENTS_H
#define MXCI_EXECUTOR_RUN_SEGMENTS_H

#include "executor/run/executor.h"

/* Cut the steps into segments and make their engine operators. limit: most steps each, 0: no limit. */
mxc_status mxci_segments_create(mxc_executor *executor, mxci_bound_program *bound, int32_t limit, mxci_segments *out);
void mxci_segments_destroy(mxci_segments *segments);
/* Block until no run of any segment is queued. Failures of runs are not reported. NULL is fine. */
void mxci_segments_wait_all(const mxci_bound_program *bound);

#endif

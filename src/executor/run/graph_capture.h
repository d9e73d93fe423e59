/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph capture: on a device that can (CUDA graphs), the work that a segment queues is captured the second time that it
 * runs, and from then on launched as a whole, which costs the host one call instead of one per kernel. Nothing of it
 * may differ from run to run but where the random numbers begin, which each launch is given: no step is computed on the
 * host, and addresses stay. While a trace is taken, segments run step by step, since a trace shows steps.
 */
#ifndef MXCI_EXECUTOR_RUN_GRAPH_CAPTURE_H
#define MXCI_EXECUTOR_RUN_GRAPH_CAPTURE_H

#include "executor/run/executor.h"

/* Decide whether the work of a new segment may be captured. */
void mxci_graph_capture_prepare(const mxci_bound_program *bound, mxci_segment *segment);
/* Destroy what was captured: addresses have changed, or the segments are destroyed. No run may be queued. */
void mxci_graph_capture_discard(const mxci_bound_program *bound, mxci_segments *segments);
/* The engine's function for a segment: runs its steps, captures their work, or launches what was captured. */
mxc_status mxci_graph_capture_run(const mxc_run *run, void *segment);

#endif

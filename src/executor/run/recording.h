/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded segments: on a device that can, a segment's work is recorded the second time that it runs, and from then on
 * queued as a whole, which costs the host one call. Nothing of it may differ from run to run but where the random
 * numbers begin, which replay is given: no step that is computed on the host, the same addresses. Not while a trace is
 * taken, which shows steps.
 */
#ifndef MXCI_EXECUTOR_RUN_RECORDING_H
#define MXCI_EXECUTOR_RUN_RECORDING_H

#include "executor/run/executor.h"

/* Decide whether a new segment may be recorded. */
void mxci_recording_prepare(const mxci_bound_program *bound, mxci_segment *segment);
/* Forget what was recorded: addresses have changed, or the segments go. No run is queued. */
void mxci_recording_drop(const mxci_bound_program *bound, mxci_segments *segments);
/* The engine's function for a segment: runs its steps, records them, or replays what was recorded. */
mxc_status mxci_recording_run(const mxc_run *run, void *segment);

#endif

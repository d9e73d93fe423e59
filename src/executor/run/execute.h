/* SPDX-License-Identifier: Apache-2.0 */
/* Running the steps of a segment, on the engine's threads. */
#ifndef MXCI_EXECUTOR_RUN_EXECUTE_H
#define MXCI_EXECUTOR_RUN_EXECUTE_H

#include "executor/run/executor.h"

/* The token of a push: whether the run is training (bit 0), and where the pool's random numbers begin (the others). */
uint64_t mxci_execute_token(uint64_t random_offset, int is_train);
/* The random numbers of a run of the segment's pool. */
mxc_random mxci_execute_random(const mxci_segment *segment, uint64_t token);
/* The segment's steps, one by one. */
mxc_status mxci_execute_steps(mxci_segment *segment, const mxc_run *run);
/* The engine's function for a segment with is_callback: its step runs on a thread where it may block. */
void mxci_execute_callback(const mxc_run *run, void *segment, mxc_done *done);

#endif

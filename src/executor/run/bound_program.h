/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bound programs: a program's steps made ready to run. Each step gets its call with shapes and addresses, its state
 * object and its place among the random numbers of a run.
 */
#ifndef MXCI_EXECUTOR_RUN_BOUND_PROGRAM_H
#define MXCI_EXECUTOR_RUN_BOUND_PROGRAM_H

#include "executor/run/executor.h"

/* Make a program ready to run on the executor's arrays. Takes the program over, also on failure. */
mxc_status mxci_bound_program_create(mxc_executor *executor, mxci_program *program, mxci_bound_program **out);
void mxci_bound_program_destroy(mxci_bound_program *bound); /* no run may be queued; NULL is fine */

#endif

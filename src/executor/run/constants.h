/* SPDX-License-Identifier: Apache-2.0 */
/* Computing the constants of a program when it is bound. */
#ifndef MXCI_EXECUTOR_RUN_CONSTANTS_H
#define MXCI_EXECUTOR_RUN_CONSTANTS_H

#include "executor/run/executor.h"

/* Compute the constants that the executor's cache does not have, from the executor's arrays, and hold all. Blocks until
 * they are computed. Release them also after a failure. Statuses of mxc_op_invoke and of the operators. */
mxc_status mxci_constants_compute(const mxc_executor *executor, const mxci_program *program, mxci_constants *out);
void mxci_constants_release(mxci_constants *constants);

/* MXC_ESTATE if the executor has no values of an argument. */
mxc_status mxci_constants_check_arg(const mxc_executor *executor, int32_t arg);
/* Give up the values of constant arguments that no step reads: they become arrays without memory, here and, since the
 * cache knows of it, in all executors that will use the cache of this one, its first. MXC_ENOMEM. */
mxc_status mxci_constants_release_args(mxc_executor *executor);

#endif

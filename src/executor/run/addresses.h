/* SPDX-License-Identifier: Apache-2.0 */
/* Where the data of a bound program is: arrays that the caller sees, and arenas for what is inside. */
#ifndef MXCI_EXECUTOR_RUN_ADDRESSES_H
#define MXCI_EXECUTOR_RUN_ADDRESSES_H

#include "executor/run/executor.h"

/* Find or make the pools' arenas among the executor's. MXC_ENOMEM. */
mxc_status mxci_addresses_take_arenas(mxc_executor *executor, mxci_bound_program *bound);
/* Fill in the addresses of all tensors. No run may be queued. */
void mxci_addresses_fill(const mxc_executor *executor, mxci_bound_program *bound);
/* Fill in addresses again if an arena has moved, after queued runs are done. */
void mxci_addresses_update(const mxc_executor *executor, mxci_bound_program *bound);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Memory planning: an address in a pool for every array inside a program. */
#ifndef MXCI_EXECUTOR_PLAN_MEMORY_PLAN_H
#define MXCI_EXECUTOR_PLAN_MEMORY_PLAN_H

#include "executor/plan/program.h"

/* Needs root, req, location, first, last, tiles and slice; makes pools, memory ranges with their offsets, in-place
 * requests, and the report of them. MXC_ENOMEM. */
mxc_status mxci_plan_memory(mxci_program *program, int no_inplace, int no_sharing);

#endif

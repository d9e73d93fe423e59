/* SPDX-License-Identifier: Apache-2.0 */
/* Packing of memory ranges into a pool. */
#ifndef MXCI_EXECUTOR_PLAN_PACKING_H
#define MXCI_EXECUTOR_PLAN_PACKING_H

#include "executor/plan/program.h"

/* Offsets of those of the n ranges that belong to pool, so that ranges occupied at one step do not overlap (with
 * no_sharing: none do). *bytes: size of the pool. MXC_ENOMEM. */
mxc_status mxci_pack_pool(mxci_memory_range *ranges, int32_t n, int32_t pool, int no_sharing, int64_t *bytes);

#endif

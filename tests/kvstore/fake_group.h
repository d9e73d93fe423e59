/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group of processes that is played by threads of this one: each rank has its own table, and the group's operations
 * are done in memory. Ranks can stand still, messages can be late.
 */
#ifndef MXC_TESTS_FAKE_GROUP_H
#define MXC_TESTS_FAKE_GROUP_H

#include "base/process_group.h"

/* By rank, below FAKE_GROUP_RANKS. */
enum { FAKE_GROUP_RANKS = 8 };
const mxci_process_group_api *fake_group_api(int rank);

/* Before the ranks open their stores: how many there are. */
void fake_group_start(int size);
/* After all have closed theirs, or given up; waits for those that are doing so. */
void fake_group_end(void);
/* From now on the rank's operations do not move, and nobody hears of it. */
void fake_group_freeze(int rank);
/* Wait until it does: what is asked for from then on, it does not hear of. */
void fake_group_await_frozen(int rank);
/* The next sums of a rank, so many of them, are refused. */
void fake_group_refuse(int rank, int sums);
/* Until the group's end: collective operations that all ranks have joined land only with the n-th test from then on. */
void fake_group_delay(int tests);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sharded updates: each rank receives the sum of, and updates, only its own share of a bucket's elements, so that it
 * keeps the optimizer's states of that share only (reduce-scatter). The new values are broadcast by their owners before
 * they are read (allgather). (ZeRO's first stage: Rajbhandari et al., 2020, arXiv:1910.02054, section 5.1.)
 */
#ifndef MXCI_KVSTORE_SHARD_H
#define MXCI_KVSTORE_SHARD_H

#include <mxc/optimizer.h>

#include "kvstore/exchange.h"

typedef struct mxci_shard mxci_shard;

void mxci_shard_destroy(mxci_shard *shard); /* NULL is fine */

/**
 * Queue one step of keys of one dtype. The same keys must be pushed together in every step.
 * @param sums  n of this process, borrowed
 * MXC_EINVAL (a key was pushed with other keys before), MXC_ENOMEM, statuses of the optimizer
 */
mxc_status mxci_shard_push(mxci_comm *comm, mxc_dtype wire, int n, mxci_key *const *keys, mxc_ndarray *const *sums,
                           mxc_optimizer *optimizer, int priority);
/* Before a key's value is read: queue fetching the shares of its bucket that other ranks have updated, if it is stale.
 */
mxc_status mxci_shard_pull(mxci_comm *comm, mxci_key *key, int priority);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous updates by parameter servers (Li et al. 2014). Servers keep the parameters and update them as gradients
 * arrive. Every rank is a worker, and the first ones are servers too. A large key is split into ranges, one for each
 * server; a small one is kept by one server.
 *
 * A worker may be ahead of the slowest by a bounded number of updates: a pull is deferred until no worker's pushes of
 * the key are more than staleness behind those of the worker that pulls (stale synchronous parallel, Ho et al. 2013).
 *
 * Messages, all between a worker and a server:
 *   PUSH         worker to server: a part of a gradient, and the learning rate. Not answered.
 *   PULL         worker to server: asks for a part of a value. Answered by one VALUE, perhaps later (deferred).
 *   VALUE        server to worker: the part after all updates received before, or an error.
 *   WORKER_DONE  worker to server: the worker pushes no more, so that no pull is deferred for its updates.
 * A worker sends its pushes and pulls of one key in program order. A server never waits: deferred pulls are kept in a
 * list and served by the push that makes them possible. So there is no cycle of waiting: a pull waits for slower
 * workers, and the slowest worker's pulls are never deferred.
 */
#ifndef MXCI_KVSTORE_ASYNC_H
#define MXCI_KVSTORE_ASYNC_H

#include <mxc/optimizer.h>

#include "kvstore/comm.h"
#include "kvstore/key.h"

typedef struct mxci_async mxci_async;

typedef struct mxci_async_settings {
    int64_t servers; /* ranks that are servers, the first ones; 0: all */
    int64_t staleness;
    int64_t split_bytes; /* keys of at least this size are split over all servers */
} mxci_async_settings;

/* Statuses of mxci_comm_open. *comm: its communication, valid until it is closed. */
mxc_status mxci_async_open(const mxci_process_group_api *api, const mxci_comm_settings *comm_settings,
                           const mxci_async_settings *settings, mxci_async **out, mxci_comm **comm);
/* Blocks until all queued work is done and all workers close. NULL is allowed. */
void mxci_async_close(mxci_async *async);
/* Set how this rank, as a server, applies gradients: it uses a copy of the optimizer, without its states. NULL: a
 * gradient replaces the value. MXC_ENOMEM. */
mxc_status mxci_async_set_optimizer(mxci_async *async, const mxc_optimizer *optimizer);
/* Add a key, whose first value is queued, at its servers. Blocks until all workers have added it. */
mxc_status mxci_async_add(mxci_async *async, mxci_key *key);
/* Queue sending a gradient, to be applied with this rate. */
mxc_status mxci_async_push(mxci_async *async, mxci_key *key, mxc_ndarray *gradient, double lr, int priority);
/* Queue fetching the servers' value to key->stored. */
mxc_status mxci_async_pull(mxci_async *async, mxci_key *key, int priority);

#endif

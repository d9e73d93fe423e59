/*
 * A store without steps in common: parameters live at servers, which update them as gradients arrive. Every rank is a
 * worker, and the first ones are servers too. A large key is spread over all servers, a small one lives at one of them.
 *
 * A worker may be ahead of the slowest by a bound: a pull waits until every worker's pushes of the key are not more
 * than staleness behind the puller's own (stale synchronous parallel, Ho et al. 2013).
 */
#ifndef MXCI_KVSTORE_ASYNC_H
#define MXCI_KVSTORE_ASYNC_H

#include <mxc/optimizer.h>

#include "kvstore/comm.h"
#include "kvstore/key.h"

typedef struct mxci_async mxci_async;

typedef struct mxci_async_settings {
    int64_t servers; /* ranks that serve; 0: all */
    int64_t staleness;
    int64_t split_bytes; /* keys from this size on are spread */
} mxci_async_settings;

/* MXC_EINVAL (more servers than ranks); else as mxci_comm_open. *comm: what it communicates by, until it is closed. */
mxc_status mxci_async_open(const mxci_process_group_api *api, const mxci_comm_settings *comm_settings,
                           const mxci_async_settings *settings, mxci_async **out, mxci_comm **comm);
/* Blocks until all that was queued is done and all workers close. NULL is fine. */
void mxci_async_close(mxci_async *async);
/* What servers do with gradients, which their own rank says: a copy of the optimizer is made, with none of its states.
 * NULL: a gradient replaces the value. MXC_ENOMEM. */
mxc_status mxci_async_set_optimizer(mxci_async *async, const mxc_optimizer *optimizer);
/* Let servers have a new key, whose first value is queued. Blocks until all workers have come. */
mxc_status mxci_async_add(mxci_async *async, mxci_key *e);
/* Queue sending a gradient, to be applied with this rate. */
mxc_status mxci_async_push(mxci_async *async, mxci_key *e, mxc_ndarray *gradient, double lr, int priority);
/* Queue fetching the servers' value to e->stored. */
mxc_status mxci_async_pull(mxci_async *async, mxci_key *e, int priority);

#endif

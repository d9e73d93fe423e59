/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the key-value store: what the library's own training loop and the tests may do. */
#ifndef MXCI_KVSTORE_KVSTORE_H
#define MXCI_KVSTORE_KVSTORE_H

#include <mxc/kvstore.h>

#include "base/process_group.h"

/* Make an array itself the stored value, without a copy: it is updated in place, and pulling into it does nothing. In a
 * distributed store it gets rank 0's value. MXC_EEXIST, MXC_ENOMEM. */
mxc_status mxci_kvstore_adopt(mxc_kvstore *store, const char *key, mxc_ndarray *array);

/* As mxc_kvstore_create_with, over another group of processes than MPI's. */
mxc_status mxci_kvstore_create_on(const mxci_process_group_api *api, const char *type, int n_params,
                                  const char *const *keys, const char *const *values, mxc_kvstore **out);

/* 1 if there are several processes that update together: dist_sync, not dist_async. */
int mxci_kvstore_is_synchronous(const mxc_kvstore *store);
/* Does each worker update only its share of the parameters? */
int mxci_kvstore_is_sharded(const mxc_kvstore *store);

/* Replace value by the minimum over all workers. name is for messages. Blocks. MXC_EWORKER. */
mxc_status mxci_kvstore_allreduce_min(mxc_kvstore *store, const char *name, int64_t *value);

#endif

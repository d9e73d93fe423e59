/* SPDX-License-Identifier: Apache-2.0 */
/* One key of a store: the stored value, and what one push or pull names for it. */
#ifndef MXCI_KVSTORE_KEY_H
#define MXCI_KVSTORE_KEY_H

#include <mxc/ndarray.h>
#include <mxc/op.h>

struct mxci_bucket; /* exchange.h */

typedef struct mxci_key {
    char *key;
    mxc_ndarray *stored;
    mxc_ndarray *sum;           /* of this process's values; made at the first push that needs it */
    mxc_ndarray **local_copies; /* of values on other contexts than stored, by position; NULL where not needed */
    mxc_op *add;                /* add_n over n_add values */
    int n_add, n_local_copies;
    mxc_ndarray **pending; /* what the current call names, in its order */
    int n_pending, cap_pending;
    int64_t pushes;
    int on_gpus;                /* the workers' GPUs can reduce it (gpu_sums.h) */
    struct mxci_bucket *bucket; /* of the last push in a group of processes; a reference */
    int32_t index;              /* dist_async: its number, which messages carry */
} mxci_key;

/* With a reference to the array that it stores. MXC_ENOMEM. */
mxc_status mxci_key_create(const char *key, mxc_ndarray *stored, mxci_key **out);
void mxci_key_destroy(mxci_key *e);
/* Add an array to what is pending. MXC_ESHAPE, MXC_EDTYPE, MXC_ENOMEM. */
mxc_status mxci_key_add(mxci_key *e, mxc_ndarray *value);
/* Queue the sum of what is pending, where stored is; a single value is its own sum. *out is borrowed. */
mxc_status mxci_key_reduce(mxci_key *e, int priority, mxc_ndarray **out);
/* e->sum, which is made if need be. MXC_ENOMEM. */
mxc_status mxci_key_sum(mxci_key *e, mxc_ndarray **out);

#endif

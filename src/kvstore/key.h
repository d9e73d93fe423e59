/* SPDX-License-Identifier: Apache-2.0 */
/* One key of a store: the stored value, the arrays that one push or pull passes for it, and their sum. */
#ifndef MXCI_KVSTORE_KEY_H
#define MXCI_KVSTORE_KEY_H

#include <mxc/ndarray.h>
#include <mxc/op.h>

struct mxci_bucket; /* exchange.h */

typedef struct mxci_key {
    char *name;
    mxc_ndarray *stored;
    mxc_ndarray *sum;           /* of this process's values, shaped as stored; made at the first push that needs it */
    mxc_ndarray **local_copies; /* of pending values on other contexts than stored, by index; NULL where not needed */
    mxc_op *add;                /* add_n over n_add values */
    int n_add, n_local_copies;
    mxc_ndarray **pending; /* the arrays that the current call passes for the key, in its order; borrowed */
    int n_pending, cap_pending;
    int64_t pushes;
    int on_gpus;                /* the workers' GPUs can reduce it (gpu_sums.h) */
    struct mxci_bucket *bucket; /* of the last push in a group of processes; a reference */
    int32_t index;              /* dist_async: its number, which messages carry */
} mxci_key;

/* A key with a reference to the array that it stores; the caller destroys it. MXC_ENOMEM. */
mxc_status mxci_key_create(const char *name, mxc_ndarray *stored, mxci_key **out);
void mxci_key_destroy(mxci_key *key);
/* Append an array, shaped as stored, to the pending ones. MXC_ESHAPE, MXC_EDTYPE, MXC_ENOMEM. */
mxc_status mxci_key_add(mxci_key *key, mxc_ndarray *value);
/* Queue summing the pending arrays, on the context of stored; a single one is its own sum. *out is borrowed. */
mxc_status mxci_key_reduce(mxci_key *key, int priority, mxc_ndarray **out);
/* key->sum, which is created if it is missing. MXC_ENOMEM. */
mxc_status mxci_key_sum(mxci_key *key, mxc_ndarray **out);

#endif

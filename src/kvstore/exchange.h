/*
 * Sums over the processes of a group, of keys that travel together: their values lie side by side in one array of the
 * host, the bucket, which is summed as a whole.
 */
#ifndef MXCI_KVSTORE_EXCHANGE_H
#define MXCI_KVSTORE_EXCHANGE_H

#include "kvstore/comm.h"
#include "kvstore/key.h"

typedef struct mxci_bucket mxci_bucket;

void mxci_bucket_release(mxci_bucket *bucket); /* NULL is fine */

/* How values travel. */
typedef struct mxci_wire {
    mxc_dtype dtype;  /* in which they are summed */
    float threshold;  /* 0, or of two-bit compression, where dtype is MXC_F32 */
} mxci_wire;

/**
 * Queue summing over all ranks. The keys have one dtype; which they are is the same at each rank, and in each step
 * where the bucket is to be used again.
 * @param sums  n of this process, borrowed; replaced by those of all ranks, which are the keys'
 */
mxc_status mxci_exchange_sum(mxci_comm *comm, mxci_wire wire, int n, mxci_key *const *entries, mxc_ndarray **sums,
                             int priority);
/* Queue replacing an array, of any context, by rank 0's. */
mxc_status mxci_exchange_first(mxci_comm *comm, const char *key, mxc_ndarray *array);

#endif

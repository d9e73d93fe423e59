/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allreduce of the keys of one push. Keys of one dtype are copied side by side into one array, the bucket, which
 * is reduced as a whole (as the gradient buckets of PyTorch's DistributedDataParallel: Li et al. 2020,
 * arXiv:2006.15704).
 */
#ifndef MXCI_KVSTORE_EXCHANGE_H
#define MXCI_KVSTORE_EXCHANGE_H

#include "kvstore/comm.h"
#include "kvstore/key.h"

enum { MXCI_BUCKET_NAME = 160 };

typedef struct mxci_bucket {
    int refs; /* one for each key whose last push used it */
    int n;
    mxc_dtype wire;
    mxci_key **keys;
    mxc_ndarray **views; /* n parts of flat, shaped as the keys */
    mxc_ndarray *flat;   /* on cpu(0); with on_gpus on the context of the keys */
    int on_gpus;         /* as the keys, whose dtype is then the wire's */
    mxc_ndarray *residual, *codes,
        *all_codes;           /* of compression: the error to feed back; this rank's codes and all ranks' (ranks, n) */
    struct mxci_shard *shard; /* shard.h; NULL: each rank updates all of it */
    char name[MXCI_BUCKET_NAME]; /* of the call that pushes it */
} mxci_bucket;

/* Its length is a multiple of ranks, and the offset of each key depends on nothing but the sizes of the keys. */
mxc_status mxci_bucket_create(int n, mxci_key *const *keys, mxc_dtype wire, int ranks, mxci_bucket **out);
/* The bucket of these keys, owned by them: that of their last push if it had the same keys, else a new one. */
mxc_status mxci_bucket_get(int n, mxci_key *const *keys, mxc_dtype wire, int ranks, mxci_bucket **out);
void mxci_bucket_release(mxci_bucket *bucket); /* NULL is allowed */
/* Elements [begin, begin + the shape's size) of an array, with that shape. */
mxc_status mxci_bucket_view(mxc_ndarray *flat, int64_t begin, const mxc_shape *shape, mxc_ndarray **out);
/* Offset in elements of key i in the bucket. */
int64_t mxci_bucket_begin(const mxci_bucket *bucket, int i);

/* How values are encoded for sending. */
typedef struct mxci_wire_format {
    mxc_dtype dtype; /* of the sum */
    float threshold; /* of two-bit compression, which needs dtype MXC_F32; 0: not compressed */
} mxci_wire_format;

/**
 * Queue summing over all ranks. The keys have one dtype; which they are is the same at each rank, and in each step
 * where the bucket is to be used again.
 * @param sums  n sums of this process, borrowed; replaced by those of all ranks, which belong to the keys
 */
mxc_status mxci_exchange_sum(mxci_comm *comm, mxci_wire_format wire, int n, mxci_key *const *keys, mxc_ndarray **sums,
                             int priority);
/* Queue a call on arrays of the host, or, with on_gpus, of the workers' GPUs. */
mxc_status mxci_exchange_queue(mxci_comm *comm, const mxci_call *call, mxc_ndarray *in, mxc_ndarray *out);
/* Can the key use its part of the bucket directly: is it on the same context, in the dtype of the wire? */
int mxci_exchange_needs_no_copy(const mxci_key *key, mxc_dtype wire);
/* Queue replacing an array, of any context, by that of rank 0: the first value of a key. */
mxc_status mxci_exchange_broadcast_init(mxci_comm *comm, const char *key, mxc_ndarray *array);

#endif

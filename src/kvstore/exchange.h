/*
 * Sums over the processes of a group, of keys that travel together: their values lie side by side in one array of the
 * host, the bucket, which is summed as a whole.
 */
#ifndef MXCI_KVSTORE_EXCHANGE_H
#define MXCI_KVSTORE_EXCHANGE_H

#include "kvstore/comm.h"
#include "kvstore/key.h"

enum { MXCI_BUCKET_WHAT = 160 };

typedef struct mxci_bucket {
    int refs; /* of its keys */
    int n;
    mxc_dtype wire;
    mxci_key **keys;
    mxc_ndarray **views;                   /* n parts of flat, shaped as the keys */
    mxc_ndarray *flat;                     /* on cpu(0), or with on_gpus where the keys are */
    int on_gpus;                           /* as the keys; their dtype is the wire's then */
    mxc_ndarray *rest, *words, *all_words; /* of compression: left over; this rank's and all ranks' (ranks, n) */
    struct mxci_shard *shard;              /* shard.h; NULL: each rank updates all of it */
    char what[MXCI_BUCKET_WHAT];           /* a push of it, for messages */
} mxci_bucket;

/* With a length that is a multiple of ranks, and a place for each key that depends on nothing but their sizes. */
mxc_status mxci_bucket_create(int n, mxci_key *const *keys, mxc_dtype wire, int ranks, mxci_bucket **out);
/* The keys' bucket: that of the last push if it was of the same ones; it is theirs. */
mxc_status mxci_bucket_get(int n, mxci_key *const *keys, mxc_dtype wire, int ranks, mxci_bucket **out);
void mxci_bucket_release(mxci_bucket *bucket); /* NULL is fine */
/* Elements [begin, begin + the shape's size) of an array, with that shape. */
mxc_status mxci_bucket_view(mxc_ndarray *flat, int64_t begin, const mxc_shape *shape, mxc_ndarray **out);
/* Elements of a bucket before its key i's. */
int64_t mxci_bucket_begin(const mxci_bucket *bucket, int i);

/* How values travel. */
typedef struct mxci_wire {
    mxc_dtype dtype; /* in which they are summed */
    float threshold; /* 0, or of two-bit compression, where dtype is MXC_F32 */
} mxci_wire;

/**
 * Queue summing over all ranks. The keys have one dtype; which they are is the same at each rank, and in each step
 * where the bucket is to be used again.
 * @param sums  n of this process, borrowed; replaced by those of all ranks, which are the keys'
 */
mxc_status mxci_exchange_sum(mxci_comm *comm, mxci_wire wire, int n, mxci_key *const *entries, mxc_ndarray **sums,
                             int priority);
/* Queue a call on arrays of the host, or, where it says so, of the workers' GPUs. */
mxc_status mxci_exchange_queue(mxci_comm *comm, const mxci_call *call, mxc_ndarray *in, mxc_ndarray *out);
/* Does the key live where its bucket does, as a wire of this dtype has it? */
int mxci_exchange_is_home(const mxci_key *e, mxc_dtype wire);
/* Queue replacing an array, of any context, by rank 0's. */
mxc_status mxci_exchange_first(mxci_comm *comm, const char *key, mxc_ndarray *array);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank's share of a bucket: gradients are reduced to the rank that owns them (reduce-scatter), the optimizer
 * updates the share there, and the new values are broadcast by their owners when they are next read. */
#include "kvstore/shard.h"

#include "base/sys.h"
#include "base/text.h"

/* The part of a key that lies in this rank's share. */
typedef struct shard_slice {
    const mxci_key *key;
    /* All are vectors of the slice's length; the first three are views. */
    mxc_ndarray *weight;      /* of the stored value */
    mxc_ndarray *sum, *value; /* of the buckets of gradients and of values */
    mxc_ndarray *grad;        /* a copy of sum on weight's context in its dtype; NULL: sum itself can be used */
} shard_slice;

struct mxci_shard {
    mxci_bucket *values; /* of the keys, in their dtype */
    int n;
    int is_stale;        /* this rank's values have been updated and not been broadcast */
    shard_slice *slices; /* n, in the order of the keys */
    char name[MXCI_BUCKET_NAME];
};

void mxci_shard_destroy(mxci_shard *shard) {
    if (!shard)
        return;
    for (int i = 0; i < shard->n; i++) {
        mxc_ndarray_release(shard->slices[i].weight);
        mxc_ndarray_release(shard->slices[i].sum);
        mxc_ndarray_release(shard->slices[i].value);
        mxc_ndarray_release(shard->slices[i].grad);
    }
    if (shard->values) {
        shard->values->refs = 1;
        mxci_bucket_release(shard->values);
    }
    mxci_free(shard->slices);
    mxci_free(shard);
}

/* ---- making one -------------------------------------------------------------------------------------------------- */

/* Fill in a slice for elements [begin, end) of a bucket, which all belong to its key i. On failure the slice's arrays
 * are released with the shard. */
static mxc_status shard_slice_init(shard_slice *slice, const mxci_bucket *bucket, const mxci_shard *shard, int i,
                                   int64_t begin, int64_t end) {
    const mxc_shape part = {1, {end - begin}};
    const mxci_key *key = bucket->keys[i];
    mxc_ndarray *stored;
    slice->key = key;
    MXC_TRY(mxci_bucket_view(bucket->flat, begin, &part, &slice->sum));
    MXC_TRY(mxci_bucket_view(shard->values->flat, begin, &part, &slice->value));
    MXC_TRY(mxc_ndarray_reshape(key->stored, 1, (int64_t[]){mxc_ndarray_size(key->stored)}, &stored));
    mxc_status status = mxci_bucket_view(stored, begin - mxci_bucket_begin(bucket, i), &part, &slice->weight);
    mxc_ndarray_release(stored);
    MXC_TRY(status);
    if (mxci_exchange_needs_no_copy(key, bucket->wire))
        return MXC_OK;
    return mxc_ndarray_create(1, part.dim, mxc_ndarray_dtype(key->stored), mxc_ndarray_context(key->stored),
                              &slice->grad);
}

/* The bucket is divided evenly: rank r owns elements [r * share, (r + 1) * share), which cut through keys. */
static mxc_status shard_init(mxci_shard *shard, const mxci_bucket *bucket, int rank, int ranks) {
    int64_t share = mxc_ndarray_size(bucket->flat) / ranks, first = share * rank;
    MXC_TRY(
        mxci_bucket_create(bucket->n, bucket->keys, mxc_ndarray_dtype(bucket->keys[0]->stored), ranks, &shard->values));
    for (int i = 0; i < bucket->n; i++) {
        int64_t begin = mxci_bucket_begin(bucket, i), end = begin + mxc_ndarray_size(bucket->keys[i]->stored);
        begin = begin > first ? begin : first;
        end = end < first + share ? end : first + share;
        if (begin < end)
            MXC_TRY(shard_slice_init(&shard->slices[shard->n++], bucket, shard, i, begin, end));
    }
    mxci_format(shard->name, sizeof shard->name, "new values after %s", bucket->name);
    return MXC_OK;
}

static mxc_status shard_create(const mxci_bucket *bucket, int rank, int ranks, mxci_shard **out) {
    mxci_shard *shard = mxci_calloc(1, sizeof *shard);
    *out = NULL;
    if (shard)
        shard->slices = mxci_calloc((size_t)bucket->n, sizeof *shard->slices);
    mxc_status status = shard && shard->slices
                            ? shard_init(shard, bucket, rank, ranks)
                            : MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for shares of %d keys", bucket->n);
    if (status == MXC_OK)
        *out = shard;
    else
        mxci_shard_destroy(shard);
    return status;
}

/* The bucket of these keys, with a shard. The optimizer keeps states for the slices of the share, so the keys of a
 * bucket may not change between steps. */
static mxc_status get_sharded_bucket(mxci_comm *comm, mxc_dtype wire, int n, mxci_key *const *keys, mxci_bucket **out) {
    int ranks = mxci_comm_size(comm);
    for (int i = 0; i < n; i++) {
        const mxci_bucket *bucket = keys[i]->bucket;
        if (bucket && (bucket->n != n || bucket->keys[i] != keys[i]))
            return MXC_FAIL(MXC_EINVAL,
                            "kvstore: key \"%s\" was pushed with other keys before: with shard=true the same ones are "
                            "pushed together in every step",
                            keys[i]->name);
    }
    MXC_TRY(mxci_bucket_get(n, keys, wire, ranks, out));
    if ((*out)->shard != NULL)
        return MXC_OK;
    return shard_create(*out, mxci_comm_rank(comm), ranks, &(*out)->shard);
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

mxc_status mxci_shard_push(mxci_comm *comm, mxc_dtype wire, int n, mxci_key *const *keys, mxc_ndarray *const *sums,
                           mxc_optimizer *optimizer, int priority) {
    mxci_bucket *bucket;
    MXC_TRY(mxci_comm_check(comm));
    MXC_TRY(get_sharded_bucket(comm, wire, n, keys, &bucket));
    for (int i = 0; i < n; i++)
        MXC_TRY(mxc_ndarray_copy_to(sums[i], bucket->views[i], priority));
    mxci_call call = {
        .kind = MXCI_CALL_REDUCE,
        .dtype = wire,
        .name = bucket->name,
        .priority = priority,
        .n = mxc_ndarray_size(bucket->flat),
        .step = keys[0]->pushes,
    };
    call.share = call.n / mxci_comm_size(comm);
    MXC_TRY(mxci_exchange_queue(comm, &call, bucket->flat, bucket->flat));
    for (int i = 0; i < n; i++)
        keys[i]->pushes++;
    for (int i = 0; i < bucket->shard->n; i++) {
        const shard_slice *slice = &bucket->shard->slices[i];
        if (slice->grad)
            MXC_TRY(mxc_ndarray_copy_to(slice->sum, slice->grad, priority));
        MXC_TRY(
            mxc_optimizer_update(optimizer, slice->key->name, slice->weight, slice->grad ? slice->grad : slice->sum));
    }
    bucket->shard->is_stale = 1;
    return MXC_OK;
}

mxc_status mxci_shard_pull(mxci_comm *comm, mxci_key *key, int priority) {
    mxci_shard *shard = key->bucket ? key->bucket->shard : NULL;
    if (!shard || !shard->is_stale)
        return MXC_OK;
    const mxci_bucket *values = shard->values;
    mxci_call call = {
        .kind = MXCI_CALL_BROADCAST,
        .name = shard->name,
        .priority = priority,
        .n = (int64_t)mxc_ndarray_bytes(values->flat),
        .step = key->pushes - 1,
    };
    call.share = call.n / mxci_comm_size(comm);
    shard->is_stale = 0;
    for (int i = 0; i < shard->n; i++)
        MXC_TRY(mxc_ndarray_copy_to(shard->slices[i].weight, shard->slices[i].value, priority));
    MXC_TRY(mxci_exchange_queue(comm, &call, values->flat, values->flat));
    for (int i = 0; i < values->n; i++)
        MXC_TRY(mxc_ndarray_copy_to(values->views[i], values->keys[i]->stored, priority));
    return MXC_OK;
}

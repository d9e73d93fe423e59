/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank's share of a bucket: its gradients are reduced to this rank, updated here, and the new values broadcast. */
#include "kvstore/shard.h"

#include "base/sys.h"
#include "base/text.h"

/* The part of a key that lies in this rank's share. */
typedef struct shard_slice {
    const mxci_key *key;
    mxc_ndarray *weight;      /* of the stored value */
    mxc_ndarray *sum, *value; /* of the buckets of gradients and of values */
    mxc_ndarray *grad;        /* as weight; NULL: sum will do */
} shard_slice;

struct mxci_shard {
    mxci_bucket *values; /* of the keys, in their dtype */
    int n, is_stale;     /* is_due: values have been updated and not been spread */
    shard_slice *slices;
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

/* Elements [begin, end) of a bucket, which are a part of key i's. */
static mxc_status shard_slice_init(shard_slice *s, const mxci_bucket *b, const mxci_shard *shard, int i, int64_t begin,
                                   int64_t end) {
    const mxc_shape part = {1, {end - begin}};
    const mxci_key *key = b->keys[i];
    mxc_ndarray *stored;
    s->key = key;
    MXC_TRY(mxci_bucket_view(b->flat, begin, &part, &s->sum));
    MXC_TRY(mxci_bucket_view(shard->values->flat, begin, &part, &s->value));
    MXC_TRY(mxc_ndarray_reshape(key->stored, 1, (int64_t[]){mxc_ndarray_size(key->stored)}, &stored));
    mxc_status status = mxci_bucket_view(stored, begin - mxci_bucket_begin(b, i), &part, &s->weight);
    mxc_ndarray_release(stored);
    MXC_TRY(status);
    if (mxci_exchange_needs_no_copy(key, b->wire))
        return MXC_OK;
    return mxc_ndarray_create(1, part.dim, mxc_ndarray_dtype(key->stored), mxc_ndarray_context(key->stored), &s->grad);
}

static mxc_status shard_init(mxci_shard *shard, const mxci_bucket *b, int rank, int ranks) {
    int64_t share = mxc_ndarray_size(b->flat) / ranks, first = share * rank;
    MXC_TRY(mxci_bucket_create(b->n, b->keys, mxc_ndarray_dtype(b->keys[0]->stored), ranks, &shard->values));
    for (int i = 0; i < b->n; i++) {
        int64_t begin = mxci_bucket_begin(b, i), end = begin + mxc_ndarray_size(b->keys[i]->stored);
        begin = begin > first ? begin : first;
        end = end < first + share ? end : first + share;
        if (begin < end)
            MXC_TRY(shard_slice_init(&shard->slices[shard->n++], b, shard, i, begin, end));
    }
    mxci_format(shard->name, sizeof shard->name, "new values after %s", b->name);
    return MXC_OK;
}

static mxc_status shard_create(const mxci_bucket *b, int rank, int ranks, mxci_shard **out) {
    mxci_shard *shard = mxci_calloc(1, sizeof *shard);
    *out = NULL;
    if (shard)
        shard->slices = mxci_calloc((size_t)b->n, sizeof *shard->slices);
    mxc_status status = shard && shard->slices ? shard_init(shard, b, rank, ranks)
                                               : MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for shares of %d keys", b->n);
    if (status == MXC_OK)
        *out = shard;
    else
        mxci_shard_destroy(shard);
    return status;
}

/* The keys' bucket, with a shard. States of an optimizer belong to a share, so that may never change. */
static mxc_status get_sharded_bucket(mxci_comm *comm, mxc_dtype wire, int n, mxci_key *const *keys, mxci_bucket **out) {
    int ranks = mxci_comm_size(comm);
    for (int i = 0; i < n; i++) {
        const mxci_bucket *b = keys[i]->bucket;
        if (b && (b->n != n || b->keys[i] != keys[i]))
            return MXC_FAIL(MXC_EINVAL,
                            "kvstore: key \"%s\" was pushed with other keys before: with shard=true the same ones are "
                            "pushed together in every step",
                            keys[i]->key);
    }
    MXC_TRY(mxci_bucket_get(n, keys, wire, ranks, out));
    if ((*out)->shard != NULL)
        return MXC_OK;
    return shard_create(*out, mxci_comm_rank(comm), ranks, &(*out)->shard);
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

static mxc_status update_slice(const shard_slice *s, mxc_optimizer *optimizer, int priority) {
    if (s->grad)
        MXC_TRY(mxc_ndarray_copy_to(s->sum, s->grad, priority));
    return mxc_optimizer_update(optimizer, s->key->key, s->weight, s->grad ? s->grad : s->sum);
}

mxc_status mxci_shard_push(mxci_comm *comm, mxc_dtype wire, int n, mxci_key *const *keys, mxc_ndarray *const *sums,
                           mxc_optimizer *optimizer, int priority) {
    mxci_bucket *b;
    MXC_TRY(mxci_comm_check(comm));
    MXC_TRY(get_sharded_bucket(comm, wire, n, keys, &b));
    for (int i = 0; i < n; i++)
        MXC_TRY(mxc_ndarray_copy_to(sums[i], b->views[i], priority));
    mxci_call call = {
        .kind = MXCI_CALL_REDUCE,
        .dtype = wire,
        .name = b->name,
        .priority = priority,
        .n = mxc_ndarray_size(b->flat),
        .step = keys[0]->pushes,
    };
    call.share = call.n / mxci_comm_size(comm);
    MXC_TRY(mxci_exchange_queue(comm, &call, b->flat, b->flat));
    for (int i = 0; i < n; i++)
        keys[i]->pushes++;
    for (int i = 0; i < b->shard->n; i++)
        MXC_TRY(update_slice(&b->shard->slices[i], optimizer, priority));
    b->shard->is_stale = 1;
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

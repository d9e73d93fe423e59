/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets: how the keys of a push lie in one array, and the engine tasks that report an array as ready to the
 * communication thread and complete when its call does. */
#include "kvstore/exchange.h"

#include <stdatomic.h>
#include <string.h>

#include "base/sys.h"
#include "base/text.h"
#include "kvstore/compress.h"
#include "kvstore/shard.h"
#include "ndarray/array.h"

enum { NAME = MXCI_BUCKET_NAME, ALIGNMENT = 32 }; /* elements */

/* ---- buckets ----------------------------------------------------------------------------------------------------- */

static void bucket_free(mxci_bucket *bucket) {
    for (int i = 0; bucket->views && i < bucket->n; i++)
        mxc_ndarray_release(bucket->views[i]);
    mxc_ndarray_release(bucket->flat);
    mxc_ndarray_release(bucket->residual);
    mxc_ndarray_release(bucket->codes);
    mxc_ndarray_release(bucket->all_codes);
    mxci_shard_destroy(bucket->shard);
    mxci_free(bucket->views);
    mxci_free(bucket->keys);
    mxci_free(bucket);
}

void mxci_bucket_release(mxci_bucket *bucket) {
    if (bucket && --bucket->refs == 0)
        bucket_free(bucket);
}

int64_t mxci_bucket_begin(const mxci_bucket *bucket, int i) {
    int64_t begin = 0;
    while (i-- > 0)
        begin += (mxc_ndarray_size(bucket->keys[i]->stored) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return begin;
}

mxc_status mxci_bucket_view(mxc_ndarray *flat, int64_t begin, const mxc_shape *shape, mxc_ndarray **out) {
    mxc_ndarray *part;
    MXC_TRY(mxc_ndarray_slice(flat, begin, begin + mxc_shape_size(shape), &part));
    mxc_status status = mxc_ndarray_reshape(part, shape->ndim, shape->dim, out);
    mxc_ndarray_release(part);
    return status;
}

/* Lay the keys out one behind the other, each aligned, in an array that divides evenly among the ranks. */
static mxc_status make_views(mxci_bucket *bucket, int ranks) {
    int64_t share = (mxci_bucket_begin(bucket, bucket->n) + ranks - 1) / ranks;
    int64_t total = (share + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT * ranks;
    mxc_context where = bucket->on_gpus ? mxc_ndarray_context(bucket->keys[0]->stored) : mxc_cpu(0);
    MXC_TRY(mxc_ndarray_create(1, &total, bucket->wire, where, &bucket->flat));
    MXC_TRY(mxc_ndarray_fill(bucket->flat, 0)); /* also the gaps between the keys, which are summed too */
    for (int i = 0; i < bucket->n; i++)
        MXC_TRY(mxci_bucket_view(bucket->flat, mxci_bucket_begin(bucket, i), mxc_ndarray_shape(bucket->keys[i]->stored),
                                 &bucket->views[i]));
    return MXC_OK;
}

/* The name of its call. Names of buckets with different keys or sizes differ, by a hash of all keys (FNV-1a). */
static void name_bucket(mxci_bucket *bucket) {
    mxci_line line = {bucket->name, sizeof bucket->name, 0};
    uint32_t hash = 2166136261u;
    mxci_line_printf(&line, "push of \"%.40s\"", bucket->keys[0]->name);
    for (int i = 0; i < bucket->n; i++)
        for (const char *c = bucket->keys[i]->name;; c++) {
            hash = (hash ^ (unsigned char)*c) * 16777619u;
            if (*c == '\0')
                break;
        }
    if (bucket->n > 1)
        mxci_line_printf(&line, " and %d more, to \"%.40s\"", bucket->n - 1, bucket->keys[bucket->n - 1]->name);
    mxci_line_printf(&line, ", %s (%lld)%s [%08x]", mxc_dtype_name(bucket->wire),
                     (long long)mxc_ndarray_size(bucket->flat), bucket->on_gpus ? " by GPUs" : "", (unsigned)hash);
}

mxc_status mxci_bucket_create(int n, mxci_key *const *keys, mxc_dtype wire, int ranks, mxci_bucket **out) {
    mxci_bucket *bucket = mxci_calloc(1, sizeof *bucket);
    mxc_status status = MXC_OK;
    *out = NULL;
    if (bucket) {
        bucket->n = n;
        bucket->wire = wire;
        bucket->on_gpus = keys[0]->on_gpus;
        bucket->keys = mxci_calloc((size_t)n, sizeof *bucket->keys);
        bucket->views = mxci_calloc((size_t)n, sizeof *bucket->views);
    }
    if (!bucket || !bucket->keys || !bucket->views)
        status = MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d keys of one bucket", n);
    if (status == MXC_OK) {
        memcpy(bucket->keys, keys, (size_t)n * sizeof *keys);
        status = make_views(bucket, ranks);
    }
    if (status == MXC_OK) {
        name_bucket(bucket);
        *out = bucket;
    } else if (bucket)
        bucket_free(bucket);
    return status;
}

mxc_status mxci_bucket_get(int n, mxci_key *const *keys, mxc_dtype wire, int ranks, mxci_bucket **out) {
    mxci_bucket *last = keys[0]->bucket;
    *out = last;
    if (last && last->n == n && last->wire == wire && memcmp(last->keys, keys, (size_t)n * sizeof *keys) == 0)
        return MXC_OK;
    MXC_TRY(mxci_bucket_create(n, keys, wire, ranks, out));
    for (int i = 0; i < n; i++) {
        mxci_bucket_release(keys[i]->bucket);
        keys[i]->bucket = *out;
        (*out)->refs++;
    }
    return MXC_OK;
}

/* ---- exchanges --------------------------------------------------------------------------------------------------- */

/* One call and the engine function that reports its data as ready. References: one each of the thread that queues it,
 * of the function, and of the call. */
typedef struct exchange_task {
    mxci_call call; /* first, so that a call can be cast to its exchange */
    mxci_comm *comm;
    atomic_int refs;
    int has_run, task_ended; /* task_ended: read by the queueing thread only, after a push that failed */
    mxc_done *done;
    char name[NAME];
} exchange_task;

static void exchange_release(exchange_task *exchange) {
    if (atomic_fetch_sub(&exchange->refs, 1) > 1)
        return;
    mxc_ndarray_release(exchange->call.arrays[0]);
    mxc_ndarray_release(exchange->call.arrays[1]);
    mxci_free(exchange);
}

static void exchange_ended(mxci_call *call, mxc_status status, const char *error) {
    exchange_task *exchange = (exchange_task *)call;
    if (exchange->has_run)
        mxc_done_complete(exchange->done, status, error);
    exchange_release(exchange);
}

static mxc_status exchange_find_data(exchange_task *exchange) {
    mxc_tensor tensor;
    MXC_TRY(mxc_ndarray_tensor(exchange->call.arrays[0], &tensor));
    exchange->call.in = tensor.data;
    MXC_TRY(mxc_ndarray_tensor(exchange->call.arrays[1], &tensor));
    exchange->call.out = tensor.data;
    return MXC_OK;
}

static void exchange_run(const mxc_run *run, void *arg, mxc_done *done) {
    exchange_task *exchange = arg;
    (void)run;
    exchange->has_run = 1;
    exchange->done = done;
    if (exchange_find_data(exchange) == MXC_OK)
        mxci_comm_ready(exchange->comm, &exchange->call);
    else
        mxci_comm_cancel(exchange->comm, &exchange->call);
}

/* The engine drops the function. If it has not run, what it reads has failed. */
static void exchange_task_ended(void *arg) {
    exchange_task *exchange = arg;
    exchange->task_ended = 1;
    if (!exchange->has_run)
        mxci_comm_cancel(exchange->comm, &exchange->call);
    exchange_release(exchange);
}

/* The call gets its number here, in the order of the program; its data becomes ready when the engine runs the task. */
mxc_status mxci_exchange_queue(mxci_comm *comm, const mxci_call *call, mxc_ndarray *in, mxc_ndarray *out) {
    exchange_task *exchange = mxci_calloc(1, sizeof *exchange);
    if (!exchange)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %s", call->name);
    exchange->call = *call;
    exchange->call.on_completion = exchange_ended;
    exchange->call.name = exchange->name;
    exchange->call.arrays[0] = mxc_ndarray_retain(in);
    exchange->call.arrays[1] = mxc_ndarray_retain(out);
    exchange->comm = comm;
    atomic_init(&exchange->refs, 3);
    mxci_format(exchange->name, sizeof exchange->name, "%s", call->name);
    mxci_comm_enqueue(comm, &exchange->call);

    mxc_task task = MXC_TASK_INIT;
    mxc_var *read = mxc_ndarray_var(in), *written = mxc_ndarray_var(out);
    task.name = call->kind == MXCI_CALL_BROADCAST ? "kvstore_first" : "kvstore_sum";
    task.async_fn = exchange_run;
    task.arg = exchange;
    task.destroy = exchange_task_ended;
    task.priority = call->priority;
    task.flags = MXC_TASK_CHEAP | MXC_TASK_HELPED | (read == written ? MXC_TASK_UPDATES : 0);
    if (call->on_gpus) { /* run when the GPU has computed the values, on a thread that waits for the GPU anyway */
        task.context = mxc_ndarray_context(out);
        task.property = MXC_PROP_COPY_FROM_DEVICE;
        task.flags &= ~(unsigned)(MXC_TASK_CHEAP | MXC_TASK_HELPED);
    }
    mxc_status status = mxc_engine_push(mxc_var_engine(written), &task, read != written, &read, 1, &written, 0);
    if (status != MXC_OK && !exchange->task_ended) /* refused by the engine */
        exchange_task_ended(exchange);
    exchange_release(exchange);
    return status;
}

int mxci_exchange_needs_no_copy(const mxci_key *key, mxc_dtype wire) {
    return key->on_gpus || (mxci_on_host(mxc_ndarray_context(key->stored)) && mxc_ndarray_dtype(key->stored) == wire);
}

/* flat = the sum of all ranks' flat, compressed: the codes of all ranks are gathered, and every rank decodes and adds
 * them. An allreduce is not possible, since the sum of two codes is not a code. */
static mxc_status queue_compressed(mxci_comm *comm, mxci_bucket *bucket, mxci_call *call, float threshold) {
    const int64_t n = mxc_ndarray_size(bucket->flat), n_codes = n / MXCI_VALUES_PER_WORD;
    const int64_t all_dims[2] = {mxci_comm_size(comm), n_codes};
    if (!bucket->residual) {
        MXC_TRY(mxc_ndarray_create(1, &n, MXC_F32, mxc_cpu(0), &bucket->residual));
        MXC_TRY(mxc_ndarray_fill(bucket->residual, 0));
    }
    if (!bucket->codes)
        MXC_TRY(mxc_ndarray_create(1, &n_codes, MXC_I32, mxc_cpu(0), &bucket->codes));
    if (!bucket->all_codes)
        MXC_TRY(mxc_ndarray_create(2, all_dims, MXC_I32, mxc_cpu(0), &bucket->all_codes));
    MXC_TRY(mxci_compress(bucket->flat, bucket->residual, bucket->codes, threshold, call->priority));
    call->kind = MXCI_CALL_ALLGATHER;
    call->n = (int64_t)mxc_ndarray_bytes(bucket->codes);
    MXC_TRY(mxci_exchange_queue(comm, call, bucket->codes, bucket->all_codes));
    return mxci_expand(bucket->all_codes, bucket->flat, threshold, call->priority);
}

mxc_status mxci_exchange_sum(mxci_comm *comm, mxci_wire_format wire, int n, mxci_key *const *keys, mxc_ndarray **sums,
                             int priority) {
    mxci_bucket *bucket;
    MXC_TRY(mxci_comm_check(comm));
    MXC_TRY(mxci_bucket_get(n, keys, wire.dtype, 1, &bucket));
    int is_direct = n == 1 && mxci_exchange_needs_no_copy(keys[0], wire.dtype) && wire.threshold == 0;
    mxc_ndarray *in = is_direct ? sums[0] : bucket->flat;
    for (int i = 0; i < n && !is_direct; i++)
        MXC_TRY(mxc_ndarray_copy_to(sums[i], bucket->views[i], priority));
    /* A single key may use its own array at some ranks and the bucket, which is longer, at others. */
    int64_t length = mxc_ndarray_size(n == 1 ? sums[0] : bucket->flat);
    mxci_call call = {
        .kind = MXCI_CALL_REDUCE,
        .dtype = wire.dtype,
        .name = bucket->name,
        .priority = priority,
        .n = length,
        .step = keys[0]->pushes,
        .on_gpus = bucket->on_gpus,
    };
    if (wire.threshold > 0)
        MXC_TRY(queue_compressed(comm, bucket, &call, wire.threshold));
    else
        MXC_TRY(mxci_exchange_queue(comm, &call, in, bucket->flat));
    for (int i = 0; i < n; i++) {
        keys[i]->pushes++;
        sums[i] = bucket->views[i];
        if (mxci_exchange_needs_no_copy(keys[i], bucket->wire))
            continue;
        MXC_TRY(mxci_key_sum(keys[i], &sums[i])); /* a copy on the key's context, in its dtype */
        MXC_TRY(mxc_ndarray_copy_to(bucket->views[i], sums[i], priority));
    }
    return MXC_OK;
}

/* ---- first values ------------------------------------------------------------------------------------------------ */

static mxc_status broadcast_init(mxci_comm *comm, const char *key, mxc_ndarray *array) {
    char name[NAME], shape[MXC_SHAPE_TEXT];
    mxci_format(name, sizeof name, "init of %s %.64s \"%.60s\"", mxc_dtype_name(mxc_ndarray_dtype(array)),
                mxc_shape_format(mxc_ndarray_shape(array), shape, sizeof shape), key);
    const mxci_call call = {.kind = MXCI_CALL_BROADCAST, .name = name, .n = (int64_t)mxc_ndarray_bytes(array)};
    return mxci_exchange_queue(comm, &call, array, array);
}

mxc_status mxci_exchange_broadcast_init(mxci_comm *comm, const char *key, mxc_ndarray *array) {
    mxc_ndarray *copy;
    MXC_TRY(mxci_comm_check(comm));
    if (mxci_on_host(mxc_ndarray_context(array)))
        return broadcast_init(comm, key, array);
    MXC_TRY(mxc_ndarray_copy(array, mxc_cpu(0), mxc_ndarray_dtype(array), &copy));
    mxc_status status = broadcast_init(comm, key, copy);
    if (status == MXC_OK)
        status = mxc_ndarray_copy_to(copy, array, 0);
    mxc_ndarray_release(copy);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Buckets, and the engine functions that hand them to the communication thread. */
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

static void bucket_free(mxci_bucket *b) {
    for (int i = 0; b->views && i < b->n; i++)
        mxc_ndarray_release(b->views[i]);
    mxc_ndarray_release(b->flat);
    mxc_ndarray_release(b->residual);
    mxc_ndarray_release(b->codes);
    mxc_ndarray_release(b->all_codes);
    mxci_shard_destroy(b->shard);
    mxci_free(b->views);
    mxci_free(b->keys);
    mxci_free(b);
}

void mxci_bucket_release(mxci_bucket *bucket) {
    if (bucket && --bucket->refs == 0)
        bucket_free(bucket);
}

int64_t mxci_bucket_begin(const mxci_bucket *b, int i) {
    int64_t begin = 0;
    while (i-- > 0)
        begin += (mxc_ndarray_size(b->keys[i]->stored) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return begin;
}

mxc_status mxci_bucket_view(mxc_ndarray *flat, int64_t begin, const mxc_shape *shape, mxc_ndarray **out) {
    mxc_ndarray *part;
    MXC_TRY(mxc_ndarray_slice(flat, begin, begin + mxc_shape_size(shape), &part));
    mxc_status status = mxc_ndarray_reshape(part, shape->ndim, shape->dim, out);
    mxc_ndarray_release(part);
    return status;
}

static mxc_status make_views(mxci_bucket *b, int ranks) {
    int64_t share = (mxci_bucket_begin(b, b->n) + ranks - 1) / ranks;
    int64_t total = (share + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT * ranks;
    mxc_context where = b->on_gpus ? mxc_ndarray_context(b->keys[0]->stored) : mxc_cpu(0);
    MXC_TRY(mxc_ndarray_create(1, &total, b->wire, where, &b->flat));
    MXC_TRY(mxc_ndarray_fill(b->flat, 0)); /* between the keys too */
    for (int i = 0; i < b->n; i++)
        MXC_TRY(
            mxci_bucket_view(b->flat, mxci_bucket_begin(b, i), mxc_ndarray_shape(b->keys[i]->stored), &b->views[i]));
    return MXC_OK;
}

/* The name of its call. Names of buckets with different keys or sizes differ, by a hash of all keys (FNV-1a). */
static void name_bucket(mxci_bucket *b) {
    mxci_line line = {b->name, sizeof b->name, 0};
    uint32_t hash = 2166136261u;
    mxci_line_printf(&line, "push of \"%.40s\"", b->keys[0]->key);
    for (int i = 0; i < b->n; i++)
        for (const char *c = b->keys[i]->key;; c++) {
            hash = (hash ^ (unsigned char)*c) * 16777619u;
            if (*c == '\0')
                break;
        }
    if (b->n > 1)
        mxci_line_printf(&line, " and %d more, to \"%.40s\"", b->n - 1, b->keys[b->n - 1]->key);
    mxci_line_printf(&line, ", %s (%lld)%s [%08x]", mxc_dtype_name(b->wire), (long long)mxc_ndarray_size(b->flat),
                     b->on_gpus ? " by GPUs" : "", (unsigned)hash);
}

mxc_status mxci_bucket_create(int n, mxci_key *const *keys, mxc_dtype wire, int ranks, mxci_bucket **out) {
    mxci_bucket *b = mxci_calloc(1, sizeof *b);
    mxc_status status = MXC_OK;
    *out = NULL;
    if (b) {
        b->n = n;
        b->wire = wire;
        b->on_gpus = keys[0]->on_gpus;
        b->keys = mxci_calloc((size_t)n, sizeof *b->keys);
        b->views = mxci_calloc((size_t)n, sizeof *b->views);
    }
    if (!b || !b->keys || !b->views)
        status = MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d keys of one bucket", n);
    if (status == MXC_OK) {
        memcpy(b->keys, keys, (size_t)n * sizeof *keys);
        status = make_views(b, ranks);
    }
    if (status == MXC_OK) {
        name_bucket(b);
        *out = b;
    } else if (b)
        bucket_free(b);
    return status;
}

static int is_of(const mxci_bucket *b, int n, mxci_key *const *keys, mxc_dtype wire) {
    return b && b->n == n && b->wire == wire && memcmp(b->keys, keys, (size_t)n * sizeof *keys) == 0;
}

mxc_status mxci_bucket_get(int n, mxci_key *const *keys, mxc_dtype wire, int ranks, mxci_bucket **out) {
    *out = keys[0]->bucket;
    if (is_of(*out, n, keys, wire))
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
    mxci_call call; /* first: a call's address is its exchange's */
    mxci_comm *comm;
    atomic_int refs;
    int has_run, task_ended; /* task_ended: read by the queueing thread only, after a push that failed */
    mxc_done *done;
    char name[NAME];
} exchange_task;

static void exchange_release(exchange_task *x) {
    if (atomic_fetch_sub(&x->refs, 1) > 1)
        return;
    mxc_ndarray_release(x->call.arrays[0]);
    mxc_ndarray_release(x->call.arrays[1]);
    mxci_free(x);
}

static void exchange_ended(mxci_call *call, mxc_status status, const char *error) {
    exchange_task *x = (exchange_task *)call;
    if (x->has_run)
        mxc_done_complete(x->done, status, error);
    exchange_release(x);
}

static mxc_status exchange_find_data(exchange_task *x) {
    mxc_tensor tensor;
    MXC_TRY(mxc_ndarray_tensor(x->call.arrays[0], &tensor));
    x->call.in = tensor.data;
    MXC_TRY(mxc_ndarray_tensor(x->call.arrays[1], &tensor));
    x->call.out = tensor.data;
    return MXC_OK;
}

static void exchange_run(const mxc_run *run, void *arg, mxc_done *done) {
    exchange_task *x = arg;
    (void)run;
    x->has_run = 1;
    x->done = done;
    if (exchange_find_data(x) == MXC_OK)
        mxci_comm_ready(x->comm, &x->call);
    else
        mxci_comm_cancel(x->comm, &x->call);
}

/* The engine drops the function. If it has not run, what it reads has failed. */
static void exchange_task_ended(void *arg) {
    exchange_task *x = arg;
    x->task_ended = 1;
    if (!x->has_run)
        mxci_comm_cancel(x->comm, &x->call);
    exchange_release(x);
}

static mxc_status push_exchange(exchange_task *x) {
    mxc_task task = MXC_TASK_INIT;
    mxc_var *in = mxc_ndarray_var(x->call.arrays[0]), *out = mxc_ndarray_var(x->call.arrays[1]);
    task.name = x->call.kind == MXCI_CALL_BROADCAST ? "kvstore_first" : "kvstore_sum";
    task.async_fn = exchange_run;
    task.arg = x;
    task.destroy = exchange_task_ended;
    task.priority = x->call.priority;
    task.flags = MXC_TASK_CHEAP | MXC_TASK_HELPED | (in == out ? MXC_TASK_UPDATES : 0);
    if (x->call.on_gpus) { /* run when the GPU has computed the values, on a thread that waits for the GPU anyway */
        task.context = mxc_ndarray_context(x->call.arrays[1]);
        task.property = MXC_PROP_COPY_FROM_DEVICE;
        task.flags &= ~(unsigned)(MXC_TASK_CHEAP | MXC_TASK_HELPED);
    }
    mxc_status status = mxc_engine_push(mxc_var_engine(out), &task, in != out, &in, 1, &out, 0);
    if (status != MXC_OK && !x->task_ended) /* refused */
        exchange_task_ended(x);
    exchange_release(x);
    return status;
}

mxc_status mxci_exchange_queue(mxci_comm *comm, const mxci_call *call, mxc_ndarray *in, mxc_ndarray *out) {
    exchange_task *x = mxci_calloc(1, sizeof *x);
    if (!x)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %s", call->name);
    x->call = *call;
    x->call.on_completion = exchange_ended;
    x->call.name = x->name;
    x->call.arrays[0] = mxc_ndarray_retain(in);
    x->call.arrays[1] = mxc_ndarray_retain(out);
    x->comm = comm;
    atomic_init(&x->refs, 3);
    mxci_format(x->name, sizeof x->name, "%s", call->name);
    mxci_comm_enqueue(comm, &x->call);
    return push_exchange(x);
}

int mxci_exchange_needs_no_copy(const mxci_key *e, mxc_dtype wire) {
    return e->on_gpus || (mxci_on_host(mxc_ndarray_context(e->stored)) && mxc_ndarray_dtype(e->stored) == wire);
}

/* The sum of key i: a view of the bucket, or a copy on the key's context in its dtype. */
static mxc_status get_summed(mxci_bucket *b, int i, int priority, mxc_ndarray **sum) {
    *sum = b->views[i];
    if (mxci_exchange_needs_no_copy(b->keys[i], b->wire))
        return MXC_OK;
    MXC_TRY(mxci_key_sum(b->keys[i], sum));
    return mxc_ndarray_copy_to(b->views[i], *sum, priority);
}

/* Arrays for compression: made at the first push. */
static mxc_status make_code_arrays(mxci_bucket *b, int ranks) {
    const int64_t n = mxc_ndarray_size(b->flat), codes = n / MXCI_VALUES_PER_WORD, all[2] = {ranks, codes};
    if (b->all_codes)
        return MXC_OK;
    if (!b->residual) {
        MXC_TRY(mxc_ndarray_create(1, &n, MXC_F32, mxc_cpu(0), &b->residual));
        MXC_TRY(mxc_ndarray_fill(b->residual, 0));
    }
    if (!b->codes)
        MXC_TRY(mxc_ndarray_create(1, &codes, MXC_I32, mxc_cpu(0), &b->codes));
    return mxc_ndarray_create(2, all, MXC_I32, mxc_cpu(0), &b->all_codes);
}

/* flat = the sum of all ranks' flat, compressed: the codes of all ranks are gathered and added up at each. Codes of
 * several ranks cannot be added while they are reduced. */
static mxc_status queue_compressed(mxci_comm *comm, mxci_bucket *b, mxci_call *call, float threshold) {
    MXC_TRY(make_code_arrays(b, mxci_comm_size(comm)));
    MXC_TRY(mxci_compress(b->flat, b->residual, b->codes, threshold, call->priority));
    call->kind = MXCI_CALL_ALLGATHER;
    call->n = (int64_t)mxc_ndarray_bytes(b->codes);
    MXC_TRY(mxci_exchange_queue(comm, call, b->codes, b->all_codes));
    return mxci_expand(b->all_codes, b->flat, threshold, call->priority);
}

mxc_status mxci_exchange_sum(mxci_comm *comm, mxci_wire_format wire, int n, mxci_key *const *keys, mxc_ndarray **sums,
                             int priority) {
    mxci_bucket *b;
    MXC_TRY(mxci_comm_check(comm));
    MXC_TRY(mxci_bucket_get(n, keys, wire.dtype, 1, &b));
    int is_direct = n == 1 && mxci_exchange_needs_no_copy(keys[0], wire.dtype) && wire.threshold == 0;
    mxc_ndarray *in = is_direct ? sums[0] : b->flat;
    for (int i = 0; i < n && !is_direct; i++)
        MXC_TRY(mxc_ndarray_copy_to(sums[i], b->views[i], priority));
    int64_t length = mxc_ndarray_size(
        n == 1 ? sums[0] : b->flat); /* a single key may use its own array at some ranks and the bucket at others */
    mxci_call call = {
        .kind = MXCI_CALL_REDUCE,
        .dtype = wire.dtype,
        .name = b->name,
        .priority = priority,
        .n = length,
        .step = keys[0]->pushes,
        .on_gpus = b->on_gpus,
    };
    if (wire.threshold > 0)
        MXC_TRY(queue_compressed(comm, b, &call, wire.threshold));
    else
        MXC_TRY(mxci_exchange_queue(comm, &call, in, b->flat));
    for (int i = 0; i < n; i++) {
        keys[i]->pushes++;
        MXC_TRY(get_summed(b, i, priority, &sums[i]));
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

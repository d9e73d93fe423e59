/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key-value store: stored values, sums of the pushed arrays in the order of the call, and the updater or optimizer
 * that applies them. Stored values are on cpu(0), or, in the types with "device" in their names, on the context of the
 * first value; the sums of this process are computed there too. With several processes, their sums are exchanged
 * (exchange.c, shard.c) before they are applied, or sent to servers (async.c).
 *
 * Calls block only where they must wait for other processes: sums, updates and copies are queued, and the engine
 * orders them by the arrays that they read and write.
 */
#include "kvstore/kvstore.h"

#include <string.h>

#include <mxc/version.h>

#include "base/error.h"
#include "base/hash_map.h"
#include "base/module.h"
#include "base/sys.h"
#include "base/text.h"
#include "kvstore/async.h"
#include "kvstore/gpu_sums.h"
#include "kvstore/shard.h"
#include "optimizer/optimizer.h"

typedef struct store_type {
    const char *name;
    int is_device, is_dist, is_async;
} store_type;

static const store_type types[] = {
    {"local", 0, 0, 0},      {"device", 1, 0, 0},           {"dist_sync", 0, 1, 0},
    {"dist_async", 0, 1, 1}, {"dist_device_sync", 1, 1, 0},
};
enum { TYPES = sizeof types / sizeof types[0] };

typedef struct settings {
    double timeout, stall, join_timeout;
    int64_t piece_bytes, bucket_bytes;
    int32_t compression;
    double threshold;
    int32_t shard;
    mxci_async_settings async;
} settings;

enum { PLAIN, AS_F16, AS_BF16, TWO_BITS, PIECE_BYTES = 4194304 };

#define STORE_PARAM(field, kind, value, least, most, text)                                              \
    {                                                                                                   \
        .name = #field, .type = kind, MXC_PARAM_FIELD(settings, field), .initial = value, .bounded = 1, \
        .minimum = least, .maximum = most, .doc = text                                                  \
    }
#define LIVENESS_PARAMS                                                                                   \
    STORE_PARAM(timeout, MXC_PARAM_FLOAT, "5", 0.1, 1e6,                                                  \
                "Seconds without a heartbeat after which a process counts as lost."),                     \
        STORE_PARAM(stall, MXC_PARAM_FLOAT, "600", 0, 1e9,                                                \
                    "Seconds to wait for a process that is alive but does not reach a sum. 0: forever."), \
        STORE_PARAM(join_timeout, MXC_PARAM_FLOAT, "600", 0, 1e9,                                         \
                    "Seconds to wait for all processes to create the store. 0: forever.")
#define SERVER_PARAM(field, value, least, text)                                                                        \
    {                                                                                                                  \
        .name = #field, .type = MXC_PARAM_INT, MXC_PARAM_FIELD(settings, async.field), .initial = value, .bounded = 1, \
        .minimum = least, .maximum = 1e15, .doc = text                                                                 \
    }

static const mxc_param sync_schema[] = {
    LIVENESS_PARAMS,
    STORE_PARAM(piece_bytes, MXC_PARAM_INT, "4194304", 4096, 1 << 30,
                "Size in bytes of the pieces that larger sums are divided into."),
    STORE_PARAM(bucket_bytes, MXC_PARAM_INT, "1048576", 0, 1 << 30,
                "Size in bytes up to which keys of one push are sent together."),
    {MXC_PARAM_FIELD(settings, compression), .name = "compression", .type = MXC_PARAM_ENUM, .initial = "none",
     .choices = "none,float16,bfloat16,2bit", .doc = "Format in which sums of float32 are sent."},
    STORE_PARAM(threshold, MXC_PARAM_FLOAT, "0.5", 1e-30, 1e30,
                "For the compression 2bit: values are sent as threshold, -threshold or 0."),
    {MXC_PARAM_FIELD(settings, shard), .name = "shard", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Update only this worker's share of each key, and keep optimizer states for that share only."},
    MXC_PARAM_END,
};

static const mxc_param async_schema[] = {
    LIVENESS_PARAMS,
    SERVER_PARAM(servers, "0", 0, "Number of workers, the first ones, that are servers. 0: all."),
    SERVER_PARAM(staleness, "4", 0, "Number of pushes of a key that a worker may be ahead of the slowest."),
    SERVER_PARAM(split_bytes, "1048576", 0, "Size in bytes from which keys are divided among all servers."),
    MXC_PARAM_END,
};

struct mxc_kvstore {
    const store_type *type;
    settings settings;
    mxci_hash_map *keys; /* name to mxci_key */
    mxc_updater_fn updater;
    void *updater_user;
    mxc_optimizer *optimizer;
    mxci_comm *comm;   /* NULL: a single process */
    mxci_async *async; /* dist_async: servers make the updates; else NULL */
    mxci_key **pushed; /* scratch of a push: cap_pushed keys, and their sums (borrowed) */
    mxc_ndarray **sums;
    int cap_pushed;
};

/* ---- the store --------------------------------------------------------------------------------------------------- */

static mxc_status find_type(const char *name, const store_type **out) {
    char text[128];
    mxci_line line = {text, sizeof text, 0};
    for (int i = 0; i < TYPES; i++) {
        mxci_line_printf(&line, "%s%s", i > 0 ? ", " : "", types[i].name);
        *out = &types[i];
        if (strcmp(name, types[i].name) == 0)
            return MXC_OK;
    }
    return MXC_FAIL(MXC_ENOTFOUND, "kvstore type \"%s\" does not exist; there are %s", name, text);
}

static mxc_status join_processes(mxc_kvstore *store, const mxc_param *schema, const mxci_process_group_api *api) {
    const settings *set = &store->settings;
    if (set->shard && set->compression == TWO_BITS)
        return MXC_FAIL(MXC_EUNSUPPORTED,
                        "kvstore: with shard=true compression is none, float16 or bfloat16, found 2bit");
    mxci_comm_settings comm = {
        .timeout_ns = (int64_t)(set->timeout * 1e9),
        .stall_ns = (int64_t)(set->stall * 1e9),
        .join_ns = (int64_t)(set->join_timeout * 1e9),
        .piece_bytes = store->type->is_async ? PIECE_BYTES : set->piece_bytes,
    };
    char value[64]; /* the configuration: what must be equal in all processes */
    mxci_line line = {comm.config, sizeof comm.config, 0};
    mxci_line_printf(&line, "libmxc %s\ntype=%s\n", MXC_VERSION, store->type->name);
    for (const mxc_param *p = schema; p->name; p++)
        mxci_line_printf(&line, "%s=%s\n", p->name, mxc_param_format(p, set, value, sizeof value));
    if (!api && mxci_module_group(&api) != MXC_OK)
        return MXC_FAIL(MXC_EDEVICE, "kvstore type \"%s\" needs the MPI module: %s", store->type->name,
                        mxc_last_error());
    return store->type->is_async ? mxci_async_open(api, &comm, &set->async, &store->async, &store->comm)
                                 : mxci_comm_open(api, &comm, NULL, &store->comm);
}

mxc_status mxci_kvstore_create_on(const mxci_process_group_api *api, const char *type, int n_params,
                                  const char *const *keys, const char *const *values, mxc_kvstore **out) {
    const store_type *found;
    if (!type || !out)
        return MXC_FAIL(MXC_EINVAL, "mxc_kvstore_create: type and out must not be NULL");
    *out = NULL;
    MXC_TRY(find_type(type, &found));
    mxc_kvstore *store = mxci_calloc(1, sizeof *store);
    if (!store)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for the store");
    store->type = found;
    const mxc_param *schema = found->is_async ? async_schema : found->is_dist ? sync_schema : NULL;
    mxc_status status = mxc_params_parse(type, schema, n_params, keys, values, &store->settings);
    if (status == MXC_OK)
        status = mxci_hash_map_create(&store->keys);
    if (status == MXC_OK && found->is_dist)
        status = join_processes(store, schema, api);
    if (status == MXC_OK)
        *out = store;
    else
        mxc_kvstore_destroy(store);
    return status;
}

mxc_status mxc_kvstore_create_with(const char *type, int n_params, const char *const *keys, const char *const *values,
                                   mxc_kvstore **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(type));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n_params > 0, values));
    return mxci_kvstore_create_on(NULL, type, n_params, keys, values, out);
}

mxc_status mxc_kvstore_create(const char *type, mxc_kvstore **out) {
    MXC_TRY(MXCI_OUT(out));
    MXC_TRY(MXCI_NON_NULL(type));
    return mxci_kvstore_create_on(NULL, type, 0, NULL, NULL, out);
}

void mxc_kvstore_destroy(mxc_kvstore *store) {
    if (!MXCI_MAY_RELEASE(store))
        return;
    size_t cursor = 0;
    const char *key;
    void *entry;
    if (store->async)
        mxci_async_close(store->async);
    else
        mxci_comm_close(store->comm);
    while (store->keys && mxci_hash_map_next(store->keys, &cursor, &key, &entry))
        mxci_key_destroy(entry);
    mxci_hash_map_destroy(store->keys);
    mxci_free(store->pushed);
    mxci_free(store->sums);
    mxci_free_object(store);
}

static mxc_status check_count(const char *call, int n) {
    return n >= 0 ? MXC_OK : MXC_FAIL(MXC_EINVAL, "%s: n is %d, expected 0 or more", call, n);
}

/* ---- init -------------------------------------------------------------------------------------------------------- */

mxc_status mxci_kvstore_adopt(mxc_kvstore *store, const char *key, mxc_ndarray *array) {
    mxci_key *entry;
    if (mxci_hash_map_has(store->keys, key))
        return MXC_FAIL(MXC_EEXIST, "kvstore: key \"%s\" was initialised before", key);
    MXC_TRY(mxci_key_create(key, array, &entry));
    mxc_status status = store->comm ? mxci_exchange_broadcast_init(store->comm, key, array) : MXC_OK;
    if (status == MXC_OK)
        status = mxci_hash_map_put(store->keys, key, entry);
    if (status != MXC_OK)
        mxci_key_destroy(entry);
    else if (store->async)
        status = mxci_async_add(store->async, entry);
    else if (store->comm && store->type->is_device && !store->settings.shard &&
             store->settings.compression == PLAIN) /* sharded and compressed sums are made on the host */
        status = mxci_gpu_sums_agree(store->comm, key, array, &entry->on_gpus);
    return status;
}

static mxc_status init_one(mxc_kvstore *store, const char *key, mxc_ndarray *value) {
    mxc_ndarray *copy;
    if (!key || !value)
        return MXC_FAIL(MXC_EINVAL, "mxc_kvstore_init: a key or array is NULL");
    mxc_context home = store->type->is_device ? mxc_ndarray_context(value) : mxc_cpu(0);
    MXC_TRY(mxc_ndarray_copy(value, home, mxc_ndarray_dtype(value), &copy));
    mxc_status status = mxci_kvstore_adopt(store, key, copy);
    mxc_ndarray_release(copy);
    return status;
}

mxc_status mxc_kvstore_init(mxc_kvstore *store, int n, const char *const *keys, mxc_ndarray *const *values) {
    MXC_TRY(MXCI_NON_NULL(store));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, values));
    MXC_TRY(check_count(__func__, n));
    for (int i = 0; i < n; i++)
        MXC_TRY(init_one(store, keys[i], values[i]));
    return MXC_OK;
}

/* ---- push and pull ----------------------------------------------------------------------------------------------- */

static mxc_status kvstore_find_key(const mxc_kvstore *store, const char *key, mxci_key **out) {
    *out = key ? mxci_hash_map_get(store->keys, key) : NULL;
    if (!*out)
        return MXC_FAIL(MXC_ENOTFOUND, "kvstore: key \"%s\" was not initialised", key ? key : "(null)");
    return MXC_OK;
}

/* Collect the arrays of a call at their keys, which may appear several times. Nothing is queued here, so that a
 * failure leaves the store as it was. */
static mxc_status gather_pending(const mxc_kvstore *store, int n, const char *const *keys, mxc_ndarray *const *values) {
    for (int i = 0; i < n; i++) {
        mxci_key *entry;
        if (kvstore_find_key(store, keys[i], &entry) == MXC_OK)
            entry->n_pending = 0;
    }
    for (int i = 0; i < n; i++) {
        mxci_key *entry;
        MXC_TRY(kvstore_find_key(store, keys[i], &entry));
        if (!values[i])
            return MXC_FAIL(MXC_EINVAL, "kvstore: the array for key \"%s\" is NULL", keys[i]);
        MXC_TRY(mxci_key_add(entry, values[i]));
    }
    return MXC_OK;
}

static mxc_status reserve_pushed(mxc_kvstore *store, int n) {
    if (n <= store->cap_pushed)
        return MXC_OK;
    mxci_key **pushed = mxci_realloc_array(store->pushed, (size_t)n, sizeof *pushed);
    if (pushed)
        store->pushed = pushed;
    mxc_ndarray **sums = mxci_realloc_array(store->sums, (size_t)n, sizeof *sums);
    if (sums)
        store->sums = sums;
    if (!pushed || !sums)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory to push %d values", n);
    store->cap_pushed = n;
    return MXC_OK;
}

/* Queue the sums of this process; *n_keys of them, each key once, in the order of the call. */
static mxc_status reduce_all(mxc_kvstore *store, int n, const char *const *keys, int priority, int *n_keys) {
    *n_keys = 0;
    for (int i = 0; i < n; i++) {
        mxci_key *entry = mxci_hash_map_get(store->keys, keys[i]);
        if (entry->n_pending == 0) /* handled where the key appeared first */
            continue;
        mxc_status status = mxci_key_reduce(entry, priority, &store->sums[*n_keys]);
        entry->n_pending = 0;
        MXC_TRY(status);
        store->pushed[(*n_keys)++] = entry;
    }
    return MXC_OK;
}

/* Only float32 is compressed; sums of other dtypes are sent as they are. */
static mxci_wire_format wire_of(const mxc_kvstore *store, const mxci_key *entry) {
    mxc_dtype dtype = mxc_ndarray_dtype(entry->stored);
    if (dtype != MXC_F32)
        return (mxci_wire_format){dtype, 0};
    switch (store->settings.compression) {
    case AS_F16:
        return (mxci_wire_format){MXC_F16, 0};
    case AS_BF16:
        return (mxci_wire_format){MXC_BF16, 0};
    case TWO_BITS:
        return (mxci_wire_format){MXC_F32, (float)store->settings.threshold};
    default:
        return (mxci_wire_format){MXC_F32, 0};
    }
}

/* Number of keys, from the first on, that go into one bucket: of one dtype, all on GPUs or none, and of at most
 * bucket_bytes together. It depends on the keys alone, so that all ranks make the same buckets. */
static int count_bucket(const mxc_kvstore *store, mxci_key *const *pushed, int n) {
    size_t bytes = mxc_ndarray_bytes(pushed[0]->stored), most = (size_t)store->settings.bucket_bytes;
    int count = 1;
    while (count < n && mxc_ndarray_dtype(pushed[count]->stored) == mxc_ndarray_dtype(pushed[0]->stored) &&
           pushed[count]->on_gpus == pushed[0]->on_gpus && (bytes += mxc_ndarray_bytes(pushed[count]->stored)) <= most)
        count++;
    return count;
}

int mxci_kvstore_is_sharded(const mxc_kvstore *store) {
    return store->settings.shard;
}

/* Replace the sums of this process by those of all processes; with shard=true, update the stored values too. */
static mxc_status exchange_all(mxc_kvstore *store, int n, int priority) {
    for (int i = 0, count; i < n; i += count) {
        mxci_key **keys = &store->pushed[i];
        mxci_wire_format wire = wire_of(store, keys[0]);
        count = count_bucket(store, keys, n - i);
        if (store->settings.shard)
            MXC_TRY(mxci_shard_push(store->comm, wire.dtype, count, keys, &store->sums[i], store->optimizer, priority));
        else
            MXC_TRY(mxci_exchange_sum(store->comm, wire, count, keys, &store->sums[i], priority));
    }
    return MXC_OK;
}

static mxc_status apply_sum(mxc_kvstore *store, mxci_key *entry, mxc_ndarray *sum, int priority) {
    if (store->async)
        return mxci_async_push(store->async, entry, sum, mxc_optimizer_get_lr(store->optimizer), priority);
    if (store->optimizer)
        return mxc_optimizer_update(store->optimizer, entry->name, entry->stored, sum);
    if (store->updater)
        return store->updater(entry->name, sum, entry->stored, store->updater_user);
    return mxc_ndarray_copy_to(sum, entry->stored, priority);
}

mxc_status mxc_kvstore_push(mxc_kvstore *store, int n, const char *const *keys, mxc_ndarray *const *values,
                            int priority) {
    MXC_TRY(MXCI_NON_NULL(store));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, values));
    int n_keys;
    MXC_TRY(check_count(__func__, n));
    if (store->async && store->updater && !store->optimizer)
        return MXC_FAIL(MXC_EUNSUPPORTED, "kvstore type \"dist_async\": servers run optimizers, not updaters");
    if (store->settings.shard && !store->optimizer)
        return MXC_FAIL(MXC_EUNSUPPORTED, "kvstore: with shard=true an optimizer is needed");
    MXC_TRY(gather_pending(store, n, keys, values));
    MXC_TRY(reserve_pushed(store, n));
    MXC_TRY(reduce_all(store, n, keys, priority, &n_keys));
    if (store->comm && !store->async)
        MXC_TRY(exchange_all(store, n_keys, priority));
    for (int i = 0; i < n_keys && !store->settings.shard; i++)
        MXC_TRY(apply_sum(store, store->pushed[i], store->sums[i], priority));
    return MXC_OK;
}

/* Queue the copies to all of a key's arrays. */
static mxc_status pull_key(mxc_kvstore *store, mxci_key *entry, int priority) {
    int queued = 0;
    if (store->async)
        MXC_TRY(mxci_async_pull(store->async, entry, priority));
    MXC_TRY(mxci_shard_pull(store->comm, entry, priority));
    if (entry->n_pending > 1)
        MXC_TRY(mxci_gpu_sums_broadcast(entry->stored, entry->n_pending, entry->pending, priority, &queued));
    for (int i = 0; i < entry->n_pending && !queued; i++)
        MXC_TRY(mxc_ndarray_copy_to(entry->stored, entry->pending[i], priority));
    return MXC_OK;
}

mxc_status mxc_kvstore_pull(mxc_kvstore *store, int n, const char *const *keys, mxc_ndarray *const *out, int priority) {
    MXC_TRY(MXCI_NON_NULL(store));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, out));
    MXC_TRY(check_count(__func__, n));
    MXC_TRY(gather_pending(store, n, keys, out));
    for (int i = 0; i < n; i++) {
        mxci_key *entry = mxci_hash_map_get(store->keys, keys[i]);
        if (entry->n_pending == 0) /* handled where the key appeared first */
            continue;
        mxc_status status = pull_key(store, entry, priority);
        entry->n_pending = 0;
        MXC_TRY(status);
    }
    return MXC_OK;
}

mxc_status mxc_kvstore_pushpull(mxc_kvstore *store, int n, const char *const *keys, mxc_ndarray *const *values,
                                mxc_ndarray *const *out, int priority) {
    MXC_TRY(MXCI_NON_NULL(store));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, keys));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, values));
    MXC_TRY(MXCI_NON_NULL_IF(n > 0, out));
    MXC_TRY(mxc_kvstore_push(store, n, keys, values, priority));
    return mxc_kvstore_pull(store, n, keys, out, priority);
}

void mxc_kvstore_set_updater(mxc_kvstore *store, mxc_updater_fn fn, void *user) {
    if (!store)
        return;
    store->updater = fn;
    store->updater_user = user;
}

mxc_status mxc_kvstore_set_optimizer(mxc_kvstore *store, mxc_optimizer *optimizer) {
    MXC_TRY(MXCI_NON_NULL(store));
    if (optimizer && (store->async || store->settings.shard) && mxci_optimizer_needs_whole_weights(optimizer))
        return MXC_FAIL(
            MXC_EUNSUPPORTED, "kvstore: optimizer %s needs whole weights; a store of type %s%s updates parts",
            mxci_optimizer_name(optimizer), mxc_kvstore_type(store), store->async ? "" : " with shard=true");
    if (store->async)
        MXC_TRY(mxci_async_set_optimizer(store->async, optimizer));
    store->optimizer = optimizer;
    return MXC_OK;
}

/* ---- several workers --------------------------------------------------------------------------------------------- */

const char *mxc_kvstore_type(const mxc_kvstore *store) {
    return store ? store->type->name : types[0].name;
}

int mxc_kvstore_rank(const mxc_kvstore *store) {
    return store && store->comm ? mxci_comm_rank(store->comm) : 0;
}

int mxc_kvstore_group_size(const mxc_kvstore *store) {
    return store && store->comm ? mxci_comm_size(store->comm) : 1;
}

mxc_status mxc_kvstore_barrier(mxc_kvstore *store) {
    MXC_TRY(MXCI_NON_NULL(store));
    if (!store->comm)
        return MXC_OK;
    mxci_call call = {.kind = MXCI_CALL_BARRIER, .name = "barrier"};
    return mxci_comm_call(store->comm, &call);
}

int mxci_kvstore_is_synchronous(const mxc_kvstore *store) {
    return store->comm && !store->async;
}

mxc_status mxci_kvstore_allreduce_min(mxc_kvstore *store, const char *name, int64_t *value) {
    return store->comm ? mxci_comm_allreduce_min(store->comm, name, value) : MXC_OK;
}

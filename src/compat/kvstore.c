/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Key-value stores. Keys that are numbers are libmxc's in decimal digits. There are no servers in libmxc's stores that
 * could run a front end's code, so every process is a worker.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/sparse.h"

typedef enum key_kind { KEYS_UNKNOWN, KEYS_INT, KEYS_TEXT } key_kind;

/* KVStoreHandle. */
typedef struct store {
    mxc_kvstore *store;
    char *type; /* as the front end gave it */
    key_kind keys;
    int has_keys;
    MXKVStoreUpdater updater;
    MXKVStoreStrUpdater text_updater;
    void *user;
} store;

/* Keys of either kind. */
typedef struct key_list {
    uint32_t n;
    const int *numbers; /* NULL: text */
    const char *const *text;
} key_list;

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static int has_word(const char *text, const char *word) {
    size_t length = strlen(word);
    for (; *text; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == word[i])
            i++;
        if (i == length)
            return 1;
    }
    return 0;
}

/* MXNet takes the type from the words in it. */
static const char *libmxc_type(const char *type) {
    if (!has_word(type, "dist"))
        return has_word(type, "device") || has_word(type, "nccl") ? "device" : "local";
    if (has_word(type, "async"))
        return "dist_async";
    return has_word(type, "device") ? "dist_device_sync" : "dist_sync";
}

int MXKVStoreCreate(const char *type, KVStoreHandle *out) {
    MXNET_NEED(type);
    MXNET_NEED(out);
    store *s = mxnet_alloc(1, sizeof *s);
    if (!s)
        return -1;
    s->type = mxnet_copy_text(type);
    if (!s->type || mxnet_result(mxc_kvstore_create(libmxc_type(type), &s->store))) {
        mxnet_free(s->type);
        mxnet_free(s);
        return -1;
    }
    *out = s;
    return 0;
}

int MXKVStoreFree(KVStoreHandle handle) {
    store *s = handle;
    if (!s)
        return 0;
    mxc_kvstore_destroy(s->store);
    mxnet_free(s->type);
    mxnet_free(s);
    return 0;
}

int MXKVStoreGetType(KVStoreHandle handle, const char **type) {
    const store *s = handle;
    MXNET_NEED(handle);
    MXNET_NEED(type);
    *type = s->type;
    return 0;
}

int MXKVStoreGetRank(KVStoreHandle handle, int *ret) {
    const store *s = handle;
    MXNET_NEED(handle);
    MXNET_NEED(ret);
    *ret = mxc_kvstore_rank(s->store);
    return 0;
}

int MXKVStoreGetGroupSize(KVStoreHandle handle, int *ret) {
    const store *s = handle;
    MXNET_NEED(handle);
    MXNET_NEED(ret);
    *ret = mxc_kvstore_group_size(s->store);
    return 0;
}

int MXKVStoreBarrier(KVStoreHandle handle) {
    const store *s = handle;
    MXNET_NEED(handle);
    return mxnet_result(mxc_kvstore_barrier(s->store));
}

int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, int barrier_before_exit) {
    MXNET_NEED(handle);
    (void)barrier_before_exit; /* destroying a store waits for the other workers */
    return 0;
}

int MXKVStoreGetNumDeadNode(KVStoreHandle handle, int node_id, int *number, int timeout_sec) {
    MXNET_NEED(handle);
    MXNET_NEED(number);
    (void)node_id, (void)timeout_sec; /* a lost worker is an error of every call */
    *number = 0;
    return 0;
}

/* ---- roles ------------------------------------------------------------------------------------------------------- */

static int has_role(const char *role, int if_unset, int *ret) {
    const char *own = mxnet_environment("DMLC_ROLE");
    MXNET_NEED(ret);
    *ret = own ? strcmp(own, role) == 0 : if_unset;
    return 0;
}

int MXKVStoreIsWorkerNode(int *ret) {
    return has_role("worker", 1, ret);
}

int MXKVStoreIsServerNode(int *ret) {
    return has_role("server", 0, ret);
}

int MXKVStoreIsSchedulerNode(int *ret) {
    return has_role("scheduler", 0, ret);
}

int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params, const char *const *keys,
                                    const char *const *vals) {
    store *s = handle;
    const char *names[2] = {"compression", "threshold"}, *values[2] = {"none", "0.5"};
    mxc_kvstore *made;
    MXNET_NEED(handle);
    for (uint32_t i = 0; i < num_params; i++) {
        if (strcmp(keys[i], "type") == 0)
            values[0] = vals[i];
        else if (strcmp(keys[i], "threshold") == 0)
            values[1] = vals[i];
        else
            return mxnet_fail("gradient compression has no parameter \"%s\", expected type or threshold", keys[i]);
    }
    if (strcmp(values[0], "none") == 0)
        return 0;
    if (!has_word(s->type, "dist") || has_word(s->type, "async"))
        return mxnet_fail("a store of type %s does not compress gradients, only dist_sync and dist_device_sync do",
                          s->type);
    if (s->has_keys)
        return mxnet_fail("gradient compression has to be set before the first key");
    mxc_kvstore_destroy(s->store);
    s->store = NULL;
    MXNET_TRY(mxc_kvstore_create_with(libmxc_type(s->type), 2, names, values, &made));
    s->store = made;
    return 0;
}

/* ---- keys and values --------------------------------------------------------------------------------------------- */

/* Keys as text, in two slots. A store has keys of one kind only. */
static int read_keys(store *s, const key_list *keys, const char *const **out) {
    key_kind kind = keys->numbers ? KEYS_INT : KEYS_TEXT;
    enum { DIGITS = 16 };
    *out = keys->text;
    if (!s)
        return mxnet_fail("the handle of a key-value store is NULL");
    if (keys->n > 0 && !keys->numbers && !keys->text)
        return mxnet_fail("%u keys at NULL", keys->n);
    if (s->keys != KEYS_UNKNOWN && s->keys != kind)
        return mxnet_fail("the store's keys are %s, found %s: one store has one kind of keys",
                          s->keys == KEYS_INT ? "numbers" : "strings", kind == KEYS_INT ? "numbers" : "strings");
    s->keys = kind;
    if (kind == KEYS_TEXT)
        return 0;
    const char **list = mxnet_buffer(MXNET_SLOT_STRINGS, keys->n, sizeof *list);
    char *text = mxnet_buffer(MXNET_SLOT_CHARS, keys->n, DIGITS);
    if (!list || !text)
        return -1;
    for (uint32_t i = 0; i < keys->n; i++) {
        list[i] = text + (size_t)i * DIGITS;
        snprintf(text + (size_t)i * DIGITS, DIGITS, "%d", keys->numbers[i]);
    }
    *out = list;
    return 0;
}

static int read_values(uint32_t n, NDArrayHandle const *handles, mxc_ndarray ***out) {
    *out = mxnet_buffer(MXNET_SLOT_SCRATCH, n, sizeof **out);
    if (!*out)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        (*out)[i] = mxnet_array(handles[i]);
        if (!(*out)[i])
            return -1;
    }
    return 0;
}

static int init(KVStoreHandle handle, key_list keys, NDArrayHandle const *vals) {
    store *s = handle;
    const char *const *names;
    mxc_ndarray **values;
    MXNET_CALL(read_keys(s, &keys, &names));
    MXNET_CALL(read_values(keys.n, vals, &values));
    s->has_keys = 1;
    return mxnet_result(mxc_kvstore_init(s->store, (int)keys.n, names, values));
}

static int push(KVStoreHandle handle, key_list keys, NDArrayHandle const *vals, int priority) {
    store *s = handle;
    const char *const *names;
    mxc_ndarray **values;
    MXNET_CALL(read_keys(s, &keys, &names));
    MXNET_CALL(read_values(keys.n, vals, &values));
    /* An updater of the front end calls functions that use the slots of this thread. */
    mxc_ndarray **kept = mxnet_alloc(keys.n, sizeof *kept);
    const char **kept_names = mxnet_alloc(keys.n, sizeof *kept_names);
    char *text = mxnet_alloc(keys.n, 16);
    int result = kept && kept_names && text ? 0 : -1;
    for (uint32_t i = 0; i < keys.n && !result; i++) {
        kept[i] = values[i];
        kept_names[i] = names[i];
        if (keys.numbers)
            kept_names[i] = memcpy(text + (size_t)i * 16, names[i], strlen(names[i]) + 1);
    }
    if (!result)
        result = mxnet_result(mxc_kvstore_push(s->store, (int)keys.n, kept_names, kept, priority));
    mxnet_free(kept);
    mxnet_free(kept_names);
    mxnet_free(text);
    return result;
}

static int pull(KVStoreHandle handle, key_list keys, NDArrayHandle const *outs, int priority) {
    store *s = handle;
    const char *const *names;
    mxc_ndarray **values;
    MXNET_CALL(read_keys(s, &keys, &names));
    MXNET_CALL(read_values(keys.n, outs, &values));
    return mxnet_result(mxc_kvstore_pull(s->store, (int)keys.n, names, values, priority));
}

/* Rows of a stored value: the others become 0. */
static int pull_rows(KVStoreHandle handle, key_list keys, NDArrayHandle const *outs, NDArrayHandle const *row_ids,
                     int priority) {
    MXNET_CALL(pull(handle, keys, outs, priority));
    for (uint32_t i = 0; i < keys.n; i++) {
        mxc_ndarray *value = mxnet_array(outs[i]), *rows = mxnet_array(row_ids[i]);
        if (!value || !rows)
            return -1;
        if (((mxnet_ndarray *)outs[i])->storage != MXNET_ROW_SPARSE)
            return mxnet_fail("rows of a value go to an array of type row_sparse only");
        MXNET_CALL(mxnet_sparse_retain(value, rows, value));
    }
    return 0;
}

static key_list numbers(uint32_t n, const int *keys) {
    return (key_list){n, keys, NULL};
}

static key_list texts(uint32_t n, const char *const *keys) {
    return (key_list){n, NULL, keys};
}

int MXKVStoreInit(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle const *vals) {
    return init(handle, numbers(num, keys), vals);
}

int MXKVStoreInitEx(KVStoreHandle handle, uint32_t num, const char *const *keys, NDArrayHandle const *vals) {
    return init(handle, texts(num, keys), vals);
}

int MXKVStorePush(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle const *vals, int priority) {
    return push(handle, numbers(num, keys), vals, priority);
}

int MXKVStorePushEx(KVStoreHandle handle, uint32_t num, const char *const *keys, NDArrayHandle const *vals,
                    int priority) {
    return push(handle, texts(num, keys), vals, priority);
}

int MXKVStorePull(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle const *vals, int priority) {
    return pull(handle, numbers(num, keys), vals, priority);
}

int MXKVStorePullEx(KVStoreHandle handle, uint32_t num, const char *const *keys, NDArrayHandle const *vals,
                    int priority) {
    return pull(handle, texts(num, keys), vals, priority);
}

int MXKVStorePullRowSparse(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle const *vals,
                           NDArrayHandle const *row_ids, int priority) {
    MXNET_NEED(row_ids);
    return pull_rows(handle, numbers(num, keys), vals, row_ids, priority);
}

int MXKVStorePullRowSparseEx(KVStoreHandle handle, uint32_t num, const char *const *keys, NDArrayHandle const *vals,
                             NDArrayHandle const *row_ids, int priority) {
    MXNET_NEED(row_ids);
    return pull_rows(handle, texts(num, keys), vals, row_ids, priority);
}

int MXKVStorePullWithSparse(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle const *vals,
                            int priority, bool ignore_sparse) {
    (void)ignore_sparse;
    return pull(handle, numbers(num, keys), vals, priority);
}

int MXKVStorePullWithSparseEx(KVStoreHandle handle, uint32_t num, const char *const *keys, NDArrayHandle const *vals,
                              int priority, bool ignore_sparse) {
    (void)ignore_sparse;
    return pull(handle, texts(num, keys), vals, priority);
}

int MXKVStoreBroadcast(KVStoreHandle handle, uint32_t vnum, const int *vkeys, uint32_t onum, const int *okeys,
                       NDArrayHandle const *vals, NDArrayHandle const *outs, int priority) {
    MXNET_CALL(init(handle, numbers(vnum, vkeys), vals));
    return pull(handle, numbers(onum, okeys), outs, priority);
}

int MXKVStoreBroadcastEx(KVStoreHandle handle, uint32_t vnum, const char *const *vkeys, uint32_t onum,
                         const char *const *okeys, NDArrayHandle const *vals, NDArrayHandle const *outs, int priority) {
    MXNET_CALL(init(handle, texts(vnum, vkeys), vals));
    return pull(handle, texts(onum, okeys), outs, priority);
}

int MXKVStorePushPull(KVStoreHandle handle, uint32_t vnum, const int *vkeys, uint32_t onum, const int *okeys,
                      NDArrayHandle const *vals, NDArrayHandle const *outs, int priority) {
    MXNET_CALL(push(handle, numbers(vnum, vkeys), vals, priority));
    return pull(handle, numbers(onum, okeys), outs, priority);
}

int MXKVStorePushPullEx(KVStoreHandle handle, uint32_t vnum, const char *const *vkeys, uint32_t onum,
                        const char *const *okeys, NDArrayHandle const *vals, NDArrayHandle const *outs, int priority) {
    MXNET_CALL(push(handle, texts(vnum, vkeys), vals, priority));
    return pull(handle, texts(onum, okeys), outs, priority);
}

/* ---- updaters ---------------------------------------------------------------------------------------------------- */

/* The front end's updater frees both handles. */
static mxc_status update(const char *key, mxc_ndarray *sum, mxc_ndarray *stored, void *user) {
    const store *s = user;
    NDArrayHandle received, local;
    if (mxnet_ndarray_new(mxc_ndarray_retain(sum), &received))
        return MXC_ENOMEM;
    if (mxnet_ndarray_new(mxc_ndarray_retain(stored), &local)) {
        MXNDArrayFree(received);
        return MXC_ENOMEM;
    }
    if (s->keys == KEYS_TEXT && s->text_updater)
        s->text_updater(key, received, local, s->user);
    else
        s->updater((int)strtol(key, NULL, 10), received, local, s->user);
    return MXC_OK;
}

int MXKVStoreSetUpdaterEx(KVStoreHandle handle, MXKVStoreUpdater updater, MXKVStoreStrUpdater str_updater,
                          void *updater_handle) {
    store *s = handle;
    MXNET_NEED(handle);
    s->updater = updater;
    s->text_updater = str_updater;
    s->user = updater_handle;
    mxc_kvstore_set_updater(s->store, updater || str_updater ? update : NULL, s);
    return 0;
}

int MXKVStoreSetUpdater(KVStoreHandle handle, MXKVStoreUpdater updater, void *updater_handle) {
    return MXKVStoreSetUpdaterEx(handle, updater, NULL, updater_handle);
}

/*
 * The key-value store of one process: master copies, sums in the order of the call, updater or optimizer. Of type local
 * the copies are on cpu(0), of type device where the first value is; sums are made where the copy is.
 *
 * Nothing waits here: sums, updates and copies are queued, and the engine orders them by the arrays that they touch.
 */
#include "kvstore/kvstore.h"

#include <stdio.h>
#include <string.h>

#include <mxc/op.h>

#include "base/map.h"
#include "base/sys.h"

/* One key. pending lists what the current push or pull names for it, in the order of the call. */
typedef struct entry {
    char *key;
    mxc_ndarray *stored;
    mxc_ndarray *sum;  /* of several values; made at the first such push */
    mxc_ndarray **moved; /* copies of values that live elsewhere than stored, by position; NULL where not needed */
    mxc_op *add;       /* add_n over n_add values */
    int n_add, n_moved;
    mxc_ndarray **pending;
    int n_pending, cap_pending;
} entry;

struct mxc_kvstore {
    const char *type; /* one of types */
    mxci_map *entries;
    mxc_updater_fn updater;
    void *updater_user;
    mxc_optimizer *optimizer;
};

/* ---- entries ----------------------------------------------------------------------------------------------- */

static void entry_destroy(entry *e) {
    for (int i = 0; i < e->n_moved; i++)
        mxc_ndarray_release(e->moved[i]);
    mxc_ndarray_release(e->stored);
    mxc_ndarray_release(e->sum);
    mxc_op_release(e->add);
    mxci_free(e->moved);
    mxci_free(e->pending);
    mxci_free(e->key);
    mxci_free(e);
}

/* With a reference to the array that it stores. */
static mxc_status entry_create(const char *key, mxc_ndarray *stored, entry **out) {
    entry *e = mxci_calloc(1, sizeof *e);
    *out = NULL;
    if (e == NULL || (e->key = mxci_strdup(key)) == NULL) {
        mxci_free(e);
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for key \"%s\"", key);
    }
    e->stored = mxc_ndarray_retain(stored);
    *out = e;
    return MXC_OK;
}

static mxc_status check_value(const entry *e, mxc_ndarray *value) {
    const mxc_shape *have = mxc_ndarray_shape(e->stored), *given = mxc_ndarray_shape(value);
    if (!mxc_shape_equal(have, given)) {
        char a[MXC_SHAPE_TEXT], b[MXC_SHAPE_TEXT];
        return MXC_FAIL(MXC_ESHAPE, "kvstore: key \"%s\" has shape %s, given %s", e->key,
                        mxc_shape_format(have, a, sizeof a), mxc_shape_format(given, b, sizeof b));
    }
    if (mxc_ndarray_dtype(e->stored) != mxc_ndarray_dtype(value))
        return MXC_FAIL(MXC_EDTYPE, "kvstore: key \"%s\" is %s, given %s", e->key,
                        mxc_dtype_name(mxc_ndarray_dtype(e->stored)), mxc_dtype_name(mxc_ndarray_dtype(value)));
    return MXC_OK;
}

static mxc_status add_pending(entry *e, mxc_ndarray *value) {
    if (e->n_pending == e->cap_pending) {
        int cap = e->cap_pending > 0 ? 2 * e->cap_pending : 4;
        mxc_ndarray **grown = mxci_realloc_array(e->pending, (size_t)cap, sizeof *grown);
        if (grown == NULL)
            return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d values of key \"%s\"", cap, e->key);
        e->pending = grown;
        e->cap_pending = cap;
    }
    e->pending[e->n_pending++] = value;
    return MXC_OK;
}

static mxc_status find_entry(const mxc_kvstore *store, const char *key, entry **out) {
    *out = key != NULL ? mxci_map_get(store->entries, key) : NULL;
    if (*out == NULL)
        return MXC_FAIL(MXC_ENOTFOUND, "kvstore: key \"%s\" was not initialised", key != NULL ? key : "(null)");
    return MXC_OK;
}

static mxc_status gather_one(const mxc_kvstore *store, const char *key, mxc_ndarray *value) {
    entry *e;
    MXC_TRY(find_entry(store, key, &e));
    if (value == NULL)
        return MXC_FAIL(MXC_EINVAL, "kvstore: the array for key \"%s\" is NULL", key);
    MXC_TRY(check_value(e, value));
    return add_pending(e, value);
}

/* Hand each array to its entry; on failure nothing is pending anywhere. */
static mxc_status gather(const mxc_kvstore *store, int n, const char *const *keys, mxc_ndarray *const *values) {
    for (int i = 0; i < n; i++) {
        entry *e;
        if (find_entry(store, keys[i], &e) == MXC_OK)
            e->n_pending = 0;
    }
    for (int i = 0; i < n; i++)
        MXC_TRY(gather_one(store, keys[i], values[i]));
    return MXC_OK;
}

/* ---- sums -------------------------------------------------------------------------------------------------- */

static mxc_status make_room_for_moved(entry *e) {
    if (e->n_moved >= e->n_pending)
        return MXC_OK;
    mxc_ndarray **grown = mxci_realloc_array(e->moved, (size_t)e->n_pending, sizeof *grown);
    if (grown == NULL)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d values of key \"%s\"", e->n_pending, e->key);
    e->moved = grown;
    while (e->n_moved < e->n_pending)
        e->moved[e->n_moved++] = NULL;
    return MXC_OK;
}

static mxc_status new_like(mxc_ndarray *array, mxc_ndarray **out) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    return mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(array), mxc_ndarray_context(array), out);
}

/* Replace pending values of other contexts by copies beside the stored one. */
static mxc_status move_pending(entry *e, int priority) {
    MXC_TRY(make_room_for_moved(e));
    for (int i = 0; i < e->n_pending; i++) {
        if (mxc_context_equal(mxc_ndarray_context(e->pending[i]), mxc_ndarray_context(e->stored)))
            continue;
        if (e->moved[i] == NULL)
            MXC_TRY(new_like(e->stored, &e->moved[i]));
        MXC_TRY(mxc_ndarray_copy_to(e->pending[i], e->moved[i], priority));
        e->pending[i] = e->moved[i];
    }
    return MXC_OK;
}

static mxc_status prepare_add(entry *e) {
    if (e->n_add == e->n_pending)
        return MXC_OK;
    char count[16];
    const char *key = "num_args", *value = count;
    snprintf(count, sizeof count, "%d", e->n_pending);
    mxc_op_release(e->add);
    e->add = NULL;
    e->n_add = 0;
    MXC_TRY(mxc_op_create("add_n", 1, &key, &value, &e->add));
    e->n_add = e->n_pending;
    return MXC_OK;
}

/* The sum of what is pending; a single value is its own sum. */
static mxc_status reduce(entry *e, int priority, mxc_ndarray **out) {
    MXC_TRY(move_pending(e, priority));
    *out = e->pending[0];
    if (e->n_pending == 1)
        return MXC_OK;
    MXC_TRY(prepare_add(e));
    if (e->sum == NULL)
        MXC_TRY(new_like(e->stored, &e->sum));
    *out = e->sum;
    return mxc_op_invoke(e->add, e->n_pending, e->pending, 1, &e->sum, NULL, 0);
}

/* ---- the store --------------------------------------------------------------------------------------------- */

static const char *const types[] = {"local", "device"};
enum { TYPES = sizeof types / sizeof types[0] };

static int is_device(const mxc_kvstore *store) {
    return store->type == types[1];
}

mxc_status mxc_kvstore_create(const char *type, mxc_kvstore **out) {
    int i = 0;
    if (type == NULL || out == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_kvstore_create: type and out must not be NULL");
    *out = NULL;
    while (i < TYPES && strcmp(type, types[i]) != 0)
        i++;
    if (i == TYPES)
        return MXC_FAIL(MXC_ENOTFOUND, "kvstore type \"%s\" does not exist; there are local and device", type);
    mxc_kvstore *store = mxci_calloc(1, sizeof *store);
    if (store == NULL)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for the store");
    mxc_status status = mxci_map_create(&store->entries);
    store->type = types[i];
    if (status != MXC_OK)
        mxci_free(store);
    else
        *out = store;
    return status;
}

void mxc_kvstore_destroy(mxc_kvstore *store) {
    if (store == NULL)
        return;
    size_t cursor = 0;
    const char *key;
    void *e;
    while (mxci_map_next(store->entries, &cursor, &key, &e))
        entry_destroy(e);
    mxci_map_destroy(store->entries);
    mxci_free(store);
}

static mxc_status check_call(const char *call, const mxc_kvstore *store, int n, const void *keys, const void *arrays) {
    if (store == NULL || n < 0 || (n > 0 && (keys == NULL || arrays == NULL)))
        return MXC_FAIL(MXC_EINVAL, "%s: store, keys and arrays must not be NULL, n is %d", call, n);
    return MXC_OK;
}

mxc_status mxci_kvstore_adopt(mxc_kvstore *store, const char *key, mxc_ndarray *array) {
    entry *e;
    if (mxci_map_has(store->entries, key))
        return MXC_FAIL(MXC_EEXIST, "kvstore: key \"%s\" was initialised before", key);
    MXC_TRY(entry_create(key, array, &e));
    mxc_status status = mxci_map_put(store->entries, key, e);
    if (status != MXC_OK)
        entry_destroy(e);
    return status;
}

static mxc_status init_one(mxc_kvstore *store, const char *key, mxc_ndarray *value) {
    mxc_ndarray *copy;
    if (key == NULL || value == NULL)
        return MXC_FAIL(MXC_EINVAL, "mxc_kvstore_init: a key or array is NULL");
    mxc_context home = is_device(store) ? mxc_ndarray_context(value) : mxc_cpu(0);
    MXC_TRY(mxc_ndarray_copy(value, home, mxc_ndarray_dtype(value), &copy));
    mxc_status status = mxci_kvstore_adopt(store, key, copy);
    mxc_ndarray_release(copy);
    return status;
}

mxc_status mxc_kvstore_init(mxc_kvstore *store, int n, const char *const *keys, mxc_ndarray *const *values) {
    MXC_TRY(check_call("mxc_kvstore_init", store, n, keys, values));
    for (int i = 0; i < n; i++)
        MXC_TRY(init_one(store, keys[i], values[i]));
    return MXC_OK;
}

static mxc_status push_entry(mxc_kvstore *store, entry *e, int priority) {
    mxc_ndarray *sum;
    mxc_status status = reduce(e, priority, &sum);
    e->n_pending = 0;
    if (status != MXC_OK)
        return status;
    if (store->optimizer != NULL)
        return mxc_optimizer_update(store->optimizer, e->key, e->stored, sum);
    if (store->updater != NULL)
        return store->updater(e->key, sum, e->stored, store->updater_user);
    return mxc_ndarray_copy_to(sum, e->stored, priority);
}

mxc_status mxc_kvstore_push(mxc_kvstore *store, int n, const char *const *keys, mxc_ndarray *const *values,
                            int priority) {
    MXC_TRY(check_call("mxc_kvstore_push", store, n, keys, values));
    MXC_TRY(gather(store, n, keys, values));
    for (int i = 0; i < n; i++) {
        entry *e;
        MXC_TRY(find_entry(store, keys[i], &e));
        if (e->n_pending > 0) /* else it was handled at the key's first place */
            MXC_TRY(push_entry(store, e, priority));
    }
    return MXC_OK;
}

mxc_status mxc_kvstore_pull(mxc_kvstore *store, int n, const char *const *keys, mxc_ndarray *const *out,
                            int priority) {
    MXC_TRY(check_call("mxc_kvstore_pull", store, n, keys, out));
    MXC_TRY(gather(store, n, keys, out));
    for (int i = 0; i < n; i++) {
        entry *e;
        MXC_TRY(find_entry(store, keys[i], &e));
        MXC_TRY(mxc_ndarray_copy_to(e->stored, out[i], priority));
    }
    return MXC_OK;
}

void mxc_kvstore_set_updater(mxc_kvstore *store, mxc_updater_fn fn, void *user) {
    if (store == NULL)
        return;
    store->updater = fn;
    store->updater_user = user;
}

void mxc_kvstore_set_optimizer(mxc_kvstore *store, mxc_optimizer *optimizer) {
    if (store != NULL)
        store->optimizer = optimizer;
}

/* ---- of several workers: one here --------------------------------------------------------------------------- */

const char *mxc_kvstore_type(const mxc_kvstore *store) {
    return store ? store->type : types[0];
}

int mxc_kvstore_rank(const mxc_kvstore *store) {
    (void)store;
    return 0;
}

int mxc_kvstore_group_size(const mxc_kvstore *store) {
    (void)store;
    return 1;
}

mxc_status mxc_kvstore_barrier(mxc_kvstore *store) {
    return check_call("mxc_kvstore_barrier", store, 0, NULL, NULL);
}

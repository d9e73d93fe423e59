/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of a store: creating one, collecting the arrays that a push or pull passes for it, and summing them in this
 * process. Sums over processes are in exchange.c. */
#include "kvstore/key.h"

#include <stdio.h>

#include "base/sys.h"
#include "kvstore/exchange.h"
#include "kvstore/gpu_sums.h"

/* ---- entries ----------------------------------------------------------------------------------------------------- */

void mxci_key_destroy(mxci_key *key) {
    for (int i = 0; i < key->n_local_copies; i++)
        mxc_ndarray_release(key->local_copies[i]);
    mxc_ndarray_release(key->stored);
    mxc_ndarray_release(key->sum);
    mxc_op_release(key->add);
    mxci_bucket_release(key->bucket);
    mxci_free(key->local_copies);
    mxci_free(key->pending);
    mxci_free(key->name);
    mxci_free(key);
}

mxc_status mxci_key_create(const char *name, mxc_ndarray *stored, mxci_key **out) {
    mxci_key *key = mxci_calloc(1, sizeof *key);
    *out = NULL;
    if (!key || !(key->name = mxci_strdup(name))) {
        mxci_free(key);
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for key \"%s\"", name);
    }
    key->stored = mxc_ndarray_retain(stored);
    *out = key;
    return MXC_OK;
}

mxc_status mxci_key_add(mxci_key *key, mxc_ndarray *value) {
    const mxc_shape *have = mxc_ndarray_shape(key->stored), *given = mxc_ndarray_shape(value);
    if (!mxc_shape_equal(have, given)) {
        char a[MXC_SHAPE_TEXT], b[MXC_SHAPE_TEXT];
        return MXC_FAIL(MXC_ESHAPE, "kvstore: key \"%s\" has shape %s, given %s", key->name,
                        mxc_shape_format(have, a, sizeof a), mxc_shape_format(given, b, sizeof b));
    }
    if (mxc_ndarray_dtype(key->stored) != mxc_ndarray_dtype(value))
        return MXC_FAIL(MXC_EDTYPE, "kvstore: key \"%s\" is %s, given %s", key->name,
                        mxc_dtype_name(mxc_ndarray_dtype(key->stored)), mxc_dtype_name(mxc_ndarray_dtype(value)));
    if (key->n_pending == key->cap_pending) {
        int cap = key->cap_pending > 0 ? 2 * key->cap_pending : 4;
        mxc_ndarray **grown = mxci_realloc_array(key->pending, (size_t)cap, sizeof *grown);
        if (!grown)
            return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d values of key \"%s\"", cap, key->name);
        key->pending = grown;
        key->cap_pending = cap;
    }
    key->pending[key->n_pending++] = value;
    return MXC_OK;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static mxc_status new_like(mxc_ndarray *array, mxc_ndarray **out) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    return mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(array), mxc_ndarray_context(array), out);
}

/* Replace pending values of other contexts by copies on the context of the stored value. The copies are kept for the
 * next push. */
static mxc_status copy_pending_here(mxci_key *key, int priority) {
    if (key->n_local_copies < key->n_pending) {
        mxc_ndarray **grown = mxci_realloc_array(key->local_copies, (size_t)key->n_pending, sizeof *grown);
        if (!grown)
            return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d values of key \"%s\"", key->n_pending, key->name);
        key->local_copies = grown;
        while (key->n_local_copies < key->n_pending)
            key->local_copies[key->n_local_copies++] = NULL;
    }
    for (int i = 0; i < key->n_pending; i++) {
        if (mxc_context_equal(mxc_ndarray_context(key->pending[i]), mxc_ndarray_context(key->stored)))
            continue;
        if (!key->local_copies[i])
            MXC_TRY(new_like(key->stored, &key->local_copies[i]));
        MXC_TRY(mxc_ndarray_copy_to(key->pending[i], key->local_copies[i], priority));
        key->pending[i] = key->local_copies[i];
    }
    return MXC_OK;
}

/* The operator is kept as long as pushes of the key pass the same number of arrays. */
static mxc_status prepare_add(mxci_key *key) {
    if (key->n_add == key->n_pending)
        return MXC_OK;
    char count[16];
    const char *param = "num_args", *value = count;
    snprintf(count, sizeof count, "%d", key->n_pending);
    mxc_op_release(key->add);
    key->add = NULL;
    key->n_add = 0;
    MXC_TRY(mxc_op_create("add_n", 1, &param, &value, &key->add));
    key->n_add = key->n_pending;
    return MXC_OK;
}

mxc_status mxci_key_sum(mxci_key *key, mxc_ndarray **out) {
    if (!key->sum)
        MXC_TRY(new_like(key->stored, &key->sum));
    *out = key->sum;
    return MXC_OK;
}

/* One collective operation where each value is on a GPU of its own; else copies to the context of the stored value and
 * one add_n, which adds in the order of the call. */
mxc_status mxci_key_reduce(mxci_key *key, int priority, mxc_ndarray **out) {
    int queued = 0;
    if (key->n_pending > 1) {
        MXC_TRY(mxci_key_sum(key, out));
        MXC_TRY(mxci_gpu_sums_reduce(key->n_pending, key->pending, key->sum, priority, &queued));
    }
    if (queued)
        return MXC_OK;
    MXC_TRY(copy_pending_here(key, priority));
    *out = key->pending[0];
    if (key->n_pending == 1)
        return MXC_OK;
    *out = key->sum;
    MXC_TRY(prepare_add(key));
    return mxc_op_invoke(key->add, key->n_pending, key->pending, 1, &key->sum, NULL, 0);
}

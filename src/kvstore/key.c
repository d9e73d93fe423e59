/* SPDX-License-Identifier: Apache-2.0 */
/* Keys: what one push names for a key, and its sum. */
#include "kvstore/key.h"

#include <stdio.h>

#include "base/sys.h"
#include "kvstore/exchange.h"
#include "kvstore/gpu_sums.h"

/* ---- entries ----------------------------------------------------------------------------------------------- */

void mxci_key_destroy(mxci_key *e) {
    for (int i = 0; i < e->n_local_copies; i++)
        mxc_ndarray_release(e->local_copies[i]);
    mxc_ndarray_release(e->stored);
    mxc_ndarray_release(e->sum);
    mxc_op_release(e->add);
    mxci_bucket_release(e->bucket);
    mxci_free(e->local_copies);
    mxci_free(e->pending);
    mxci_free(e->key);
    mxci_free(e);
}

mxc_status mxci_key_create(const char *key, mxc_ndarray *stored, mxci_key **out) {
    mxci_key *e = mxci_calloc(1, sizeof *e);
    *out = NULL;
    if (!e || !(e->key = mxci_strdup(key))) {
        mxci_free(e);
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for key \"%s\"", key);
    }
    e->stored = mxc_ndarray_retain(stored);
    *out = e;
    return MXC_OK;
}

static mxc_status check_value(const mxci_key *e, mxc_ndarray *value) {
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

mxc_status mxci_key_add(mxci_key *e, mxc_ndarray *value) {
    MXC_TRY(check_value(e, value));
    if (e->n_pending == e->cap_pending) {
        int cap = e->cap_pending > 0 ? 2 * e->cap_pending : 4;
        mxc_ndarray **grown = mxci_realloc_array(e->pending, (size_t)cap, sizeof *grown);
        if (!grown)
            return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d values of key \"%s\"", cap, e->key);
        e->pending = grown;
        e->cap_pending = cap;
    }
    e->pending[e->n_pending++] = value;
    return MXC_OK;
}

/* ---- sums -------------------------------------------------------------------------------------------------- */

static mxc_status reserve_local_copies(mxci_key *e) {
    if (e->n_local_copies >= e->n_pending)
        return MXC_OK;
    mxc_ndarray **grown = mxci_realloc_array(e->local_copies, (size_t)e->n_pending, sizeof *grown);
    if (!grown)
        return MXC_FAIL(MXC_ENOMEM, "kvstore: no memory for %d values of key \"%s\"", e->n_pending, e->key);
    e->local_copies = grown;
    while (e->n_local_copies < e->n_pending)
        e->local_copies[e->n_local_copies++] = NULL;
    return MXC_OK;
}

static mxc_status new_like(mxc_ndarray *array, mxc_ndarray **out) {
    const mxc_shape *shape = mxc_ndarray_shape(array);
    return mxc_ndarray_create(shape->ndim, shape->dim, mxc_ndarray_dtype(array), mxc_ndarray_context(array), out);
}

/* Replace pending values of other contexts by copies beside the stored one. */
static mxc_status copy_pending_here(mxci_key *e, int priority) {
    MXC_TRY(reserve_local_copies(e));
    for (int i = 0; i < e->n_pending; i++) {
        if (mxc_context_equal(mxc_ndarray_context(e->pending[i]), mxc_ndarray_context(e->stored)))
            continue;
        if (!e->local_copies[i])
            MXC_TRY(new_like(e->stored, &e->local_copies[i]));
        MXC_TRY(mxc_ndarray_copy_to(e->pending[i], e->local_copies[i], priority));
        e->pending[i] = e->local_copies[i];
    }
    return MXC_OK;
}

static mxc_status prepare_add(mxci_key *e) {
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

mxc_status mxci_key_sum(mxci_key *e, mxc_ndarray **out) {
    if (!e->sum)
        MXC_TRY(new_like(e->stored, &e->sum));
    *out = e->sum;
    return MXC_OK;
}

mxc_status mxci_key_reduce(mxci_key *e, int priority, mxc_ndarray **out) {
    int queued = 0;
    if (e->n_pending > 1) {
        MXC_TRY(mxci_key_sum(e, out));
        MXC_TRY(mxci_gpu_sums_reduce(e->n_pending, e->pending, e->sum, priority, &queued));
    }
    if (queued)
        return MXC_OK;
    MXC_TRY(copy_pending_here(e, priority));
    *out = e->pending[0];
    if (e->n_pending == 1)
        return MXC_OK;
    *out = e->sum;
    MXC_TRY(prepare_add(e));
    return mxc_op_invoke(e->add, e->n_pending, e->pending, 1, &e->sum, NULL, 0);
}

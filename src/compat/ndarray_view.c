/* SPDX-License-Identifier: Apache-2.0 */
/* Views of arrays: slices, rows, other shapes; and what they have to do with gradients. */
#include "compat/mxnet.h"

/* Wraps the result of a call, which is an argument beside it, unless the call has failed. */
static int give(mxc_status status, mxc_ndarray *const *array, NDArrayHandle *out) {
    MXNET_TRY(status);
    return mxnet_ndarray_new(*array, out);
}

int MXNDArraySlice64(NDArrayHandle handle, int64_t slice_begin, int64_t slice_end, NDArrayHandle *out) {
    mxc_ndarray *array = mxnet_array(handle), *view = NULL;
    MXNET_NEED(out);
    return array ? give(mxc_ndarray_slice(array, slice_begin, slice_end, &view), &view, out) : -1;
}

int MXNDArraySlice(NDArrayHandle handle, uint32_t slice_begin, uint32_t slice_end, NDArrayHandle *out) {
    return MXNDArraySlice64(handle, slice_begin, slice_end, out);
}

/* A row of an array of one axis is one of length 1, or in NumPy's shapes a scalar. */
int MXNDArrayAt64(NDArrayHandle handle, int64_t idx, NDArrayHandle *out) {
    mxc_ndarray *array = mxnet_array(handle), *view = NULL, *scalar = NULL;
    mxc_status status;
    MXNET_NEED(out);
    if (!array)
        return -1;
    MXNET_TRY(mxc_ndarray_at(array, idx, &view));
    if (!mxnet_is_np_shape() || mxc_ndarray_shape(array)->ndim != 1)
        return mxnet_ndarray_new(view, out);
    status = mxc_ndarray_reshape(view, 0, NULL, &scalar);
    mxc_ndarray_release(view);
    return give(status, &scalar, out);
}

int MXNDArrayAt(NDArrayHandle handle, uint32_t idx, NDArrayHandle *out) {
    return MXNDArrayAt64(handle, idx, out);
}

/* ---- other shapes ------------------------------------------------------------------------------------------------ */

/* Codes of a new shape: keep the axis, take what is left over, keep all that follow, join two axes, split one in two.
 */
enum { KEEP = 0, REST = -1, KEEP_ALL = -2, JOIN = -3, SPLIT = -4 };

typedef struct reshape {
    int n_old, n_new;
    int64_t old[MXC_MAX_NDIM], made[MXC_MAX_NDIM];
    int at;   /* next axis of the old shape */
    int rest; /* the new axis that takes what is left over; -1: none */
} reshape;

static int put(reshape *r, int64_t dim) {
    if (r->n_new == MXC_MAX_NDIM)
        return mxnet_fail("reshape: more than %d axes", MXC_MAX_NDIM);
    if (dim == REST) {
        if (r->rest >= 0)
            return mxnet_fail("reshape: -1 is given for two axes");
        r->rest = r->n_new;
        dim = 1;
    }
    r->made[r->n_new++] = dim;
    return 0;
}

static int take(reshape *r, int64_t *dim) {
    if (r->at >= r->n_old)
        return mxnet_fail("reshape: the shape refers to axis %d of an array with %d axes", r->at, r->n_old);
    *dim = r->old[r->at++];
    return 0;
}

/* Splits an axis in the two lengths that follow, one of which may be -1. */
static int split(reshape *r, int64_t first, int64_t second) {
    int64_t dim = 0;
    MXNET_CALL(take(r, &dim));
    if (first == REST && second > 0)
        first = dim / second;
    else if (second == REST && first > 0)
        second = dim / first;
    if (first < 0 || second < 0 || (second && first != dim / second) || first * second != dim)
        return mxnet_fail("reshape: an axis of length %lld cannot be split in (%lld,%lld)", (long long)dim,
                          (long long)first, (long long)second);
    MXNET_CALL(put(r, first));
    return put(r, second);
}

/* One code, at dims[*i] of n. */
static int apply(reshape *r, int n, const int64_t *dims, int *i) {
    int64_t dim = 0, next = 0;
    switch (dims[*i]) {
    case KEEP:
        MXNET_CALL(take(r, &dim));
        return put(r, dim);
    case KEEP_ALL:
        while (r->at < r->n_old)
            MXNET_CALL(put(r, r->old[r->at++]));
        return 0;
    case JOIN:
        MXNET_CALL(take(r, &dim));
        MXNET_CALL(take(r, &next));
        return put(r, dim * next);
    case SPLIT:
        if (*i + 2 >= n)
            return mxnet_fail("reshape: -4 needs two lengths behind it");
        *i += 2;
        return split(r, dims[*i - 1], dims[*i]);
    default:
        if (dims[*i] < REST)
            return mxnet_fail("reshape: %lld is no length and no code", (long long)dims[*i]);
        r->at++;
        return put(r, dims[*i]);
    }
}

static void turn(int n, int64_t *dims) {
    for (int i = 0; i < n / 2; i++) {
        int64_t dim = dims[i];
        dims[i] = dims[n - 1 - i];
        dims[n - 1 - i] = dim;
    }
}

/* The rest is rounded down: the front end compares the sizes, and reports the difference. */
static int find_rest(reshape *r) {
    int64_t all = 1, others = 1;
    for (int i = 0; i < r->n_old; i++)
        all *= r->old[i];
    for (int i = 0; i < r->n_new; i++)
        others *= i == r->rest ? 1 : r->made[i];
    if (r->rest >= 0)
        r->made[r->rest] = others ? all / others : 0;
    if (all < others)
        return mxnet_fail("reshape: an array of %lld elements cannot have a shape of %lld", (long long)all,
                          (long long)others);
    return 0;
}

enum { MAX_CODES = 3 * MXC_MAX_NDIM };

int MXNDArrayReshape64(NDArrayHandle handle, int ndim, const int64_t *dims, bool reverse, NDArrayHandle *out) {
    mxc_ndarray *array = mxnet_array(handle), *view = NULL;
    int64_t codes[MAX_CODES];
    reshape r = {.rest = -1};
    MXNET_NEED(out);
    if (!array)
        return -1;
    if (ndim < 0 || ndim > MAX_CODES)
        return mxnet_fail("reshape: a shape of %d axes", ndim);
    r.n_old = mxc_ndarray_shape(array)->ndim;
    for (int i = 0; i < r.n_old; i++)
        r.old[i] = mxc_ndarray_shape(array)->dim[i];
    for (int i = 0; i < ndim; i++)
        codes[i] = dims[i];
    if (reverse) {
        turn(r.n_old, r.old);
        turn(ndim, codes);
        for (int i = 0; i + 2 < ndim; i++) /* -4 comes before its two lengths again */
            if (codes[i + 2] == SPLIT) {
                turn(3, &codes[i]);
                turn(2, &codes[i + 1]);
            }
    }
    for (int i = 0; i < ndim; i++)
        MXNET_CALL(apply(&r, ndim, codes, &i));
    if (reverse) {
        turn(r.n_old, r.old);
        turn(r.n_new, r.made);
        r.rest = r.rest < 0 ? -1 : r.n_new - 1 - r.rest;
    }
    MXNET_CALL(find_rest(&r));
    return give(mxc_ndarray_reshape(array, r.n_new, r.made, &view), &view, out);
}

int MXNDArrayReshape(NDArrayHandle handle, int ndim, const int *dims, NDArrayHandle *out) {
    int64_t wide[MAX_CODES];
    if (ndim < 0 || ndim > MAX_CODES)
        return mxnet_fail("reshape: a shape of %d axes", ndim);
    for (int i = 0; i < ndim; i++)
        wide[i] = dims[i];
    return MXNDArrayReshape64(handle, ndim, wide, false, out);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

int MXNDArrayGetGrad(NDArrayHandle handle, NDArrayHandle *out) {
    mxc_ndarray *array = mxnet_array(handle), *grad;
    MXNET_NEED(out);
    if (!array)
        return -1;
    *out = NULL;
    grad = ((mxnet_ndarray *)handle)->grad;
    if (!grad)
        grad = mxc_autograd_grad(array);
    if (!grad)
        return 0;
    MXNET_CALL(mxnet_ndarray_new(mxc_ndarray_retain(grad), out));
    ((mxnet_ndarray *)*out)->storage = ((mxnet_ndarray *)handle)->grad_storage;
    return 0;
}

int MXNDArrayDetach(NDArrayHandle handle, NDArrayHandle *out) {
    mxc_ndarray *array = mxnet_array(handle), *view = NULL;
    MXNET_NEED(out);
    return array ? give(mxc_autograd_detach(array, &view), &view, out) : -1;
}

int MXNDArraySetGradState(NDArrayHandle handle, int state) {
    mxc_ndarray *array = mxnet_array(handle);
    if (!array)
        return -1;
    mxc_autograd_set_fresh(array, state);
    return 0;
}

int MXNDArrayGetGradState(NDArrayHandle handle, int *out) {
    mxc_ndarray *array = mxnet_array(handle);
    MXNET_NEED(out);
    if (!array)
        return -1;
    *out = mxc_autograd_is_fresh(array);
    return 0;
}

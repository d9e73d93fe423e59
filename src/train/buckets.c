/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bucketing: sequences of similar lengths form batches of their own shape, each with an executor for a network of that
 * length. Arguments, gradients and auxiliary states are found by name in the executor of the described shapes, which
 * are the largest, so that its memory suffices for all.
 */
#include "train/buckets.h"

#include <string.h>

#include "base/sys.h"

static mxc_ndarray *batch_array(const mxc_batch *batch, int i) {
    return i < batch->n_data ? batch->data[i] : batch->label[i - batch->n_data];
}

static int has_described_shapes(const mxci_buckets *b, const mxc_batch *batch) {
    for (int i = 0; i < batch->n_data + batch->n_label; i++) {
        const mxc_data_desc *desc = mxc_iter_desc(b->iter, i);
        if (desc && !mxc_shape_equal(&desc->shape, mxc_ndarray_shape(batch_array(batch, i))))
            return 0;
    }
    return 1;
}

/* A new array for input name of the batch: one part of it. *out stays NULL if the iterator does not provide it. */
static mxc_status make_input(const mxci_buckets *b, const mxc_batch *batch, const char *name, mxc_context context,
                             mxc_ndarray **out) {
    mxc_ndarray *from = mxci_feed_find_array(b->iter, batch, name);
    *out = NULL;
    if (!from)
        return MXC_OK;
    mxc_shape shape = *mxc_ndarray_shape(from);
    if (shape.ndim < 1 || shape.dim[0] % b->parts != 0)
        return MXC_FAIL(MXC_EINVAL, "bucket %lld: input %s does not split evenly over %d contexts",
                        (long long)batch->bucket, name, b->parts);
    shape.dim[0] /= b->parts;
    mxc_ndarray *own = mxc_executor_find_arg(b->source, name);
    return mxc_ndarray_create(shape.ndim, shape.dim, own ? mxc_ndarray_dtype(own) : mxc_ndarray_dtype(from), context,
                              out);
}

/* What a bind takes. made[i]: args[i] if it is a new array. */
typedef struct bucket_arrays {
    mxc_names arg_names, aux_names;
    mxc_ndarray **args, **grads, **made, **aux;
    mxc_req *reqs;
} bucket_arrays;

static mxc_status bucket_arrays_open(bucket_arrays *a, mxc_symbol *symbol) {
    memset(a, 0, sizeof *a);
    MXC_TRY(mxc_symbol_list_arguments(symbol, &a->arg_names));
    MXC_TRY(mxc_symbol_list_aux(symbol, &a->aux_names));
    const size_t n = (size_t)a->arg_names.n + 1;
    a->args = mxci_calloc(n, sizeof *a->args);
    a->grads = mxci_calloc(n, sizeof *a->grads);
    a->made = mxci_calloc(n, sizeof *a->made);
    a->reqs = mxci_calloc(n, sizeof *a->reqs);
    a->aux = mxci_calloc((size_t)a->aux_names.n + 1, sizeof *a->aux);
    if (!a->args || !a->grads || !a->made || !a->reqs || !a->aux)
        return MXC_FAIL(MXC_ENOMEM, "bucket: no memory for %zu arguments", n - 1);
    return MXC_OK;
}

static void bucket_arrays_close(bucket_arrays *a) {
    for (int64_t i = 0; a->made && i < a->arg_names.n; i++)
        mxc_ndarray_release(a->made[i]);
    mxci_free(a->args);
    mxci_free(a->grads);
    mxci_free(a->made);
    mxci_free(a->reqs);
    mxci_free(a->aux);
    mxc_names_release(&a->arg_names);
    mxc_names_release(&a->aux_names);
}

static mxc_status collect_arrays(const mxci_buckets *b, const mxc_batch *batch, mxc_context context, bucket_arrays *a) {
    const mxc_names *all = mxc_executor_arg_names(b->source);
    for (int64_t i = 0; i < a->arg_names.n; i++) {
        const char *name = a->arg_names.items[i];
        MXC_TRY(make_input(b, batch, name, context, &a->made[i]));
        a->args[i] = a->made[i] ? a->made[i] : mxc_executor_find_arg(b->source, name);
        if (!a->args[i])
            return MXC_FAIL(MXC_ENOTFOUND,
                            "bucket %lld: argument '%.80s' is neither an array of the iterator nor an argument of the "
                            "network of the largest bucket",
                            (long long)batch->bucket, name);
        a->grads[i] = b->req != MXC_REQ_NULL && !a->made[i] ? mxc_executor_find_grad(b->source, name) : NULL;
        a->reqs[i] = a->grads[i] ? b->req : MXC_REQ_NULL;
    }
    for (int64_t i = 0; b->req != MXC_REQ_NULL && i < all->n; i++)
        if (mxc_executor_grad(b->source, i) && mxc_names_find(&a->arg_names, all->items[i]) < 0)
            return MXC_FAIL(MXC_ENOTFOUND, "bucket %lld: its network has no parameter '%.80s'",
                            (long long)batch->bucket, all->items[i]);
    for (int64_t i = 0; i < a->aux_names.n; i++) {
        a->aux[i] = mxc_executor_find_aux(b->source, a->aux_names.items[i]);
        if (!a->aux[i])
            return MXC_FAIL(MXC_ENOTFOUND, "bucket %lld: the network of the largest bucket has no state '%.80s'",
                            (long long)batch->bucket, a->aux_names.items[i]);
    }
    return MXC_OK;
}

static mxc_status bind_bucket(const mxci_buckets *b, const mxc_batch *batch, mxc_symbol *symbol, mxc_executor **out) {
    mxc_bind_options options = MXC_BIND_OPTIONS_INIT;
    bucket_arrays a;
    options.context = mxc_ndarray_context(mxc_executor_arg(b->source, 0));
    options.shared = b->source;
    mxc_status status = bucket_arrays_open(&a, symbol);
    if (status == MXC_OK)
        status = collect_arrays(b, batch, options.context, &a);
    if (status == MXC_OK)
        status = mxc_executor_bind(symbol, &options, a.args, a.grads, a.reqs, a.aux, out);
    bucket_arrays_close(&a);
    return status;
}

static mxc_status add_bucket(mxci_buckets *b, const mxc_batch *batch) {
    mxc_symbol *symbol = NULL;
    mxci_bucket *grown = mxci_realloc_array(b->items, (size_t)b->n + 1, sizeof *grown);
    if (!grown)
        return MXC_FAIL(MXC_ENOMEM, "bucket %lld: no memory for it", (long long)batch->bucket);
    b->items = grown;
    mxci_bucket *item = &b->items[b->n];
    *item = (mxci_bucket){.key = batch->bucket};
    if (b->symbol)
        MXC_TRY(b->symbol(b->arg, batch->bucket, &symbol));
    else
        symbol = mxc_symbol_retain(mxc_executor_symbol(b->source));
    mxc_status status = bind_bucket(b, batch, symbol, &item->executor);
    if (status == MXC_OK)
        status = mxci_feed_open(&item->feed, b->iter, item->executor);
    mxc_symbol_release(symbol);
    if (status == MXC_OK)
        b->n++;
    else
        mxc_executor_destroy(item->executor);
    return status;
}

mxc_status mxci_buckets_find(mxci_buckets *b, const mxc_batch *batch, mxc_executor **executor, const mxci_feed **feed) {
    *executor = b->source;
    *feed = b->feed;
    if (batch->bucket == 0 || has_described_shapes(b, batch))
        return MXC_OK;
    int i = 0;
    while (i < b->n && b->items[i].key != batch->bucket)
        i++;
    if (i == b->n)
        MXC_TRY(add_bucket(b, batch));
    *executor = b->items[i].executor;
    *feed = &b->items[i].feed;
    return MXC_OK;
}

void mxci_buckets_close(mxci_buckets *b) {
    for (int i = 0; i < b->n; i++) {
        mxci_feed_close(&b->items[i].feed);
        mxc_executor_destroy(b->items[i].executor);
    }
    mxci_free(b->items);
    memset(b, 0, sizeof *b);
}

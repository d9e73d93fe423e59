/* SPDX-License-Identifier: Apache-2.0 */
/* From the batches of an iterator to the input arrays of an executor: which arrays of the iterator are arguments of
 * the symbol, and copying a batch, or the share of one context, to them. */
#include "train/feed.h"

#include <string.h>

#include "base/sys.h"

/* Data and labels; both are matched with arguments by name. */
static int n_arrays(mxc_iter *iter) {
    return mxc_iter_n_data(iter) + mxc_iter_n_label(iter);
}

/* The arrays of the iterator that the symbol takes as arguments. spec is closed by the caller on failure. */
static mxc_status feed_spec_fill(mxci_feed_spec *spec, mxc_iter *iter, const mxc_names *args, int divide) {
    size_t total = (size_t)n_arrays(iter);
    spec->names = mxci_calloc(total, sizeof *spec->names);
    spec->shapes = mxci_calloc(total, sizeof *spec->shapes);
    spec->types = mxci_calloc(total, sizeof *spec->types);
    if (!spec->names || !spec->shapes || !spec->types)
        return MXC_FAIL(MXC_ENOMEM, "no memory for %zu inputs", total);
    for (int i = 0; i < n_arrays(iter); i++) {
        const mxc_data_desc *desc = mxc_iter_desc(iter, i);
        if (mxc_names_find(args, desc->name) < 0)
            continue;
        if (desc->shape.ndim < 1 || desc->shape.dim[0] % divide != 0) {
            char text[MXC_SHAPE_TEXT];
            return MXC_FAIL(MXC_EINVAL, "input %s: batch of shape %s does not split evenly over %d contexts",
                            desc->name, mxc_shape_format(&desc->shape, text, sizeof text), divide);
        }
        spec->names[spec->n] = desc->name;
        spec->shapes[spec->n] = desc->shape;
        spec->shapes[spec->n].dim[0] /= divide;
        spec->types[spec->n++] = desc->dtype;
    }
    if (spec->n == 0)
        return MXC_FAIL(MXC_ENOTFOUND, "no array of the iterator (the first is \"%s\") is an argument of the symbol",
                        mxc_iter_desc(iter, 0) ? mxc_iter_desc(iter, 0)->name : "");
    return MXC_OK;
}

mxc_status mxci_feed_spec_open(mxci_feed_spec *spec, mxc_iter *iter, const mxc_symbol *symbol, int divide) {
    mxc_names args;
    memset(spec, 0, sizeof *spec);
    MXC_TRY(mxc_symbol_list_arguments(symbol, &args));
    mxc_status status = feed_spec_fill(spec, iter, &args, divide);
    mxc_names_release(&args);
    if (status != MXC_OK)
        mxci_feed_spec_close(spec);
    return status;
}

void mxci_feed_spec_close(mxci_feed_spec *spec) {
    mxci_free(spec->names);
    mxci_free(spec->shapes);
    mxci_free(spec->types);
    memset(spec, 0, sizeof *spec);
}

mxc_status mxci_feed_open(mxci_feed *feed, mxc_iter *iter, const mxc_executor *executor) {
    feed->n = n_arrays(iter);
    feed->inputs = mxci_calloc((size_t)feed->n, sizeof *feed->inputs);
    if (!feed->inputs)
        return MXC_FAIL(MXC_ENOMEM, "no memory for %d inputs", feed->n);
    for (int i = 0; i < feed->n; i++)
        feed->inputs[i] = mxc_executor_find_arg(executor, mxc_iter_desc(iter, i)->name);
    return MXC_OK;
}

void mxci_feed_close(mxci_feed *feed) {
    mxci_free(feed->inputs);
    memset(feed, 0, sizeof *feed);
}

/* Rows [part * rows, (part + 1) * rows) of the batch, one context's share. */
static mxc_status copy_part(mxc_ndarray *from, mxc_ndarray *to, int part, int parts) {
    int64_t rows = mxc_ndarray_shape(from)->dim[0] / parts;
    mxc_ndarray *slice;
    if (parts == 1)
        return mxc_ndarray_copy_to(from, to, 0);
    MXC_TRY(mxc_ndarray_slice(from, part * rows, (part + 1) * rows, &slice));
    mxc_status status = mxc_ndarray_copy_to(slice, to, 0);
    mxc_ndarray_release(slice);
    return status;
}

mxc_status mxci_feed_copy(const mxci_feed *feed, const mxc_batch *batch, int part, int parts) {
    if (batch->n_data + batch->n_label != feed->n)
        return MXC_FAIL(MXC_ESHAPE, "the iterator gave %d arrays, %d were announced", batch->n_data + batch->n_label,
                        feed->n);
    for (int i = 0; i < feed->n; i++) {
        mxc_ndarray *from = i < batch->n_data ? batch->data[i] : batch->label[i - batch->n_data];
        if (feed->inputs[i])
            MXC_TRY(copy_part(from, feed->inputs[i], part, parts));
    }
    return MXC_OK;
}

const mxc_data_desc *mxci_feed_find_desc(mxc_iter *iter, const char *name) {
    for (int i = 0; name && i < n_arrays(iter); i++)
        if (strcmp(mxc_iter_desc(iter, i)->name, name) == 0)
            return mxc_iter_desc(iter, i);
    return NULL;
}

mxc_ndarray *mxci_feed_find_array(mxc_iter *iter, const mxc_batch *batch, const char *name) {
    for (int i = 0; name && i < batch->n_data + batch->n_label; i++)
        if (strcmp(mxc_iter_desc(iter, i)->name, name) == 0)
            return i < batch->n_data ? batch->data[i] : batch->label[i - batch->n_data];
    return NULL;
}

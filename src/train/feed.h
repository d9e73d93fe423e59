/* SPDX-License-Identifier: Apache-2.0 */
/* From an iterator's batches to an executor's input arrays, matched by name. */
#ifndef MXCI_TRAIN_FEED_H
#define MXCI_TRAIN_FEED_H

#include <mxc/train.h>

/* What an iterator feeds of a symbol's arguments, for binding. Names are borrowed from the iterator. */
typedef struct mxci_feed_spec {
    int64_t n;
    const char **names;
    mxc_shape *shapes; /* batch axis divided by the number of contexts */
    mxc_dtype *types;
} mxci_feed_spec;

/* MXC_ENOTFOUND if the symbol takes nothing of the iterator, MXC_EINVAL if the batch does not divide evenly. */
mxc_status mxci_feed_spec_open(mxci_feed_spec *spec, mxc_iter *iter, const mxc_symbol *symbol, int divide);
void mxci_feed_spec_close(mxci_feed_spec *spec);

/* The executor's array for each array of the iterator, data first, then labels; NULL: not an argument. Borrowed. */
typedef struct mxci_feed {
    int n;
    mxc_ndarray **inputs;
} mxci_feed;

mxc_status mxci_feed_open(mxci_feed *feed, mxc_iter *iter, const mxc_executor *executor); /* MXC_ENOMEM */
void mxci_feed_close(mxci_feed *feed);
/* Queue copying part `part` of `parts` equal ones of a batch to the inputs. */
mxc_status mxci_feed_copy(const mxci_feed *feed, const mxc_batch *batch, int part, int parts);

/* The description of the iterator's array, data or label, of that name; NULL: it has none, or name is NULL. */
const mxc_data_desc *mxci_feed_find_desc(mxc_iter *iter, const char *name);
/* The array of that name in a batch of the iterator; NULL: it has none, or name is NULL. Borrowed from the batch. */
mxc_ndarray *mxci_feed_find_array(mxc_iter *iter, const mxc_batch *batch, const char *name);

#endif

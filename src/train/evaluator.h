/* SPDX-License-Identifier: Apache-2.0 */
/* Running a symbol over an iterator, forward only. */
#ifndef MXCI_TRAIN_EVALUATOR_H
#define MXCI_TRAIN_EVALUATOR_H

#include "train/buckets.h"
#include "train/feed.h"

typedef struct mxci_evaluator {
    mxc_executor *executor; /* owned */
    mxc_iter *data;         /* borrowed */
    mxci_feed feed;
    mxci_buckets buckets; /* for batches of other shapes than data describes */
    const char *label;    /* array of data that metrics compare the prediction with; NULL: the first label */
} mxci_evaluator;

/* Bind on one context, with parameters for everything that the iterator does not feed; further ones may be in the list.
 * Close also after a failure. */
mxc_status mxci_evaluator_open(mxci_evaluator *e, mxc_symbol *symbol, const mxc_ndarray_list *params, mxc_iter *data,
                               mxc_context context);
/* Bind so that parameters and auxiliary states are the very arrays of another executor of the symbol, and its memory
 * pool is used too: the two must not run at the same time. replaced: for each argument the array to bind instead of
 * that of source, or NULL. */
mxc_status mxci_evaluator_open_sharing(mxci_evaluator *e, mxc_executor *source, mxc_iter *data,
                                       mxc_ndarray *const *replaced);
void mxci_evaluator_close(mxci_evaluator *e);
/* One epoch of the iterator, which is reset at its end; each metric is updated with the label and the last
 * output. All runs have ended on return. */
mxc_status mxci_evaluator_run(mxci_evaluator *e, int n_metrics, mxc_metric *const *metrics);

#endif

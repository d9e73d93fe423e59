/* SPDX-License-Identifier: Apache-2.0 */
/* Executors for batches of different shapes, which share parameters, gradients, auxiliary states and memory. */
#ifndef MXCI_TRAIN_BUCKETS_H
#define MXCI_TRAIN_BUCKETS_H

#include "train/feed.h"

typedef struct mxci_bucket {
    int64_t key; /* mxc_batch.bucket */
    mxc_executor *executor;
    mxci_feed feed;
} mxci_bucket;

/* Gives a new reference to the symbol for a key. */
typedef mxc_status (*mxci_bucket_symbol_fn)(void *arg, int64_t key, mxc_symbol **out);

typedef struct mxci_buckets {
    mxc_executor *source;  /* for the shapes that the iterator describes; the others share its arrays. Borrowed */
    const mxci_feed *feed; /* of source */
    mxc_iter *iter;
    int parts;                    /* that a batch is divided into */
    mxc_req req;                  /* of gradients; MXC_REQ_NULL: there are none */
    mxci_bucket_symbol_fn symbol; /* NULL: source's symbol has all shapes */
    void *arg;
    int n;
    mxci_bucket *items; /* those that have been met */
} mxci_buckets;

/* The executor for a batch, and its feed: source's, if the batch has the described shapes, or that of its key, which is
 * bound when it is first met. Borrowed. Statuses of binding, and of the symbol function; MXC_ENOTFOUND: an argument is
 * neither an array of the iterator nor a parameter of source, or a parameter with a gradient is missing. */
mxc_status mxci_buckets_find(mxci_buckets *buckets, const mxc_batch *batch, mxc_executor **executor,
                             const mxci_feed **feed);
void mxci_buckets_close(mxci_buckets *buckets);

#endif

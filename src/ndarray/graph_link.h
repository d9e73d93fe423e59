/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an array knows of recorded graphs: the node whose output it is. The nodes are made by src/autograd, which lies
 * above this layer; here they are reference-counted objects. The link belongs to the handle, not to the memory: a view
 * has its own.
 */
#ifndef MXCI_NDARRAY_GRAPH_LINK_H
#define MXCI_NDARRAY_GRAPH_LINK_H

#include <stdatomic.h>

#include <mxc/ndarray.h>

#include "engine/core/frame.h"

/* The beginning of each node. */
typedef struct mxci_link_node {
    atomic_int refs;
    void (*destroy)(struct mxci_link_node *node); /* at the last release */
} mxci_link_node;

mxci_link_node *mxci_link_node_retain(mxci_link_node *node);
void mxci_link_node_release(mxci_link_node *node); /* NULL is fine */

/* Make the array output index of the node, which it retains, in place of what it was; NULL: of none. Thread-safe. */
void mxci_array_set_link(mxc_ndarray *array, mxci_link_node *node, int index);
/* The node, retained, and the output that the array is; NULL if there is none. Thread-safe. */
mxci_link_node *mxci_array_get_link(const mxc_ndarray *array, int *index);
/* 1 if there is one. */
int mxci_array_has_link(const mxc_ndarray *array);

/* What src/autograd does with copies and views of arrays on a thread that records (MXCI_MODE_RECORD). */
typedef struct mxci_array_recorder {
    /* to is a view of rows begin to end-1 of from, perhaps of another shape with as many elements. */
    mxc_status (*slice)(mxc_ndarray *from, int64_t begin, int64_t end, mxc_ndarray *to);
    /* to is a view of the first elements of from. */
    mxc_status (*reshape)(mxc_ndarray *from, mxc_ndarray *to);
    /* from will be copied to to. */
    mxc_status (*copy)(mxc_ndarray *from, mxc_ndarray *to);
} mxci_array_recorder;

void mxci_array_recorder_install(const mxci_array_recorder *recorder);
/* The recorder, if this thread records and the array has a link; else NULL. */
const mxci_array_recorder *mxci_array_recorder_for(const mxc_ndarray *array);

#endif

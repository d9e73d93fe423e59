/* SPDX-License-Identifier: Apache-2.0 */
/* A graph run as calls on arrays, operator by operator, which this thread records if it records. */
#ifndef MXCI_AUTOGRAD_CALL_BY_NODE_H
#define MXCI_AUTOGRAD_CALL_BY_NODE_H

#include <mxc/cached_op.h>

#include "symbol/graph.h"

typedef struct mxci_node_monitor {
    mxc_cached_op_monitor_fn fn; /* NULL: none */
    int is_all;                  /* inputs are shown, too */
    void *user;
} mxci_node_monitor;

/* 1 if the shape of an operator's output follows from what its inputs hold, so that no executor can be bound. */
int mxci_graph_needs_arrays(const mxci_graph *graph);
/* in: the arguments, then the auxiliary states. out: the graph's outputs, which the caller releases; NULL on failure.
 */
mxc_status mxci_graph_call_by_node(const mxci_graph *graph, mxc_ndarray *const *in, const mxci_node_monitor *monitor,
                                   mxc_ndarray **out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What passes ask of the nodes and entries of a flat graph. */
#ifndef MXCI_SYMBOL_GRAPH_QUERY_H
#define MXCI_SYMBOL_GRAPH_QUERY_H

#include "operator/op_impl.h"
#include "symbol/graph.h"

/* Bytes of an entry whose shape is known. */
int64_t mxci_graph_entry_bytes(const mxci_graph *graph, int32_t entry);
/* The operator's descriptor at a node; NULL for a variable. */
const mxc_op_def *mxci_graph_op_def(const mxci_graph *graph, int32_t node);
/* How the operator at a node is computed where the node is placed. */
mxci_op_impl mxci_graph_op_impl(const mxci_graph *graph, int32_t node);
/* How often each entry is read, by nodes and as an output; mxci_free it, also after a failure. MXC_ENOMEM. */
mxc_status mxci_graph_count_uses(const mxci_graph *graph, int32_t **out);
/* What a backward node may read, in the order of its inputs. */
typedef enum mxci_read_group { MXCI_READS_OUT_GRAD = 0, MXCI_READS_IN = 1, MXCI_READS_OUT = 2 } mxci_read_group;
/* Place of a slot of a group among a backward node's inputs; -1 if it is not read. */
int32_t mxci_graph_backward_input(const mxci_graph *graph, int32_t node, mxci_read_group group, int32_t slot);

#endif

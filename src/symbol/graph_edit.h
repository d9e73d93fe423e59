/* SPDX-License-Identifier: Apache-2.0 */
/* How passes add nodes to a flat graph and connect them in place of others. */
#ifndef MXCI_SYMBOL_GRAPH_EDIT_H
#define MXCI_SYMBOL_GRAPH_EDIT_H

#include "symbol/graph.h"

/* Append a node that runs op, with the context of node like and the name "<its name>_<suffix>". Its first output
 * through out; shapes and types are set by the caller. MXC_ENOMEM. */
mxc_status mxci_graph_add_op(mxci_graph *graph, mxc_op *op, int32_t like, const char *suffix, int32_t n,
                             const int32_t *inputs, int32_t n_outputs, int32_t *out);
/* Append a node that runs operator op_name on n entries, with the first one's shape, type and context and the name
 * "<name of entry's node>_<suffix>". Its first output through out. num_args is given where n > 1. MXC_ENOMEM,
 * MXC_ENOTFOUND. */
mxc_status mxci_graph_add_like(mxci_graph *graph, const char *op_name, const char *suffix, int32_t n,
                               const int32_t *entries, int32_t *out);
/* Makes every node and output that reads entry from read entry to. */
void mxci_graph_replace_entry(mxci_graph *graph, int32_t from, int32_t to);

#endif

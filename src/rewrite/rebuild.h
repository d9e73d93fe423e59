/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rebuilds a symbol node by node, with some operators or parameters replaced, for passes over trained networks. made
 * maps each output of the old symbol to its replacement; values holds the arrays of new variables.
 */
#ifndef MXCI_REWRITE_REBUILD_H
#define MXCI_REWRITE_REBUILD_H

#include "symbol/graph.h"

typedef struct mxci_rebuild {
    mxci_graph *graph;              /* the old symbol */
    const mxc_ndarray_list *params; /* its parameters: "arg:" and "aux:" before the names; borrowed */
    mxci_entry *made;               /* by entry of graph; node NULL: not made yet; kept alive by owned */
    int64_t n_owned;
    mxc_symbol **owned;
    mxc_ndarray_list values; /* of new variables */
} mxci_rebuild;

/* Close also after a failure. */
mxc_status mxci_rebuild_open(mxci_rebuild *r, const mxc_symbol *symbol, const mxc_ndarray_list *params);
void mxci_rebuild_close(mxci_rebuild *r);

/* Keep a symbol, which is taken also on failure; out: its first output. */
mxc_status mxci_rebuild_keep_symbol(mxci_rebuild *r, mxc_symbol *symbol, mxci_entry *out);
/* A new operator; out: its first output, the others follow. */
mxc_status mxci_rebuild_op(mxci_rebuild *r, const char *op, const char *name, int n_params, const char *const *keys,
                           const char *const *values, int n_in, const mxci_entry *in, mxci_entry *out);
/* A new operator op with the parameters and attributes of the node, except that keys have the given values. If op is
 * another operator than the node's, it gets only the parameters that it has. */
mxc_status mxci_rebuild_node_as(mxci_rebuild *r, int32_t node, const char *op, const char *name, int n_params,
                                const char *const *keys, const char *const *values, int n_in, const mxci_entry *in,
                                mxci_entry *out);
/* The node of the graph with other inputs; sets made for its outputs. */
mxc_status mxci_rebuild_node(mxci_rebuild *r, int32_t node, const mxci_entry *in);
/* A new variable with its array, one reference of which is taken, also on failure. */
mxc_status mxci_rebuild_variable(mxci_rebuild *r, const char *name, mxc_ndarray *value, mxci_entry *out);
/* The parameter that a variable stands for, an argument or auxiliary state; NULL if the entry is no such. Borrowed. */
mxc_ndarray *mxci_rebuild_param(const mxci_rebuild *r, int32_t entry);

/* The new symbol over outputs (one for each of the old one's), and the parameters that it needs. */
mxc_status mxci_rebuild_finish(mxci_rebuild *r, const mxci_entry *outputs, mxc_symbol **symbol,
                               mxc_ndarray_list *params);

#endif

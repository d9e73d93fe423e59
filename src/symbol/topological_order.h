/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a symbol in depth-first post-order, each once, with the way back from a node to its place. */
#ifndef MXCI_SYMBOL_TOPOLOGICAL_ORDER_H
#define MXCI_SYMBOL_TOPOLOGICAL_ORDER_H

#include "symbol/node.h"

typedef struct mxci_topological_order {
    int32_t n, cap;
    mxci_node **nodes; /* borrowed from the symbol */
    struct mxci_topological_order_slot *slots;
    size_t n_slots, n_used; /* n_slots is a power of two */
} mxci_topological_order;

/* Linear in nodes and inputs, without recursion. A backward node's forward node comes before it. MXC_ENOMEM; MXC_ESTATE
 * for an operator not applied yet. On failure out is empty. Free with mxci_topological_order_free. */
mxc_status mxci_topological_order_make(const mxc_symbol *symbol, mxci_topological_order *out);
void mxci_topological_order_free(mxci_topological_order *order); /* an empty one is fine */
/* Place of a node of the symbol. */
int32_t mxci_topological_order_find(const mxci_topological_order *order, const mxci_node *node);

#endif

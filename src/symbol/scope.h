/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread adds to the nodes that it makes: attributes of the current scope, and automatic names. */
#ifndef MXCI_SYMBOL_SCOPE_H
#define MXCI_SYMBOL_SCOPE_H

#include "symbol/node.h"

/* Set the current scope's attributes on a node. MXC_ENOMEM. */
mxc_status mxci_scope_apply(mxci_node *node);
/* "fullyconnected0": the operator's name in lower case and the calling thread's counter for it; returns out. The
 * operator's name is cut so that the counter fits. */
const char *mxci_name_auto(const char *op, char *out, size_t size);

#endif

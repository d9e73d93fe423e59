/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a network's variables that affect its training. */
#ifndef MXCI_TRAIN_ATTRIBUTES_H
#define MXCI_TRAIN_ATTRIBUTES_H

#include <mxc/optimizer.h>
#include <mxc/symbol.h>

#include "symbol/graph.h"

/* The variable of that name; NULL: there is none. */
const mxci_node *mxci_attributes_find(const mxci_graph *graph, const char *name);
/* Pass __lr_mult__ and __wd_mult__ (also without underscores) of a parameter to the optimizer. MXC_EINVAL names it. */
mxc_status mxci_attributes_set_mults(const mxci_node *variable, mxc_optimizer *optimizer);
/* Queue filling an array as __init__ says: a rule's name, or JSON as MXNet writes it, ["xavier", {"magnitude": 3}].
 * *done: 0 where there is no such attribute. MXC_EINVAL, MXC_ENOTFOUND and others, with the variable's name. */
mxc_status mxci_attributes_init(const mxci_node *variable, mxc_ndarray *array, int *done);

#endif

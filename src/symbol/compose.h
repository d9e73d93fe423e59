/* SPDX-License-Identifier: Apache-2.0 */
/* Applying operators: what composition and the JSON reader share. */
#ifndef MXCI_SYMBOL_COMPOSE_H
#define MXCI_SYMBOL_COMPOSE_H

#include "symbol/node.h"

/* The parameter of that name or alias; NULL if the operator has none. */
const mxc_param *mxci_param_find(const mxc_op_def *def, const char *key);
/* 1 if a key that came with parameters is an attribute: __key__, a known key, "<argument>_<known key>". */
int mxci_key_is_attr(const mxc_op_def *def, const char *key);
/* The operator from keys and values of which those that are attributes are left out; for a variadic
 * operator n_in is added where the count is not among them. It retains the subgraphs. Statuses of mxc_op_create;
 * MXC_EUNSUPPORTED for an operator on arrays only. */
mxc_status mxci_op_make(const char *name, int n, const char *const *keys, const char *const *values, int64_t n_in,
                        int n_subgraphs, mxc_symbol *const *subgraphs, mxc_op **out);
/* Set those of the keys that are attributes on the operator's node. */
mxc_status mxci_node_take_attrs(mxci_node *node, int n, const char *const *keys, const char *const *values);
/* Name of an operator's input: an argument, or after the arguments an auxiliary state. */
const char *mxci_input_name(const mxc_op *op, int32_t index, char *out, size_t size);
/* Place of the input whose name is the first length bytes of name; -1 if there is none. */
int32_t mxci_input_find(const mxc_op *op, const char *name, size_t length);
/* A new variable "<node>_<input>" with the node's attributes of the form __key__ as that input. MXC_ENOMEM. */
mxc_status mxci_node_default_input(mxci_node *node, int32_t index);
/* Move attributes "<argument>_<known key>" of an operator's node to the argument, where it is a variable. */
mxc_status mxci_hoist_attrs(mxci_node *node);
/* A new symbol in which free variables are replaced by name and, where name is not NULL, the node of the first output
 * is renamed. Nodes that change are copied, others shared. */
mxc_status mxci_symbol_substitute(const mxc_symbol *symbol, const char *name, int n, const char *const *keys,
                                  mxc_symbol *const *in, mxc_symbol **out);

#endif

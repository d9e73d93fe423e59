/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of operators for the library's own layers; mxc/op.h has the public part. */
#ifndef MXCI_OPERATOR_REGISTRY_H
#define MXCI_OPERATOR_REGISTRY_H

#include <mxc/op.h>

/* Registers the descriptors of op_list.def and of simpleop's list with mxci_registry_add. Called once, with the
 * registry locked, at its first use. Defined in executor/builtin_ops.c, since this layer must not include the one
 * above. */
mxc_status mxci_register_builtin(void);

/* Add one descriptor of a family, whose name must stay valid; the caller holds the registry's lock (only
 * mxci_register_builtin does). MXC_EEXIST, MXC_EINVAL, MXC_ENOMEM. */
mxc_status mxci_registry_add(const mxc_op_def *def, const char *family);

/* Registers the built-in descriptors if that has not happened, so that a later lookup cannot fail for lack of memory.
 * MXC_ENOMEM. */
mxc_status mxci_registry_start(void);

/* Write "; similar names: 'a', 'b'" for a name that was not found, or "" if none is similar; ": " and the reason for an
 * operator of MXNet that is not supported (refused_names.def). */
void mxci_registry_suggest(const char *name, char *out, size_t size);

/* The edit distance of two names, ignoring case; at most limit + 1. */
int mxci_name_distance(const char *a, const char *b, int limit);

#endif

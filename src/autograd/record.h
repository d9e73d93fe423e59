/* SPDX-License-Identifier: Apache-2.0 */
/* What record.c and view_copy.c, which make the nodes of calls, views and copies, have of each other. */
#ifndef MXCI_AUTOGRAD_RECORD_H
#define MXCI_AUTOGRAD_RECORD_H

#include "autograd/tape.h"

/* Has the lower layers call the functions that record. */
void mxci_tape_install(void);

/* A node for an operator of one input and one output whose result has been computed by other means. Its input is not
 * set. MXC_ENOMEM. */
mxc_status mxci_tape_simple_call(const char *name, int n, const char *const *keys, const char *const *values,
                                 const mxci_tensor_type *in, const mxci_tensor_type *result, mxci_tape_node **out);

/* The functions of mxci_array_recorder (view_copy.c). */
mxc_status mxci_tape_slice(mxc_ndarray *from, int64_t begin, int64_t end, mxc_ndarray *to);
mxc_status mxci_tape_reshape(mxc_ndarray *from, mxc_ndarray *to);
mxc_status mxci_tape_copy(mxc_ndarray *from, mxc_ndarray *to);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of mxc_op: what only the library's own layers may do. */
#ifndef MXCI_OPERATOR_OP_H
#define MXCI_OPERATOR_OP_H

#include <mxc/op.h>

extern const mxc_op_def mxci_op_custom; /* custom/custom.c; stands for other operators */

/* An operator of that name with the parameters that another one was given, but another value for one (NULL: without it;
 * key NULL: all as they were). MXC_ENOMEM, and mxc_op_create's. */
mxc_status mxci_op_like(const mxc_op *of, const char *name, const char *key, const char *value, mxc_op **out);

/* What the operator's descriptor says to passes: as the members of mxc_op_def, 0 where there is none. */
int mxci_op_get_elementwise(const mxc_op *op, mxc_elementwise *out);
int mxci_op_get_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out);
int mxci_op_get_quantized(const mxc_op *op, mxc_quantized *out);
int mxci_op_get_linear(const mxc_op *op, mxc_linear *out);
int mxci_op_get_norm(const mxc_op *op, int ndim, mxc_norm *out);
/* In-place options of a pass, up to MXC_INPLACE_END; NULL: none. */
const mxc_inplace *mxci_op_get_inplace(const mxc_op *op, mxc_pass pass);

/* Change a MXC_PARAM_FLOATS parameter in place, for settings that change from step to step such as learning rates. Only
 * where the caller's reference is the only one, so that no queued run reads it: returns 0 otherwise, or if there is no
 * such parameter. The texts of mxc_op_given stay as they were. */
int mxci_op_set_floats(mxc_op *op, const char *name, const mxc_floats *value);

/* One block that an operator keeps from a call for the next one, so that calling it again and again allocates nothing.
 * take: NULL if there is none; keep: takes it over. Thread-safe. */
void *mxci_op_take_spare(mxc_op *op);
void mxci_op_keep_spare(mxc_op *op, void *block);

#endif

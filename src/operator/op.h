/* Inside of mxc_op: what only the library's own layers may do. */
#ifndef MXCI_OPERATOR_OP_H
#define MXCI_OPERATOR_OP_H

#include <mxc/op.h>

extern const mxc_op_def mxci_op_custom; /* custom/custom.c; stands for other operators */

/* An operator of that name with the parameters that another one was given, but another value for one (NULL: without it;
 * key NULL: all as they were). MXC_ENOMEM, and mxc_op_create's. */
mxc_status mxci_op_like(const mxc_op *of, const char *name, const char *key, const char *value, mxc_op **out);

/* Change a MXC_PARAM_FLOATS parameter in place, for settings that change from step to step such as learning rates. Only
 * where the caller's reference is the only one, so that no queued run reads it: returns 0 otherwise, or if there is no
 * such parameter. The texts of mxc_op_given stay as they were. */
int mxci_op_set_floats(mxc_op *op, const char *name, const mxc_floats *value);

/* One block that an operator keeps from a call for the next one, so that calling it again and again allocates nothing.
 * take: NULL if there is none; keep: takes it over. Thread-safe. */
void *mxci_op_take_spare(mxc_op *op);
void mxci_op_keep_spare(mxc_op *op, void *block);

#endif

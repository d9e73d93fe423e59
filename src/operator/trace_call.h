/* SPDX-License-Identifier: Apache-2.0 */
/* The event of an operator's run in a trace. */
#ifndef MXCI_OPERATOR_TRACE_CALL_H
#define MXCI_OPERATOR_TRACE_CALL_H

#include <mxc/op.h>

/* End the event that began at begin (mxci_trace_begin) with the shapes and bytes of a run; pass: which one it was. */
void mxci_trace_call(int64_t begin, const char *name, const char *category, const mxc_op_call *call, mxc_pass pass);

#endif

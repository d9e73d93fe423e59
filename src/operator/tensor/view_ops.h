/* SPDX-License-Identifier: Apache-2.0 */
/* Operators whose output is a view of their data (views.h): forward and backward by strided copies. */
#ifndef MXCI_OPERATOR_TENSOR_VIEW_OPS_H
#define MXCI_OPERATOR_TENSOR_VIEW_OPS_H

#include <mxc/op.h>

#include "operator/tensor/views.h"

/* By an operator's view: out = its elements of data; the gradient of data = those of out's, by a view of the way back;
 * the gradient of data = 0 but for out's in the view's places. */
mxc_status mxci_view_take(const mxc_op_call *call, mxci_view_fn view_of);
mxc_status mxci_view_take_back(const mxc_op_call *call, mxci_view_fn view_of);
mxc_status mxci_view_put_back(const mxc_op_call *call, mxci_view_fn view_of);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Operators whose output is a view of their data (views.h): forward and backward by strided copies. */
#ifndef MXCI_OPERATOR_TENSOR_VIEW_OPS_H
#define MXCI_OPERATOR_TENSOR_VIEW_OPS_H

#include <mxc/op.h>

#include "operator/tensor/views.h"

/* take: out = the elements of data that the view selects. take_back: data's gradient = the elements of out's gradient
 * that the inverse view selects. put_back: data's gradient = out's gradient at the elements that the view selects, 0
 * elsewhere. */
mxc_status mxci_view_take(const mxc_op_call *call, mxci_view_fn view_of);
mxc_status mxci_view_take_back(const mxc_op_call *call, mxci_view_fn view_of);
mxc_status mxci_view_put_back(const mxc_op_call *call, mxci_view_fn view_of);

#endif

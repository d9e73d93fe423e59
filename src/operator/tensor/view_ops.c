/* SPDX-License-Identifier: Apache-2.0 */
/* Views as forward and backward functions of operators. */
#include "math/strided_copy.h"
#include "operator/tensor/view_ops.h"

static mxci_view view_of_call(const mxc_op_call *call, mxci_view_fn view_of) {
    return view_of(call->params, &call->in[0].shape, &call->out[0].shape);
}

mxc_status mxci_view_take(const mxc_op_call *call, mxci_view_fn view_of) {
    mxci_view view = view_of_call(call, view_of);
    mxci_assign_from_strided(call->run, call->req[0], &call->out[0], &call->in[0], view.first, &view.strides);
    return MXC_OK;
}

mxc_status mxci_view_take_back(const mxc_op_call *call, mxci_view_fn view_of) {
    mxci_view view = view_of_call(call, view_of);
    mxci_assign_from_strided(call->run, call->req[0], &call->in_grad[0], &call->out_grad[0], view.first, &view.strides);
    return MXC_OK;
}

mxc_status mxci_view_put_back(const mxc_op_call *call, mxci_view_fn view_of) {
    mxci_view view = view_of_call(call, view_of);
    mxci_assign_to_strided(call->run, call->req[0], &call->in_grad[0], view.first, &view.strides, &call->out_grad[0]);
    return MXC_OK;
}

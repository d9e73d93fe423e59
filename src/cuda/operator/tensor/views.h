/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views on the GPU (operator/tensor/views.h): operators whose results are elements of their input, by strides that
 * follow from parameters and shapes, and the way back.
 */
#ifndef MXCI_CUDA_OPERATOR_TENSOR_VIEWS_H
#define MXCI_CUDA_OPERATOR_TENSOR_VIEWS_H

#include "cuda/runtime/gradient.h"
#include "operator/tensor/views.h"

/* Result i of a call, to, = from's elements: to[at] = from[view's element at]. */
mxc_status mxcu_view_take(const mxc_op_call *call, const mxc_tensor *to, int i, const mxci_view *view,
                          const mxc_tensor *from);
/* The reverse, for result 0: to[view's element at] = from[at]; other elements of to stay as they are. */
mxc_status mxcu_view_put(const mxc_op_call *call, const mxc_tensor *to, const mxci_view *view, const mxc_tensor *from);

static inline mxci_view mxcu_view_of(const mxc_op_call *call, mxci_view_fn fn) {
    return fn(call->params, &call->in[0].shape, &call->out[0].shape);
}

template <mxci_view_fn fn> mxc_status mxcu_view_forward(const mxc_op_call *call) {
    mxci_view view = mxcu_view_of(call, fn);
    return mxcu_view_take(call, &call->out[0], 0, &view, &call->in[0]);
}

/* Backward where each element of data is in out once. inverse: the view of data in out. */
template <mxci_view_fn inverse> mxc_status mxcu_view_backward_once(const mxc_op_call *call) {
    mxci_view view = mxcu_view_of(call, inverse);
    return mxcu_view_take(call, &call->in_grad[0], 0, &view, &call->out_grad[0]);
}

/* Backward where each element of data is in out at most once: the gradient of the others is 0. A second argument has
 * no gradient. */
template <mxci_view_fn fn> mxc_status mxcu_view_backward_part(const mxc_op_call *call) {
    mxci_view view = mxcu_view_of(call, fn);
    MXC_TRY(mxcu_zero_gradient(call));
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : mxcu_view_put(call, &call->in_grad[0], &view, &call->out_grad[0]);
}

#endif

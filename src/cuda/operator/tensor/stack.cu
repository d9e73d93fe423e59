/* SPDX-License-Identifier: Apache-2.0 */
/* stack: arrays side by side along a new axis. */
#include "cuda/operator/tensor/concat_split.h"
#include "operator/tensor/concat.h"

/* The axis of out. */
static int axis_of(const mxc_op_call *call) {
    const int64_t axis = static_cast<const mxci_concat_params *>(call->params)->dim;
    return (int)(axis < 0 ? axis + call->out[0].shape.ndim : axis);
}

static mxc_status forward(const mxc_op_call *call) {
    return mxcu_concat(call, &call->out[0], call->n_in, call->in, axis_of(call));
}

static mxc_status backward(const mxc_op_call *call) {
    return mxcu_split(call, &call->out_grad[0], call->n_in, call->in_grad, axis_of(call));
}

MXCU_OP_IMPLS(stack, {"stack", forward, backward})

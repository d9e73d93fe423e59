/* SPDX-License-Identifier: Apache-2.0 */
/* _split_v2: an array split along an axis at given rows. */
#include "cuda/operator/tensor/concat_split.h"
#include "operator/tensor/concat_split.h"

static int axis_of(const mxc_op_call *call) {
    const int64_t axis = static_cast<const mxci_split_v2_params *>(call->params)->axis;
    return (int)(axis < 0 ? axis + call->in[0].shape.ndim : axis);
}

static mxc_status forward(const mxc_op_call *call) {
    return mxcu_split(call, &call->in[0], call->n_out, call->out, axis_of(call));
}

static mxc_status backward(const mxc_op_call *call) {
    return mxcu_concat(call, &call->in_grad[0], call->n_out, call->out_grad, axis_of(call));
}

MXCU_OP_IMPLS(split_v2, {"_split_v2", forward, backward})

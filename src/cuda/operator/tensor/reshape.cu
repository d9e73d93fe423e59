/* SPDX-License-Identifier: Apache-2.0 */
/* Reshape, and what all operators share that only change the shape. */
#include "cuda/operator/tensor/reshape.h"

#include "cuda/runtime/gradient.h"

mxc_status mxcu_reshape_forward(const mxc_op_call *call) {
    return mxcu_put(call, &call->out[0], 0, &call->in[0]);
}

mxc_status mxcu_reshape_backward(const mxc_op_call *call) {
    for (int i = 1; i < call->n_in; i++)
        MXC_TRY(mxcu_no_gradient(call, i));
    return mxcu_put(call, &call->in_grad[0], 0, &call->out_grad[0]);
}

MXCU_OP_IMPLS(reshape, {"Reshape", mxcu_reshape_forward, mxcu_reshape_backward})

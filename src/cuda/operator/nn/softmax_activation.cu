/* SPDX-License-Identifier: Apache-2.0 */
/* SoftmaxActivation: softmax along the last axis, or over the channels of each pixel (nn/softmax.h). */
#include "cuda/operator/nn/softmax.h"
#include "operator/nn/softmax.h"

static mxcu_softmax softmax_of(const mxc_op_call *call) {
    const mxc_shape *data = &call->in[0].shape;
    if (static_cast<const mxci_softmax_activation_params *>(call->params)->mode == MXCI_MODE_CHANNEL)
        return mxcu_softmax_along(data, 1, 1, 0);
    return mxcu_softmax_along(data, data->ndim - 1, 1, 0);
}

static mxc_status forward(const mxc_op_call *call) {
    mxcu_softmax s = softmax_of(call);
    return mxcu_softmax_put(call, &s, &call->in[0], &call->out[0], call->req[0]);
}

static mxc_status backward(const mxc_op_call *call) {
    mxcu_softmax s = softmax_of(call);
    return mxcu_softmax_put_gradient(call, &s, &call->out_grad[0], &call->out[0], &call->in_grad[0], call->req[0]);
}

MXCU_OP_IMPLS(softmax_activation, {"SoftmaxActivation", forward, backward})

/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution: the operator. convolution_im2col.cu, and the files that it calls, compute the three passes; here are the
 * parameters, the bias and requests. */
#include <algorithm>

#include "cuda/operator/nn/convolution_layer.h"
#include "cuda/operator/reduce/reduce.h"

enum { DATA, WEIGHT, BIAS };

/* The gradient of the bias, channels last: the sums over the rows of out's gradient. */
static mxcu_reduction plan_rows(const mxc_shape *grad) {
    return mxcu_plan_channels(grad, grad->ndim - 1);
}

template <class T> static mxc_status sum_rows(const mxc_op_call *call) {
    mxcu_reduction plan = plan_rows(&call->out_grad[0].shape);
    mxcu_summing<T, mxcu_element<T>> sums = {
        {mxcu_data<T>(&call->out_grad[0])},
        mxcu_result<T>(call, &call->in_grad[BIAS], BIAS),
    };
    return mxcu_reduce(call, &plan, sums, call->temp);
}

static mxc_status sum_rows_any(const mxc_op_call *call) {
    MXCU_SWITCH_FLOAT(call->out_grad[0].dtype, sum_rows, call)
}

static mxcu_conv convolution_from(const void *params, const mxc_shape *data, const mxc_shape *out, mxc_dtype dtype) {
    const mxci_conv_params *p = static_cast<const mxci_conv_params *>(params);
    return mxcu_conv_of(p, p, data, out, dtype);
}

static mxcu_conv convolution_of(const mxc_op_call *call) {
    return convolution_from(call->params, &call->in[DATA].shape, &call->out[0].shape, call->in[DATA].dtype);
}

/* Backward's passes run one after the other in the same scratch. */
static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxcu_conv c = convolution_from(sig->params, &sig->in_shape[DATA], &sig->out_shape[0], sig->in_type[DATA]);
    mxcu_reduction rows = plan_rows(&sig->out_shape[0]);
    return pass == MXC_FORWARD
               ? mxcu_conv_temp(sig->context, &c, MXCU_CONV_FORWARD)
               : std::max(mxcu_reduction_bytes(&rows), std::max(mxcu_conv_temp(sig->context, &c, MXCU_CONV_WEIGHT),
                                                                mxcu_conv_temp(sig->context, &c, MXCU_CONV_DATA)));
}

static mxc_status forward(const mxc_op_call *call) {
    mxcu_conv c = convolution_of(call);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxcu_conv_forward(call, &c, call->in[DATA].data, call->in[WEIGHT].data, call->out[0].data,
                              call->req[0] == MXC_REQ_ADD));
    return mxcu_conv_add_bias(call, mxcu_conv_y(&c), c.channels_last);
}

/* The three gradients are independent; each is computed only if it is wanted. */
static mxc_status backward(const mxc_op_call *call) {
    mxcu_conv c = convolution_of(call);
    const void *grad = call->out_grad[0].data;
    if (mxcu_conv_wants_bias_gradient(call))
        MXC_TRY(c.channels_last ? sum_rows_any(call) : mxcu_conv_bias_gradient(call, mxcu_conv_y(&c)));
    if (call->req[WEIGHT] != MXC_REQ_NULL)
        MXC_TRY(mxcu_conv_weight(call, &c, call->in[DATA].data, grad, call->in_grad[WEIGHT].data,
                                 call->req[WEIGHT] == MXC_REQ_ADD));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_conv_data(call, &c, grad, call->in[WEIGHT].data, call->in_grad[DATA].data,
                          call->req[DATA] == MXC_REQ_ADD);
}

MXCU_OP_IMPLS(convolution, {"Convolution", forward, backward, temp_bytes})

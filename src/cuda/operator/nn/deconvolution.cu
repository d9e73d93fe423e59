/* SPDX-License-Identifier: Apache-2.0 */
/* Deconvolution: forward is the gradient of a convolution with respect to its data, and its gradients are that
 * convolution and its gradient with respect to weights. So data takes the place of the convolution's y, out that of its
 * x. */
#include "operator/nn/deconvolution.h"

#include <algorithm>

#include "cuda/operator/nn/convolution_layer.h"

enum { DATA, WEIGHT, BIAS };

/* The convolution whose gradient this is: from out's shape to data's. */
static mxcu_conv deconvolution(const void *params, const mxc_shape *data, const mxc_shape *out, mxc_dtype dtype) {
    const mxci_deconv_params *user = static_cast<const mxci_deconv_params *>(params);
    mxci_conv_params p;
    mxci_deconv_conv(user, data, &p);
    return mxcu_conv_of(&p, user, out, data, dtype);
}

static mxcu_conv deconvolution_of(const mxc_op_call *call) {
    return deconvolution(call->params, &call->in[DATA].shape, &call->out[0].shape, call->in[DATA].dtype);
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxcu_conv c = deconvolution(sig->params, &sig->in_shape[DATA], &sig->out_shape[0], sig->in_type[DATA]);
    return pass == MXC_FORWARD ? mxcu_conv_temp(sig->context, &c, MXCU_CONV_DATA)
                               : std::max(mxcu_conv_temp(sig->context, &c, MXCU_CONV_WEIGHT),
                                          mxcu_conv_temp(sig->context, &c, MXCU_CONV_FORWARD));
}

static mxc_status forward(const mxc_op_call *call) {
    mxcu_conv c = deconvolution_of(call);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxcu_conv_data(call, &c, call->in[DATA].data, call->in[WEIGHT].data, call->out[0].data,
                           call->req[0] == MXC_REQ_ADD));
    return mxcu_conv_add_bias(call, mxcu_conv_x(&c), 0);
}

static mxc_status backward(const mxc_op_call *call) {
    mxcu_conv c = deconvolution_of(call);
    const void *grad = call->out_grad[0].data;
    if (mxcu_conv_wants_bias_gradient(call))
        MXC_TRY(mxcu_conv_bias_gradient(call, mxcu_conv_x(&c)));
    if (call->req[WEIGHT] != MXC_REQ_NULL)
        MXC_TRY(mxcu_conv_weight(call, &c, grad, call->in[DATA].data, call->in_grad[WEIGHT].data,
                                 call->req[WEIGHT] == MXC_REQ_ADD));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_conv_forward(call, &c, grad, call->in[WEIGHT].data, call->in_grad[DATA].data,
                             call->req[DATA] == MXC_REQ_ADD);
}

MXCU_OP_IMPLS(deconvolution, {"Deconvolution", forward, backward, temp_bytes})

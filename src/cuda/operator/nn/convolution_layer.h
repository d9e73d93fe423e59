/* SPDX-License-Identifier: Apache-2.0 */
/* What the operators Convolution and Deconvolution share: a convolution from their parameters, and the bias. */
#ifndef MXCI_CUDA_OPERATOR_NN_CONVOLUTION_LAYER_H
#define MXCI_CUDA_OPERATOR_NN_CONVOLUTION_LAYER_H

#include "cuda/operator/nn/bias.h"
#include "cuda/operator/nn/convolution.h"
#include "operator/nn/convolution.h"

enum { MXCU_CONV_BIAS = 2 }; /* the argument, after data and weight */

/* Values of cudnn_tune. The default is MXNet's: to measure within the workspace. */
enum { MXCU_TUNE_OFF, MXCU_TUNE_LIMITED, MXCU_TUNE_FASTEST };

/* The convolution from what has x's shape to what has y's; user: the operator's parameters. */
template <class P>
mxcu_conv mxcu_conv_of(const mxci_conv_params *p, const P *user, const mxc_shape *x, const mxc_shape *y,
                       mxc_dtype dtype) {
    const int tuned = user->cudnn_tune != MXCU_TUNE_OFF && mxcu_option(MXCI_OPT_MXC_GPU_TUNE);
    const int off = user->cudnn_off || !mxcu_option(MXCI_OPT_MXC_GPU_DNN);
    const int64_t megabytes = user->cudnn_tune == MXCU_TUNE_FASTEST ? 8192 : user->workspace;
    return {mxci_conv_group(p, x, y),  x->dim[0], p->num_group, dtype, off ? 0 : 1 + tuned, megabytes << 20,
            mxci_conv_channels_last(p)};
}

/* out += the bias, if there is one; y: out as an array of the convolution. */
static inline mxc_status mxcu_conv_add_bias(const mxc_op_call *call, const mxcu_conv_array &y, int channels_last) {
    if (call->n_in <= MXCU_CONV_BIAS)
        return MXC_OK;
    return mxcu_bias_put(call, MXC_REQ_ADD, &call->out[0], &call->in[MXCU_CONV_BIAS], channels_last ? 1 : y.inner);
}

static inline int mxcu_conv_wants_bias_gradient(const mxc_op_call *call) {
    return call->n_in > MXCU_CONV_BIAS && call->req[MXCU_CONV_BIAS] != MXC_REQ_NULL;
}

/* The gradient of the bias, channels second. */
static inline mxc_status mxcu_conv_bias_gradient(const mxc_op_call *call, const mxcu_conv_array &y) {
    return mxcu_bias_sum(call, call->req[MXCU_CONV_BIAS], &call->in_grad[MXCU_CONV_BIAS], &call->out_grad[0], y.inner);
}

#endif

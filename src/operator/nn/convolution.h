/* SPDX-License-Identifier: Apache-2.0 */
/* What Convolution and the quantized convolution share: parameters, shapes, geometry. Their slots begin with data,
 * weight, bias and output. */
#ifndef MXCI_OPERATOR_NN_CONVOLUTION_H
#define MXCI_OPERATOR_NN_CONVOLUTION_H

#include "math/assign.h"
#include "operator/infer.h"
#include "operator/nn/channels.h"
#include "operator/nn/convolution_kernels.h"

typedef struct mxci_conv_params {
    mxc_tuple kernel, stride, dilate, pad;
    int64_t num_filter, num_group, workspace;
    int32_t no_bias, cudnn_tune, cudnn_off, layout;
} mxci_conv_params;

extern const mxc_param mxci_conv_schema[];

/* Channels last, the weights' too: (num_filter, kernel, C / num_group). */
static inline int mxci_conv_channels_last(const mxci_conv_params *p) {
    return p->layout > 2;
}

mxc_status mxci_conv_check(void *params);
mxc_status mxci_conv_infer(mxc_op_sig *sig);
/* Spatial axis i: out = (in + 2 pad - reach) / stride + 1; for stride 1 also backwards, from out to in. The parameters
 * begin with mxci_conv_params. */
mxc_status mxci_conv_infer_axis(mxc_op_sig *sig, int i);
/* The convolution of one sample and one group. */
static inline mxci_conv_shape mxci_conv_group(const mxci_conv_params *p, const mxc_shape *data, const mxc_shape *out) {
    mxci_conv_shape s;
    const int channels_last = mxci_conv_channels_last(p);
    s.channels = data->dim[mxci_channel_axis(channels_last, data->ndim)] / p->num_group;
    s.filters = p->num_filter / p->num_group;
    for (int i = 0; i < 3; i++) {
        int axis = i - (3 - p->kernel.n);
        s.in[i] = axis < 0 ? 1 : data->dim[mxci_spatial_axis(channels_last, axis)];
        s.out[i] = axis < 0 ? 1 : out->dim[mxci_spatial_axis(channels_last, axis)];
        s.kernel[i] = axis < 0 ? 1 : p->kernel.value[axis];
        s.stride[i] = axis < 0 ? 1 : p->stride.value[axis];
        s.dilate[i] = axis < 0 ? 1 : p->dilate.value[axis];
        s.pad[i] = axis < 0 ? 0 : p->pad.value[axis];
    }
    return s;
}

#endif

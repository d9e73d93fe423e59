/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of Deconvolution, and the convolution whose gradient it is. */
#ifndef MXCI_OPERATOR_NN_DECONVOLUTION_H
#define MXCI_OPERATOR_NN_DECONVOLUTION_H

#include "operator/nn/convolution.h"

typedef struct mxci_deconv_params {
    mxc_tuple kernel, stride, dilate, pad, adj, target_shape;
    int64_t num_filter, num_group, workspace;
    int32_t no_bias, cudnn_tune, cudnn_off, layout;
} mxci_deconv_params;

static inline int mxci_deconv_has_target(const mxci_deconv_params *p) {
    int64_t any = 0;
    for (int i = 0; i < p->kernel.n; i++)
        any |= p->target_shape.value[i];
    return any != 0;
}

/* What the kernels span in axis i of the output, with what is cut off. in: of data. */
static inline int64_t mxci_deconv_span(const mxci_deconv_params *p, int i, int64_t in) {
    return p->stride.value[i] * (in - 1) + p->dilate.value[i] * (p->kernel.value[i] - 1) + 1;
}

/* With a target, half of what is too much is cut off, rounded up. */
static inline int64_t mxci_deconv_pad(const mxci_deconv_params *p, int i, int64_t in) {
    return mxci_deconv_has_target(p) ? (mxci_deconv_span(p, i, in) - p->target_shape.value[i] + 1) / 2
                                     : p->pad.value[i];
}

/* The convolution without bias from what has the output's shape to what has data's. */
static inline void mxci_deconv_conv(const mxci_deconv_params *p, const mxc_shape *data, mxci_conv_params *out) {
    out->kernel = p->kernel;
    out->stride = p->stride;
    out->dilate = p->dilate;
    out->pad = p->pad;
    for (int i = 0; i < p->kernel.n; i++)
        out->pad.value[i] = mxci_deconv_pad(p, i, data->dim[i + 2]);
    out->num_filter = data->dim[1];
    out->num_group = p->num_group;
    out->no_bias = 1;
    out->workspace = out->cudnn_tune = out->cudnn_off = 0;
    out->layout = p->layout;
}

#endif

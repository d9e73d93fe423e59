/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolution and its gradients on the GPU, for Convolution and Deconvolution. Letters: N samples, G groups, C channels
 * and F filters of a group, K = C x kernel positions, P pixels of the output. x (N,GC,in), w (GF,C,kernel), y
 * (N,GF,out); or, channels last, x (N,in,GC), w (GF,kernel,C), y (N,out,GF).
 */
#ifndef MXCI_CUDA_OPERATOR_NN_CONVOLUTION_H
#define MXCI_CUDA_OPERATOR_NN_CONVOLUTION_H

#include "cuda/runtime/module.h"
#include "operator/nn/convolution_kernels.h"

/* A convolution, without its arrays. Computed from parameters and shapes by mxcu_conv_of (convolution_layer.h). */
struct mxcu_conv {
    mxci_conv_shape s; /* of one sample and one group */
    int64_t batch, groups;
    mxc_dtype dtype;
    int library; /* 0: our kernels; 1: a library's (cuda/runtime/dnn.h) where it serves; 2: and the one measured best */
    int64_t workspace; /* most bytes of scratch for the library */
    int channels_last;

    int64_t kernel_size() const { /* positions in the kernel */
        return s.kernel[0] * s.kernel[1] * s.kernel[2];
    }
    int64_t pixels() const {
        return s.out[0] * s.out[1] * s.out[2];
    }
    int64_t image() const { /* elements of one of x's planes */
        return s.in[0] * s.in[1] * s.in[2];
    }
};

/* An array of a convolution: (outer, channels, inner), or (outer, inner, channels). */
struct mxcu_conv_array {
    int64_t outer, channels, inner;

    int64_t size() const {
        return outer * channels * inner;
    }
};
static inline mxcu_conv_array mxcu_conv_x(const mxcu_conv *c) {
    return {c->batch, c->groups * c->s.channels, c->image()};
}
static inline mxcu_conv_array mxcu_conv_w(const mxcu_conv *c) {
    return {c->groups * c->s.filters, c->s.channels, c->kernel_size()};
}
static inline mxcu_conv_array mxcu_conv_y(const mxcu_conv *c) {
    return {c->batch, c->groups * c->s.filters, c->pixels()};
}

/* Forward; the gradient of data; the gradient of the weights. */
enum mxcu_conv_pass { MXCU_CONV_FORWARD, MXCU_CONV_DATA, MXCU_CONV_WEIGHT };

/* Queue y = or += conv(x, w); dx = or += its gradient from dy; dw likewise. The call has the pass's scratch. */
mxc_status mxcu_conv_forward(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *w, void *y,
                             int add);
mxc_status mxcu_conv_data(const mxc_op_call *call, const mxcu_conv *c, const void *dy, const void *w, void *dx,
                          int add);
mxc_status mxcu_conv_weight(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *dy, void *dw,
                            int add);
/* Bytes of scratch for a pass on that GPU. */
size_t mxcu_conv_temp(mxc_context context, const mxcu_conv *c, mxcu_conv_pass pass);

/* convolution_layout.cu: a pass channels last by one channels second, through copies of the arrays; to, a and b as in
 * mxcu_dnn_conv; its scratch. */
mxc_status mxcu_conv_transformed(const mxc_op_call *call, const mxcu_conv *c, mxcu_conv_pass pass, const void *a,
                                 const void *b, void *to, int add);
size_t mxcu_conv_transformed_temp(mxc_context context, const mxcu_conv *c, mxcu_conv_pass pass);

/* convolution_depthwise.cu: the three passes without scratch, for groups of one channel. */
mxc_status mxcu_conv_depthwise_forward(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *w,
                                       void *y, int add);
mxc_status mxcu_conv_depthwise_data(const mxc_op_call *call, const mxcu_conv *c, const void *dy, const void *w,
                                    void *dx, int add);
mxc_status mxcu_conv_depthwise_weight(const mxc_op_call *call, const mxcu_conv *c, const void *x, const void *dy,
                                      void *dw, int add);

#endif

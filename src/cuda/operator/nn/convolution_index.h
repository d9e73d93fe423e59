/* SPDX-License-Identifier: Apache-2.0 */
/* Index arithmetic of convolutions, for kernels. Three spatial axes; axes that a convolution lacks have size 1. */
#ifndef MXCI_CUDA_OPERATOR_NN_CONVOLUTION_INDEX_H
#define MXCI_CUDA_OPERATOR_NN_CONVOLUTION_INDEX_H

#include "cuda/operator/nn/convolution.h"
#include "cuda/runtime/position.h"

/* The element of x's plane that output position o reads with position k of the kernel; -1: padding. */
MXCU_DEVICE int64_t mxcu_conv_read(const mxci_conv_shape &s, const mxcu_position &o, const mxcu_position &k) {
    int64_t at = 0;
    for (int i = 0; i < 3; i++) {
        int64_t in = o.at[i] * s.stride[i] - s.pad[i] + k.at[i] * s.dilate[i];
        if (in < 0 || in >= s.in[i])
            return -1;
        at = at * s.in[i] + in;
    }
    return at;
}

/* The pixel that reads element x of the input with position k of the kernel; -1: none does. */
MXCU_DEVICE int64_t mxcu_conv_reader(const mxci_conv_shape &s, const mxcu_position &x, const mxcu_position &k) {
    int64_t at = 0;
    for (int i = 0; i < 3; i++) {
        int64_t from = x.at[i] + s.pad[i] - k.at[i] * s.dilate[i];
        int64_t out = from < 0 ? -1 : mxcu_divide(from, s.stride[i]);
        if (from < 0 || out >= s.out[i] || out * s.stride[i] != from)
            return -1;
        at = at * s.out[i] + out;
    }
    return at;
}

#endif

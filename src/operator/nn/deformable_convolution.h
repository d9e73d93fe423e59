/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of DeformableConvolution and what its kernels are told, for C and GPU modules. */
#ifndef MXCI_OPERATOR_NN_DEFORMABLE_CONVOLUTION_H
#define MXCI_OPERATOR_NN_DEFORMABLE_CONVOLUTION_H

#include <mxc/param.h>

#include "operator/nn/deformable_convolution_kernels.h"

typedef struct mxci_deformable_params {
    mxc_tuple kernel, stride, dilate, pad;
    int64_t num_filter, num_group, num_deformable_group, workspace, im2col_step;
    int32_t no_bias, layout;
} mxci_deformable_params;

/* Whether the operator of n_in arguments takes a mask: data, offset, mask, weight, bias. */
static inline int mxci_deformable_has_mask(const mxci_deformable_params *p, int n_in) {
    return n_in + p->no_bias == 5;
}

/* in, out: shapes of data and of the output. */
static inline mxci_deformable_shape mxci_deformable_shape_of(const mxci_deformable_params *p, const int64_t *in,
                                                             const int64_t *out, int has_mask) {
    mxci_deformable_shape s;
    s.channels = in[1];
    s.groups = p->num_deformable_group;
    s.add = 0;
    s.zero_border = has_mask;
    for (int i = 0; i < 2; i++) {
        s.in[i] = in[i + 2];
        s.out[i] = out[i + 2];
        s.kernel[i] = p->kernel.value[i];
        s.stride[i] = p->stride.value[i];
        s.dilate[i] = p->dilate.value[i];
        s.pad[i] = p->pad.value[i];
    }
    return s;
}

#endif

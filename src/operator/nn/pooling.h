/* SPDX-License-Identifier: Apache-2.0 */
/* What Pooling and its quantized form share: parameters, shapes, geometry. */
#ifndef MXCI_OPERATOR_NN_POOLING_H
#define MXCI_OPERATOR_NN_POOLING_H

#include "math/assign.h"
#include "operator/infer.h"
#include "operator/nn/channels.h"
#include "operator/nn/pooling_kernels.h"

typedef struct mxci_pooling_params {
    mxc_tuple kernel, stride, pad; /* of no entries where the pooling is global and the kernel was left out */
    int64_t p_value;
    int32_t global_pool, cudnn_off, pool_type, pooling_convention, count_include_pad, layout;
} mxci_pooling_params;

extern const mxc_param mxci_pooling_schema[];

static inline int mxci_pooling_channels_last(const mxci_pooling_params *p) {
    return p->layout > 2;
}

mxc_status mxci_pooling_check(void *params);
/* Of slots data and output alone. */
mxc_status mxci_pooling_infer(mxc_op_sig *sig);
/* The pooling of one plane. */
static inline mxci_pool_shape mxci_pooling_shape(const mxci_pooling_params *p, const mxc_shape *data,
                                                 const mxc_shape *out) {
    const int channels_last = mxci_pooling_channels_last(p);
    mxci_pool_shape shape;
    shape.kind = p->pool_type;
    shape.p = (int)p->p_value;
    shape.excludes_pad = p->count_include_pad == 0;
    for (int i = 0; i < 3; i++) {
        int axis = i - (5 - data->ndim);
        int64_t in = axis < 0 ? 1 : data->dim[mxci_spatial_axis(channels_last, axis)];
        shape.in[i] = in;
        shape.out[i] = axis < 0 ? 1 : out->dim[mxci_spatial_axis(channels_last, axis)];
        shape.kernel[i] = axis < 0 ? 1 : p->global_pool ? in : p->kernel.value[axis];
        shape.stride[i] = axis < 0 || p->global_pool ? 1 : p->stride.value[axis];
        shape.pad[i] = axis < 0 || p->global_pool ? 0 : p->pad.value[axis];
    }
    return shape;
}

#endif

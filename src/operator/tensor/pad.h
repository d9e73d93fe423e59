/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of Pad, and the shape that its kernels take. For C and GPU modules. */
#ifndef MXCI_OPERATOR_TENSOR_PAD_H
#define MXCI_OPERATOR_TENSOR_PAD_H

#include "math/assign.h"
#include "operator/infer.h"
#include "operator/tensor/pad_kernels.h"

typedef struct mxci_pad_params {
    mxc_tuple pad_width;
    double constant_value;
    int32_t mode;
} mxci_pad_params;

static inline mxci_pad_shape mxci_pad_shape_of(const mxci_pad_params *p, const mxc_shape *in, const mxc_shape *out,
                                               int add) {
    const int ndim = p->pad_width.n / 2;
    mxci_pad_shape shape;
    shape.mode = p->mode;
    shape.value = p->constant_value;
    shape.add = add;
    for (int i = 0; i < 3; i++) {
        int axis = ndim - 3 + i, spatial = axis >= 2;
        shape.in[i] = spatial ? in->dim[axis] : 1;
        shape.out[i] = spatial ? out->dim[axis] : 1;
        shape.before[i] = spatial ? p->pad_width.value[2 * axis] : 0;
    }
    return shape;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of im2col and col2im, and the windows that they name. */
#ifndef MXCI_OPERATOR_NN_IM2COL_H
#define MXCI_OPERATOR_NN_IM2COL_H

#include <mxc/param.h>

#include "base/size.h"
#include "operator/nn/convolution_kernels.h"

typedef struct mxci_im2col_params {
    mxc_tuple kernel, stride, dilate, pad;
    mxc_tuple output_size; /* of col2im */
} mxci_im2col_params;

/* Entry i of a tuple that may be empty. */
static inline int64_t mxci_im2col_entry(const mxc_tuple *t, int i, int64_t initial) {
    return t->n > 0 ? t->value[i] : initial;
}

/* Positions of the window along an axis of so many elements; 0 where it does not fit. Inference has bounded the
 * parameters. */
static inline int64_t mxci_im2col_positions(const mxci_im2col_params *p, int i, int64_t size) {
    const int64_t window = mxci_im2col_entry(&p->dilate, i, 1) * (p->kernel.value[i] - 1) + 1;
    const int64_t rest = size + 2 * mxci_im2col_entry(&p->pad, i, 0) - window;
    return rest < 0 ? 0 : rest / mxci_im2col_entry(&p->stride, i, 1) + 1;
}

/* The windows over an image (N,C,spatial axes); axes that it lacks have size 1. */
static inline mxci_conv_shape mxci_im2col_windows(const void *params, const mxc_shape *image) {
    const mxci_im2col_params *p = (const mxci_im2col_params *)params;
    mxci_conv_shape s;
    s.channels = image->dim[1];
    s.filters = 0;
    for (int i = 0; i < 3; i++) {
        const int axis = i - (3 - p->kernel.n);
        s.in[i] = axis < 0 ? 1 : image->dim[2 + axis];
        s.out[i] = axis < 0 ? 1 : mxci_im2col_positions(p, axis, s.in[i]);
        s.kernel[i] = axis < 0 ? 1 : p->kernel.value[axis];
        s.stride[i] = axis < 0 ? 1 : mxci_im2col_entry(&p->stride, axis, 1);
        s.dilate[i] = axis < 0 ? 1 : mxci_im2col_entry(&p->dilate, axis, 1);
        s.pad[i] = axis < 0 ? 0 : mxci_im2col_entry(&p->pad, axis, 0);
    }
    return s;
}

#endif

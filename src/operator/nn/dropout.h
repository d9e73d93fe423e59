/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of Dropout. */
#ifndef MXCI_OPERATOR_NN_DROPOUT_H
#define MXCI_OPERATOR_NN_DROPOUT_H

#include <mxc/op.h>

#include "math/assign.h"
#include "math/strided_kernels.h"
#include "operator/infer.h"

enum { MXCI_DROPOUT_TRAINING, MXCI_DROPOUT_ALWAYS };

typedef struct mxci_dropout_params {
    double p;
    mxc_tuple axes; /* checked by inference */
    int32_t mode, cudnn_off;
} mxci_dropout_params;

/* Whether a run drops anything. */
static inline int mxci_dropout_drops(const mxci_dropout_params *p, int is_train) {
    return is_train || p->mode == MXCI_DROPOUT_ALWAYS;
}

/* The mask's shape: data's, with axes of size 1 where one number serves the whole axis. */
static inline mxc_shape mxci_dropout_mask_shape(const mxci_dropout_params *p, const mxc_shape *data) {
    mxc_shape mask = *data;
    for (int i = 0; i < p->axes.n; i++)
        mask.dim[p->axes.value[i] < 0 ? p->axes.value[i] + data->ndim : p->axes.value[i]] = 1;
    return mask;
}

/* The strides of the mask over data's space. */
static inline void mxci_dropout_strides(const mxci_dropout_params *p, const mxc_shape *data, mxci_strided *out) {
    const mxc_shape mask = mxci_dropout_mask_shape(p, data);
    int64_t step[MXC_MAX_NDIM], size = 1;
    for (int i = data->ndim - 1; i >= 0; i--) {
        step[i] = mask.dim[i] == 1 ? 0 : size;
        size *= mask.dim[i];
    }
    mxci_strided_set(out, data->ndim, data->dim, step);
}

#endif

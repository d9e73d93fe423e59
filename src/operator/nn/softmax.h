/* SPDX-License-Identifier: Apache-2.0 */
/* A pass of softmax or its logarithm over the threads; what softmax and its forms with a mask share. */
#ifndef MXCI_OPERATOR_NN_SOFTMAX_H
#define MXCI_OPERATOR_NN_SOFTMAX_H

#include "math/assign.h"
#include "operator/infer.h"
#include "operator/nn/softmax_kernels.h"

/* Arrays of one dtype: x, or dy and y, and what is computed. */
typedef struct mxci_softmax_pass {
    mxci_softmax_shape shape; /* the axis is filled in by the run */
    int add;
    const void *from, *y;
    void *to;
    mxci_softmax_forward_fn forward;
    mxci_softmax_backward_fn backward; /* NULL where forward runs */
} mxci_softmax_pass;

/* Along axis (from the end if negative) of arrays of data's shape, which have elements. */
void mxci_softmax_run(const mxc_run *run, const mxc_shape *data, int64_t axis, mxci_softmax_pass *pass);

typedef struct mxci_softmax_params {
    int64_t axis;
    double temperature;
    int32_t use_length, dtype;
} mxci_softmax_params;

typedef struct mxci_masked_softmax_params {
    int64_t axis;
    double temperature;
    int32_t normalize;
} mxci_masked_softmax_params;

enum { MXCI_MODE_INSTANCE, MXCI_MODE_CHANNEL };

typedef struct mxci_softmax_activation_params {
    int32_t mode;
} mxci_softmax_activation_params;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the output and loss operators, for C and GPU modules. */
#ifndef MXCI_OPERATOR_LOSS_LOSSES_H
#define MXCI_OPERATOR_LOSS_LOSSES_H

#include <stdint.h>

#include "math/loop.h"

enum { MXCI_NORM_NULL, MXCI_NORM_BATCH, MXCI_NORM_VALID };

typedef struct mxci_softmax_output_params {
    double grad_scale, ignore_label, smooth_alpha;
    int32_t multi_output, use_ignore, preserve_shape, normalization, out_grad;
} mxci_softmax_output_params;

typedef struct mxci_make_loss_params {
    double grad_scale, valid_thresh;
    int32_t normalization;
} mxci_make_loss_params;

typedef struct mxci_regression_params {
    double grad_scale;
} mxci_regression_params;

typedef struct mxci_svm_params {
    double margin, regularization;
    int32_t use_linear;
} mxci_svm_params;

/* The derivative of SVMOutput's loss with respect to one score x. */
MXCI_SCALAR double mxci_svm_derivative(const mxci_svm_params *p, int is_label, double x) {
    double sign = is_label ? 1 : -1, hinge = p->margin - sign * x;
    if (!(hinge > 0))
        return 0;
    return -sign * p->regularization * (p->use_linear ? 1 : 2 * hinge);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Moving a BatchNorm, in inference, into the layer before it: what the executor's pass and the GPU share. */
#ifndef MXCI_OPERATOR_NN_FOLD_NORM_H
#define MXCI_OPERATOR_NN_FOLD_NORM_H

#include <mxc/op.h>

/* Slots of _fold_norm. */
enum { MXCI_FOLD_WEIGHT, MXCI_FOLD_GAMMA, MXCI_FOLD_BETA, MXCI_FOLD_MEAN, MXCI_FOLD_VARIANCE, MXCI_FOLD_BIAS };

typedef struct mxci_fold_params {
    double eps;
    int32_t fix_gamma, no_bias;
} mxci_fold_params;

/* Whether the norm is of the axis of the layer's output that is axis 0 of its weight; what both say of themselves. */
int mxci_fold_fits(const mxc_op *layer, const mxc_op *norm, mxc_linear *linear, mxc_norm *scale);
/* If the norm can move into the layer whose output it alone reads: the operator that makes the layer's new weight and
 * bias, and the layer with a bias; else both NULL. The caller releases them. */
mxc_status mxci_fold_norm(const mxc_op *layer, const mxc_op *norm, mxc_op **fold, mxc_op **folded);

#endif

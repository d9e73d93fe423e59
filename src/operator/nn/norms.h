/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the normalization operators other than BatchNorm, for C and GPU modules. */
#ifndef MXCI_OPERATOR_NN_NORMS_H
#define MXCI_OPERATOR_NN_NORMS_H

#include <stdint.h>

/* LayerNorm and RMSNorm. */
typedef struct mxci_layer_norm_params {
    int64_t axis;
    double eps;
    int32_t output_mean_var;
} mxci_layer_norm_params;

/* GroupNorm and InstanceNorm. */
typedef struct mxci_group_norm_params {
    int64_t num_groups;
    double eps;
    int32_t output_mean_var;
} mxci_group_norm_params;

enum { MXCI_L2_INSTANCE, MXCI_L2_SPATIAL, MXCI_L2_CHANNEL };

typedef struct mxci_l2_params {
    double eps;
    int32_t mode;
} mxci_l2_params;

typedef struct mxci_lrn_params {
    double alpha, beta, knorm;
    int64_t nsize;
} mxci_lrn_params;

#endif

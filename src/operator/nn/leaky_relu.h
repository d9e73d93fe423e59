/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of LeakyReLU. */
#ifndef MXCI_OPERATOR_NN_LEAKY_RELU_H
#define MXCI_OPERATOR_NN_LEAKY_RELU_H

#include <stdint.h>

enum { MXCI_LEAKY_RRELU, MXCI_LEAKY_LEAKY, MXCI_LEAKY_PRELU, MXCI_LEAKY_ELU, MXCI_LEAKY_SELU, MXCI_LEAKY_GELU };

typedef struct mxci_leaky_params {
    int32_t act_type;
    double slope, lower_bound, upper_bound;
} mxci_leaky_params;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of Activation. */
#ifndef MXCI_OPERATOR_NN_ACTIVATION_H
#define MXCI_OPERATOR_NN_ACTIVATION_H

#include <stdint.h>

typedef struct mxci_activation_params {
    int32_t act_type;
} mxci_activation_params;

#endif

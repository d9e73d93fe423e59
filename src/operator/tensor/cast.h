/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of Cast. */
#ifndef MXCI_OPERATOR_TENSOR_CAST_H
#define MXCI_OPERATOR_TENSOR_CAST_H

#include <stdint.h>

typedef struct mxci_cast_params {
    int32_t dtype;
} mxci_cast_params;

#endif

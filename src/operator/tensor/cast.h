/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of Cast and amp_cast, and of amp_multicast. */
#ifndef MXCI_OPERATOR_TENSOR_CAST_H
#define MXCI_OPERATOR_TENSOR_CAST_H

#include <stdint.h>

typedef struct mxci_cast_params {
    int32_t dtype;
} mxci_cast_params;

typedef struct mxci_multicast_params {
    int64_t num_outputs;
    int32_t cast_narrow;
} mxci_multicast_params;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of argmax and argmin. */
#ifndef MXCI_OPERATOR_REDUCE_ARGMAX_H
#define MXCI_OPERATOR_REDUCE_ARGMAX_H

#include <stdint.h>

typedef struct mxci_arg_params {
    int64_t axis;
    int32_t keepdims;
} mxci_arg_params;

#endif

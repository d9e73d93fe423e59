/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of rotary_embedding, for C and GPU modules. */
#ifndef MXCI_OPERATOR_NN_ROTARY_EMBEDDING_H
#define MXCI_OPERATOR_NN_ROTARY_EMBEDDING_H

#include <mxc/param.h>

typedef struct mxci_rotary_params {
    int64_t axis, width, offset;
    double base;
    int32_t interleaved;
} mxci_rotary_params;

#endif

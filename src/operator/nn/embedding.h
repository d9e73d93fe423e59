/* SPDX-License-Identifier: Apache-2.0 */
/* What Embedding and its quantized form share: parameters and shapes, of slots data, weight and output. */
#ifndef MXCI_OPERATOR_NN_EMBEDDING_H
#define MXCI_OPERATOR_NN_EMBEDDING_H

#include "math/assign.h"
#include "operator/infer.h"

typedef struct mxci_embedding_params {
    int64_t input_dim, output_dim;
    int32_t dtype, sparse_grad;
} mxci_embedding_params;

extern const mxc_param mxci_embedding_schema[];

mxc_status mxci_embedding_infer(mxc_op_sig *sig);

#endif

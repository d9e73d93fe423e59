/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling of 8-bit integers on the GPU, for its quantized counterpart. */
#ifndef MXCI_CUDA_OPERATOR_NN_POOLING_H
#define MXCI_CUDA_OPERATOR_NN_POOLING_H

#include "cuda/runtime/module.h"

/* Output 0 of 8 bits = argument 0 pooled, by the call's mxci_pooling_params. */
mxc_status mxcu_pool_bytes(const mxc_op_call *call);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that only change the shape of an array: a copy, or nothing where out takes data's memory. */
#ifndef MXCI_CUDA_OPERATOR_TENSOR_RESHAPE_H
#define MXCI_CUDA_OPERATOR_TENSOR_RESHAPE_H

#include "cuda/runtime/module.h"

mxc_status mxcu_reshape_forward(const mxc_op_call *call);
/* Arguments after the first have no gradient. */
mxc_status mxcu_reshape_backward(const mxc_op_call *call);

#endif

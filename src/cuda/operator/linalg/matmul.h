/* SPDX-License-Identifier: Apache-2.0 */
/* Products of batches of matrices on the GPU (operator/linalg/matmul.h), for the operators that are such products. */
#ifndef MXCI_CUDA_OPERATOR_LINALG_MATMUL_H
#define MXCI_CUDA_OPERATOR_LINALG_MATMUL_H

#include "cuda/runtime/blas.h"
#include "operator/linalg/matmul.h"

/* c = or += the products of the operands in g, as req says; g by mxci_matmul_args_c, _a or _b of p. */
mxc_status mxcu_matmul(const mxc_op_call *call, const mxci_matmul *p, mxc_req req, const mxc_tensor *c,
                       mxci_gemm_args g);
/* Output 0 of the product of arguments 0 and 1; the gradients of both. */
mxc_status mxcu_matmul_forward(const mxc_op_call *call, const mxci_matmul *p);
mxc_status mxcu_matmul_backward(const mxc_op_call *call, const mxci_matmul *p);

#endif

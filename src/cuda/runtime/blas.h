/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products on the GPU: by cuBLASLt and cuBLAS (nvidia/blas.cu); the GPU emulator has loops of its own
 * (tests/fake_gpu/blas.cpp). All functions queue work on the call's stream and return. */
#ifndef MXCI_CUDA_RUNTIME_BLAS_H
#define MXCI_CUDA_RUNTIME_BLAS_H

#include "cuda/runtime/module.h"
#include "math/gemm.h"

/* Queue C = alpha op(A) op(B) + beta C for every product of the batch. The arguments are those of mxci_gemm
 * (math/gemm.h), except that leading dimensions are never 0 and there is no bias. Sums are accumulated in float32,
 * those of float64 operands in float64. */
mxc_status mxcu_gemm(const mxc_op_call *call, const mxci_gemm_args *g);
/* The same, but C has the compute type: float32 for 16-bit operands. For sums over several products (split batches,
 * scores before a softmax), which would lose digits if each partial sum were rounded to 16 bits. */
mxc_status mxcu_gemm_wide(const mxc_op_call *call, const mxci_gemm_args *g);
/* mxcu_gemm for a batch of one, with an epilogue in the same pass over memory: every row of C gets g->bias (N) added
 * (NULL: none), then max(C, 0) where relu is 1. *served = 0, and nothing is queued, where the library has no such
 * kernel. */
mxc_status mxcu_gemm_bias_relu(const mxc_op_call *call, const mxci_gemm_args *g, int relu, int *served);
/* mxcu_gemm for a batch of one; in the same pass, sums (M), of C's dtype, become the sums of the rows of op(A): the
 * gradient of a bias where op(A) is dy transposed. *served as above. */
mxc_status mxcu_gemm_bias_gradient(const mxc_op_call *call, const mxci_gemm_args *g, void *sums, int *served);

#endif

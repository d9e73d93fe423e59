/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products on the GPU. By cuBLASLt and cuBLAS; the GPU emulator has its own. */
#ifndef MXCI_CUDA_RUNTIME_BLAS_H
#define MXCI_CUDA_RUNTIME_BLAS_H

#include "cuda/runtime/module.h"
#include "math/gemm.h"

/* Queue C = alpha op(A) op(B) + beta C for every product of the batch. As mxci_gemm takes it (math/gemm.h), but
 * leading dimensions are not 0, and there is no bias. Computed in float32, of float64 in float64. */
mxc_status mxcu_gemm(const mxc_op_call *call, const mxci_gemm_args *g);
/* The same where C is of the type that it is computed in: float32 for 16-bit operands. */
mxc_status mxcu_gemm_wide(const mxc_op_call *call, const mxci_gemm_args *g);
/* The same as mxcu_gemm for one product, and in the same pass over memory one of two things: every row of C gets
 * g->bias added (NULL: 0), with any alpha and beta, and where relu says so what is then below 0 becomes 0; or sums, of
 * C's dtype, become the m sums of op(A)'s rows. served: 0 where there is no such kernel; then nothing is queued. */
mxc_status mxcu_gemm_finish(const mxc_op_call *call, const mxci_gemm_args *g, int relu, int *served);
mxc_status mxcu_gemm_sums(const mxc_op_call *call, const mxci_gemm_args *g, void *sums, int *served);

#endif

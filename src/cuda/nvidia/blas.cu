/* Matrix products by cuBLAS. It stores matrices by columns, so that C^T = op(B)^T op(A)^T is asked for. */
#include "cuda/blas.h"

#include "cuda/nvidia/stream.h"

static mxc_status check(cublasStatus_t status, const char *what) {
    if (status == CUBLAS_STATUS_SUCCESS)
        return MXC_OK;
    return MXC_FAIL(status == CUBLAS_STATUS_ALLOC_FAILED ? MXC_ENOMEM : MXC_EDEVICE, "%s: %s", what,
                    cublasGetStatusString(status));
}

static mxc_status handle_of(const mxc_op_call *call, cublasHandle_t *out) {
    mxcu_stream *s = static_cast<mxcu_stream *>(call->run->stream);
    cudaStream_t stream;
    MXC_TRY(mxcu_enter(call, &stream));
    if (!s->blas) {
        MXC_TRY(check(cublasCreate(&s->blas), "cublasCreate"));
        MXC_TRY(check(cublasSetStream(s->blas, stream), "cublasSetStream"));
    }
    *out = s->blas;
    return MXC_OK;
}

static cudaDataType_t type_of(mxc_dtype dtype) {
    switch (dtype) {
    case MXC_F64:
        return CUDA_R_64F;
    case MXC_F16:
        return CUDA_R_16F;
    case MXC_BF16:
        return CUDA_R_16BF;
    default:
        return CUDA_R_32F;
    }
}

/* Leading dimensions, also of matrices without elements. */
static int64_t at_least_1(int64_t n) {
    return n > 0 ? n : 1;
}

static mxc_status multiply(const mxc_op_call *call, const mxci_gemm_args *g, cudaDataType_t c_type) {
    const cudaDataType_t type = type_of(g->dtype);
    const int wide = g->dtype == MXC_F64;
    const float alpha = (float)g->alpha, beta = (float)g->beta;
    cublasHandle_t handle;
    if (g->m == 0 || g->n == 0 || g->batch == 0)
        return MXC_OK;
    MXC_TRY(handle_of(call, &handle));
    return check(
        cublasGemmStridedBatchedEx_64(
            handle, g->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, g->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, g->n, g->m,
            g->k, wide ? (const void *)&g->alpha : &alpha, g->b, type, at_least_1(g->ldb), g->b_stride, g->a, type,
            at_least_1(g->lda), g->a_stride, wide ? (const void *)&g->beta : &beta, g->c, c_type, g->ldc, g->c_stride,
            g->batch, wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "cublasGemmStridedBatchedEx");
}

mxc_status mxcu_gemm(const mxc_op_call *call, const mxci_gemm_args *g) {
    return multiply(call, g, type_of(g->dtype));
}

mxc_status mxcu_gemm_wide(const mxc_op_call *call, const mxci_gemm_args *g) {
    return multiply(call, g, g->dtype == MXC_F64 ? CUDA_R_64F : CUDA_R_32F);
}

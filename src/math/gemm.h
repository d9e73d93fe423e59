/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix products for operators: C = alpha op(A) op(B) + beta C (+ bias in every row), batched, split over the threads
 * that mxc_parallel_for offers. Kernels of our own for most shapes of deep learning, CBLAS for large ones
 * (docs/performance.md, "GEMM"). Not here: shapes of operators and requests.
 */
#ifndef MXCI_MATH_GEMM_H
#define MXCI_MATH_GEMM_H

#include <mxc/engine.h>
#include <mxc/types.h>

/* Matrices are in C order; a leading dimension counts the elements from one stored row to the next (0, not for C nor
 * with another alpha than 1: all rows are one). Start from MXCI_GEMM_INIT; A is stored m x k (k x m where transposed),
 * B k x n (n x k), C m x n. Sizes may be 0. */
typedef struct mxci_gemm_args {
    mxc_dtype dtype; /* of all: f32, f64, f16, bf16; the 16-bit types are computed in f32 */
    int transpose_a, transpose_b;
    int64_t m, n, k;
    double alpha, beta;
    const void *a, *b;
    void *c; /* overlaps no other operand; not read where beta is 0 */
    int64_t lda, ldb, ldc;
    const void *bias;   /* n elements added to every row of C; only where alpha is 1 and beta 0; or NULL */
    const void *packed; /* B by mxci_gemm_pack, and no batch; or NULL */
    int64_t batch;      /* how many products, */
    /* and the elements from one's matrices to the next one's; C's do not overlap */
    int64_t a_stride, b_stride, c_stride;
} mxci_gemm_args;
#define MXCI_GEMM_INIT \
    { .alpha = 1, .batch = 1 }

/* A matrix B that several products share can be packed once, f32 and f64 only: bytes, and the packing, on this thread
 * and its helpers. packed is 64-byte aligned. Results are the same unless CBLAS computes one of the products. */
size_t mxci_gemm_packed_bytes(mxc_dtype dtype, int64_t n, int64_t k);
void mxci_gemm_pack(const mxc_run *run, const mxci_gemm_args *g, void *packed);

/* Scratch bytes that mxci_gemm needs: 0 for f32 and f64. */
size_t mxci_gemm_temp_bytes(mxc_dtype dtype, int64_t m, int64_t n, int64_t k, int64_t batch);
/* Compute on this thread and its helpers; complete on return. temp: scratch as above, 64-byte aligned, or NULL for
 * none. The result does not depend on the number of threads, except where CBLAS computes it. */
void mxci_gemm(const mxc_run *run, const mxci_gemm_args *g, void *temp);

/* Make the BLAS library single-threaded, once: the threads are ours. mxci_gemm does it itself. */
void mxci_blas_init(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of matrix products of whole arrays, and the gradients of both operands, as requests say. */
#ifndef MXCI_OPERATOR_LINALG_MATMUL_H
#define MXCI_OPERATOR_LINALG_MATMUL_H

#include <mxc/op.h>

#include "math/assign.h"
#include "math/gemm.h"

/* C = alpha op(A) op(B) for each of batch. op(A) is (m,k), op(B) (k,n), C (m,n); A and B are stored transposed where
 * the flags say so. Arrays are (batch, rows, interleaved, columns): for each of the batch as many products as
 * `interleaved`, whose rows alternate in memory; 1 in the common case. */
typedef struct mxci_matmul {
    int64_t batch, m, n, k, interleaved;
    int transpose_a, transpose_b;
    double alpha;
} mxci_matmul;

/* ---- on any device: what the products are ------------------------------------------------------------------------ */

/* An operand as it is stored; transposed: the product uses its transpose. */
typedef struct mxci_matrix {
    const void *data;
    int transposed;
} mxci_matrix;

/* The product a (m,k) b (k,n) as if interleaved were 1. */
static inline mxci_gemm_args mxci_matmul_args(const mxci_matmul *p, int64_t m, int64_t n, int64_t k, mxci_matrix a,
                                              mxci_matrix b) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.alpha = p->alpha;
    g.m = m, g.n = n, g.k = k;
    g.a = a.data, g.b = b.data;
    g.transpose_a = a.transposed, g.transpose_b = b.transposed;
    g.lda = a.transposed ? m : k;
    g.ldb = b.transposed ? k : n;
    g.ldc = n;
    g.batch = p->batch;
    g.a_stride = m * k, g.b_stride = k * n, g.c_stride = m * n;
    return g;
}

static inline mxci_gemm_args mxci_matmul_args_c(const mxci_matmul *p, const void *a, const void *b) {
    mxci_matrix left = {a, p->transpose_a}, right = {b, p->transpose_b};
    return mxci_matmul_args(p, p->m, p->n, p->k, left, right);
}

/* With C = A B and G the gradient of C: that of A is G B', of B is A' G; of a matrix stored transposed, transposed. */
static inline mxci_gemm_args mxci_matmul_args_a(const mxci_matmul *p, const void *g, const void *b) {
    mxci_matrix grad = {g, p->transpose_a}, other = {b, p->transpose_a ? p->transpose_b : !p->transpose_b};
    return p->transpose_a ? mxci_matmul_args(p, p->k, p->m, p->n, other, grad)
                          : mxci_matmul_args(p, p->m, p->k, p->n, grad, other);
}

static inline mxci_gemm_args mxci_matmul_args_b(const mxci_matmul *p, const void *a, const void *g) {
    mxci_matrix grad = {g, p->transpose_b}, other = {a, p->transpose_b ? p->transpose_a : !p->transpose_a};
    return p->transpose_b ? mxci_matmul_args(p, p->n, p->k, p->m, grad, other)
                          : mxci_matmul_args(p, p->k, p->n, p->m, other, grad);
}

/* The products of batch entry i where rows are interleaved, as one batch: leading dimensions grow by that factor, and
 * the matrices begin a row apart. bytes: of an element. */
static inline mxci_gemm_args mxci_matmul_interleaved(const mxci_gemm_args *g, int64_t interleaved, int64_t i,
                                                     int64_t bytes) {
    mxci_gemm_args one = *g;
    one.a = (const char *)g->a + i * interleaved * g->a_stride * bytes;
    one.b = (const char *)g->b + i * interleaved * g->b_stride * bytes;
    one.c = (char *)g->c + i * interleaved * g->c_stride * bytes;
    one.lda *= interleaved, one.ldb *= interleaved, one.ldc *= interleaved;
    one.batch = interleaved;
    one.a_stride = g->lda, one.b_stride = g->ldb, one.c_stride = g->ldc;
    return one;
}

/* ---- on the CPU -------------------------------------------------------------------------------------------------- */

/* temp: scratch of mxci_matmul_temp for the pass. */
void mxci_matmul_product(const mxc_run *run, const mxci_matmul *p, mxc_req req, const mxc_tensor *c, const void *a,
                         const void *b, void *temp);
/* g: the gradient of C. */
void mxci_matmul_gradient_a(const mxc_run *run, const mxci_matmul *p, mxc_req req, const mxc_tensor *grad,
                            const void *g, const void *b, void *temp);
void mxci_matmul_gradient_b(const mxc_run *run, const mxci_matmul *p, mxc_req req, const mxc_tensor *grad,
                            const void *a, const void *g, void *temp);
size_t mxci_matmul_temp(const mxci_matmul *p, mxc_dtype dtype, mxc_pass pass);

#endif

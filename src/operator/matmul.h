/* Batches of matrix products of whole arrays, and the gradients of both operands, as requests say. */
#ifndef MXCI_OPERATOR_MATMUL_H
#define MXCI_OPERATOR_MATMUL_H

#include "operator/common.h"
#include "operator/gemm.h"

/* C = alpha op(A) op(B) for each of batch. op(A) is (m,k), op(B) (k,n), C (m,n); A and B are stored transposed where
 * the flags say so. Arrays are (batch, rows, between, columns): as many products again, one for each of between. */
typedef struct mxci_matmul {
    int64_t batch, m, n, k, between;
    int transpose_a, transpose_b;
    double alpha;
} mxci_matmul;

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

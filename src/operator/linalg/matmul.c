/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products and their gradients, which are products again. */
#include "operator/linalg/matmul.h"

/* c = or += the products. */
static void multiply(const mxc_run *run, const mxci_matmul *p, mxc_req req, const mxc_tensor *c, mxci_gemm_args g,
                     void *temp) {
    if (req == MXC_REQ_NULL || mxci_tensor_size(c) == 0)
        return;
    g.dtype = c->dtype;
    g.c = c->data;
    g.beta = req == MXC_REQ_ADD;
    if (p->interleaved == 1) {
        mxci_gemm(run, &g, temp);
        return;
    }
    for (int64_t i = 0; i < p->batch; i++) {
        mxci_gemm_args one = mxci_matmul_interleaved(&g, p->interleaved, i, (int64_t)mxc_dtype_size(g.dtype));
        mxci_gemm(run, &one, temp);
    }
}

void mxci_matmul_product(const mxc_run *run, const mxci_matmul *p, mxc_req req, const mxc_tensor *c, const void *a,
                         const void *b, void *temp) {
    multiply(run, p, req, c, mxci_matmul_args_c(p, a, b), temp);
}

void mxci_matmul_gradient_a(const mxc_run *run, const mxci_matmul *p, mxc_req req, const mxc_tensor *grad,
                            const void *g, const void *b, void *temp) {
    multiply(run, p, req, grad, mxci_matmul_args_a(p, g, b), temp);
}

void mxci_matmul_gradient_b(const mxc_run *run, const mxci_matmul *p, mxc_req req, const mxc_tensor *grad,
                            const void *a, const void *g, void *temp) {
    multiply(run, p, req, grad, mxci_matmul_args_b(p, a, g), temp);
}

/* Backward is the two products grad B^T and A^T grad, with their operands exchanged where a or b is transposed. */
size_t mxci_matmul_temp(const mxci_matmul *p, mxc_dtype dtype, mxc_pass pass) {
    int64_t m = p->m, n = p->n, k = p->k, batch = mxci_dim_mul(p->batch, p->interleaved);
    if (pass == MXC_FORWARD)
        return mxci_gemm_temp_bytes(dtype, m, n, k, batch);
    size_t a =
        p->transpose_a ? mxci_gemm_temp_bytes(dtype, k, m, n, batch) : mxci_gemm_temp_bytes(dtype, m, k, n, batch);
    size_t b =
        p->transpose_b ? mxci_gemm_temp_bytes(dtype, n, k, m, batch) : mxci_gemm_temp_bytes(dtype, k, n, m, batch);
    return a > b ? a : b; /* the products run one after the other */
}

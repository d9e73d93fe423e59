/* Matrix products and their gradients, which are products again. */
#include "operator/matmul.h"

/* A stored matrix: transposed says that the product wants it the other way. */
typedef struct matrix {
    const void *data;
    int transposed;
} matrix;

static const void *moved(const void *base, int64_t elements, mxc_dtype dtype) {
    return base ? (const char *)base + (size_t)elements * mxc_dtype_size(dtype) : NULL;
}

/* Matrices that lie between one another: a row is between times as far from the next. */
static void spread(const mxc_run *run, mxci_gemm_args *g, int64_t batch, int64_t between, void *temp) {
    mxci_gemm_args one = *g;
    one.lda *= between, one.ldb *= between, one.ldc *= between;
    one.batch = between;
    one.a_stride = g->lda, one.b_stride = g->ldb, one.c_stride = g->ldc;
    for (int64_t i = 0; i < batch; i++) {
        one.a = moved(g->a, i * between * g->a_stride, g->dtype);
        one.b = moved(g->b, i * between * g->b_stride, g->dtype);
        one.c = (void *)moved(g->c, i * between * g->c_stride, g->dtype);
        mxci_gemm(run, &one, temp);
    }
}

/* c (m,n) = or += p's alpha op(a) (m,k) op(b) (k,n), as often as p says. */
static void multiply(const mxc_run *run, const mxci_matmul *p, mxc_req req, const mxc_tensor *c, int64_t m, int64_t n,
                     int64_t k, matrix a, matrix b, void *temp) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    if (req == MXC_REQ_NULL || mxci_tensor_size(c) == 0)
        return;
    g.dtype = c->dtype;
    g.alpha = p->alpha;
    g.m = m, g.n = n, g.k = k;
    g.a = a.data, g.b = b.data, g.c = c->data;
    g.transpose_a = a.transposed, g.transpose_b = b.transposed;
    g.lda = a.transposed ? m : k;
    g.ldb = b.transposed ? k : n;
    g.ldc = n;
    g.beta = req == MXC_REQ_ADD;
    g.batch = p->batch;
    g.a_stride = m * k, g.b_stride = k * n, g.c_stride = m * n;
    if (p->between == 1)
        mxci_gemm(run, &g, temp);
    else
        spread(run, &g, p->batch, p->between, temp);
}

void mxci_matmul_product(const mxc_run *run, const mxci_matmul *p, mxc_req req, const mxc_tensor *c, const void *a,
                         const void *b, void *temp) {
    multiply(run, p, req, c, p->m, p->n, p->k, (matrix){a, p->transpose_a}, (matrix){b, p->transpose_b}, temp);
}

/* With C = A B and G the gradient of C: that of A is G B', of B is A' G; of a matrix stored transposed, transposed. */
void mxci_matmul_gradient_a(const mxc_run *run, const mxci_matmul *p, mxc_req req, const mxc_tensor *grad,
                            const void *g, const void *b, void *temp) {
    if (p->transpose_a)
        multiply(run, p, req, grad, p->k, p->m, p->n, (matrix){b, p->transpose_b}, (matrix){g, 1}, temp);
    else
        multiply(run, p, req, grad, p->m, p->k, p->n, (matrix){g, 0}, (matrix){b, !p->transpose_b}, temp);
}

void mxci_matmul_gradient_b(const mxc_run *run, const mxci_matmul *p, mxc_req req, const mxc_tensor *grad,
                            const void *a, const void *g, void *temp) {
    if (p->transpose_b)
        multiply(run, p, req, grad, p->n, p->k, p->m, (matrix){g, 1}, (matrix){a, p->transpose_a}, temp);
    else
        multiply(run, p, req, grad, p->k, p->n, p->m, (matrix){a, !p->transpose_a}, (matrix){g, 0}, temp);
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

size_t mxci_matmul_temp(const mxci_matmul *p, mxc_dtype dtype, mxc_pass pass) {
    int64_t m = p->m, n = p->n, k = p->k, batch = p->batch * p->between;
    if (pass == MXC_FORWARD)
        return mxci_gemm_temp_bytes(dtype, m, n, k, batch);
    return larger(p->transpose_a ? mxci_gemm_temp_bytes(dtype, k, m, n, batch)
                                 : mxci_gemm_temp_bytes(dtype, m, k, n, batch),
                  p->transpose_b ? mxci_gemm_temp_bytes(dtype, n, k, m, batch)
                                 : mxci_gemm_temp_bytes(dtype, k, n, m, batch));
}

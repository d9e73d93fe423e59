/* SPDX-License-Identifier: Apache-2.0 */
/* _linalg_trsm (triangular solve) and _linalg_trmm (product with a triangular matrix). Scratch: a matrix of B's shape
 * and two of A's. */
#include "cuda/operator/linalg/triangular.h"
#include "cuda/runtime/blas.h"

/* A thread per element; solves are in place, on the copy. */
template <class T> static mxc_status copy_as(const mxc_op_call *call, const mxc_tensor *from, void *to) {
    const T *x = mxcu_pointer<T>(from->data);
    T *y = mxcu_pointer<T>(to);
    return mxcu_for(call, mxcu_size(from), [=] MXCU_LAMBDA(int64_t i) { y[i] = x[i]; });
}

static mxc_status copy(const mxc_op_call *call, const mxc_tensor *from, void *to) {
    MXCU_SWITCH_REAL(from->dtype, copy_as, call, from, to)
}

enum { A, B };

/* The operator's parameters and B's shape; A is square. */
static mxcu_triangular triangular_of(const mxc_op_call *call) {
    const mxci_triangular_params *p = static_cast<const mxci_triangular_params *>(call->params);
    const mxc_shape *b = &call->in[B].shape;
    return {{call->in[A].dtype, p->rightside, p->lower, p->transpose},
            mxci_linalg_batch(b),
            mxci_linalg_rows(b),
            mxci_linalg_columns(b)};
}

static double alpha_of(const mxc_op_call *call) {
    return static_cast<const mxci_triangular_params *>(call->params)->alpha;
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass) {
    return mxcu_matrix_bytes(&sig->in_shape[B], sig->in_type[B]) +
           2 * mxcu_matrix_bytes(&sig->in_shape[A], sig->in_type[A]);
}

/* Scratch = alpha op(A) from, or where is_solving alpha op(A)^-1 from, with A on the left or right. */
static mxc_status apply(const mxc_op_call *call, const mxcu_triangular *t, int is_solving, double alpha,
                        const mxc_tensor *from) {
    void *rest = mxcu_matrix_temp(call, mxcu_matrix_bytes(&from->shape, from->dtype));
    if (!is_solving)
        return mxcu_triangular_multiply(call, t, alpha, call->in[A].data, from->data, call->temp, rest);
    MXC_TRY(copy(call, from, call->temp));
    return mxcu_triangular_solve(call, t, alpha, call->in[A].data, call->temp);
}

/* is_solving: 0 for trmm, 1 for trsm. */
template <int is_solving> static mxc_status forward(const mxc_op_call *call) {
    mxcu_triangular t = triangular_of(call);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(apply(call, &t, is_solving, alpha_of(call), &call->in[B]));
    return mxcu_put_matrices(call, &call->out[0], 0, 1, call->temp);
}

/* A's gradient: scale times the product of p and q, of which the triangle is kept. p and q are named as in
 * operator/linalg/linalg_trsm.c. */
static mxc_status gradient_a(const mxc_op_call *call, const mxcu_triangular *t, double scale, const void *p,
                             const void *q) {
    const int p_first = t->t.transpose == t->t.rightside;
    void *to = mxcu_matrix_temp(call, mxcu_matrix_bytes(&call->in[B].shape, t->t.dtype));
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.dtype = t->t.dtype;
    g.alpha = scale;
    g.m = g.n = g.ldc = t->n();
    g.k = t->t.rightside ? t->m : t->k;
    g.lda = g.ldb = t->k;
    g.transpose_a = t->t.rightside, g.transpose_b = !t->t.rightside;
    g.a = p_first ? p : q;
    g.b = p_first ? q : p;
    g.c = to;
    g.batch = t->count;
    g.a_stride = g.b_stride = t->m * t->k, g.c_stride = t->n() * t->n();
    MXC_TRY(mxcu_gemm(call, &g));
    void *cleared = mxcu_matrix_temp(call, mxcu_matrix_bytes(&call->in[B].shape, t->t.dtype) +
                                               mxcu_matrix_bytes(&call->in[A].shape, t->t.dtype));
    MXC_TRY(mxcu_triangle(call, t->t.dtype, t->t.lower, MXCU_CLEAR, t->count, t->n(), to, cleared));
    return mxcu_put_matrices(call, &call->in_grad[A], A, 1, cleared);
}

/* B's gradient is the same operation with A transposed; A's follows from it. */
template <int is_solving> static mxc_status backward(const mxc_op_call *call) {
    mxcu_triangular t = triangular_of(call), back = t;
    const void *g = call->out_grad[0].data;
    back.t.transpose = !t.t.transpose;
    MXC_TRY(apply(call, &back, is_solving, 1, &call->out_grad[0]));
    if (call->req[A] != MXC_REQ_NULL && is_solving)
        MXC_TRY(gradient_a(call, &t, -1, call->temp, call->out[0].data));
    else if (call->req[A] != MXC_REQ_NULL)
        MXC_TRY(gradient_a(call, &t, alpha_of(call), g, call->in[B].data));
    return mxcu_put_matrices(call, &call->in_grad[B], B, alpha_of(call), call->temp);
}

MXCU_OP_IMPLS(linalg_trsm, {"_linalg_trmm", forward<0>, backward<0>, temp_bytes},
              {"_linalg_trsm", forward<1>, backward<1>, temp_bytes})

/* SPDX-License-Identifier: Apache-2.0 */
/* _linalg_gelqf: LQ factorization of matrices A (...,m,n), m <= n: A = L Q with Q (...,m,n), whose rows are
 * orthonormal, and L (...,m,m), lower triangular. */
#include "math/map.h"
#include "operator/linalg/linalg.h"

enum { Q, L };

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* A and Q have one shape, whose rows are those of L. */
static mxc_status linalg_gelqf_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *a = &sig->in_shape[0], *l = &sig->out_shape[L];
    mxc_shape shape;
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){0, MXC_SLOT_OUT(Q)}));
    if (a->ndim < 0 && l->ndim < 0)
        return MXC_OK;
    shape = mxci_shape_axes(a->ndim >= 0 ? a->ndim : l->ndim);
    MXC_TRY(mxc_sig_set_shape(sig, 0, &shape));
    MXC_TRY(mxci_linalg_check(sig, 0));
    shape = *a;
    shape.dim[shape.ndim - 1] = shape.dim[shape.ndim - 2];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(L), &shape));
    MXC_TRY(mxci_linalg_square(sig, MXC_SLOT_OUT(L)));
    shape = *l;
    shape.dim[shape.ndim - 1] = -1;
    MXC_TRY(mxc_sig_set_shape(sig, 0, &shape));
    if (mxci_linalg_rows(a) > mxci_linalg_columns(a) && mxci_linalg_columns(a) >= 0)
        return mxc_sig_fail(sig, "argument 'A': matrices have %lld rows, expected at most the %lld columns",
                            (long long)mxci_linalg_rows(a), (long long)mxci_linalg_columns(a));
    return mxci_sig_same_shape(sig, 2, (int[]){0, MXC_SLOT_OUT(Q)});
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* Scratch for one matrix: m x n elements, m x m, and 2 m. */
static int64_t scratch_elements(const mxc_shape *a) {
    const int64_t m = mxci_linalg_rows(a), n = mxci_linalg_columns(a);
    return mxci_dim_mul(m, mxci_dim_add(mxci_dim_add(n, m), 2));
}

static size_t linalg_gelqf_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return mxci_linalg_temp(sig, mxci_linalg_batch(&sig->in_shape[0]), scratch_elements(&sig->in_shape[0]));
}

static mxc_status linalg_gelqf_run(const mxc_op_call *call,
                                   int (*one)(const mxci_linalg_run *r, int64_t index, void *scratch)) {
    const mxc_shape *a = &call->in[0].shape;
    const int64_t scratch = scratch_elements(a);
    mxci_linalg_run run = {call, mxci_linalg_batch(a), scratch, one};
    return mxci_linalg_run_all(&run, (double)scratch * (double)mxci_linalg_rows(a), "");
}

static int factor_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const mxc_op_call *call = r->call;
    const mxc_tensor *a = &call->in[0];
    const int64_t m = mxci_linalg_rows(&a->shape), n = mxci_linalg_columns(&a->shape);
    const size_t element = mxc_dtype_size(a->dtype);
    char *q = scratch, *l = q + (size_t)(m * n) * element, *work = l + (size_t)(m * m) * element;
    mxci_assign_row(MXC_REQ_WRITE, a->dtype, q, mxci_at(a, index * m * n), m * n);
    mxci_linalg_lq(a->dtype, m, n, q, l, work);
    mxci_assign_row(call->req[Q], a->dtype, mxci_at(&call->out[Q], index * m * n), q, m * n);
    mxci_assign_row(call->req[L], a->dtype, mxci_at(&call->out[L], index * m * m), l, m * m);
    return 0;
}

/* With Q' and L' the gradients of Q and L: A' = L^-T (Q' + S Q), where S is the symmetric matrix with the lower
 * triangle of L^T L' - Q' Q^T (M. Seeger et al., "Auto-differentiating linear algebra", 2017). */
static int gradient_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const mxc_op_call *call = r->call;
    const mxc_dtype dtype = call->in_grad[0].dtype;
    const mxc_shape *a = &call->in_grad[0].shape;
    const int64_t m = mxci_linalg_rows(a), n = mxci_linalg_columns(a);
    const void *q = mxci_at(&call->out[Q], index * m * n), *q_grad = mxci_at(&call->out_grad[Q], index * m * n);
    const void *l = mxci_at(&call->out[L], index * m * m), *l_grad = mxci_at(&call->out_grad[L], index * m * m);
    const mxci_triangular t = {dtype, 0, 1, 1};
    char *sum = scratch, *s = sum + (size_t)(m * n) * mxc_dtype_size(dtype);
    mxci_linalg_product(dtype, m, m, m, 1, l, 1, l_grad, 0, 0, s);
    mxci_linalg_product(dtype, m, m, n, -1, q_grad, 0, q, 1, 1, s);
    mxci_triangle_mirror[dtype](m, 1, s);
    mxci_assign_row(MXC_REQ_WRITE, dtype, sum, q_grad, m * n);
    mxci_linalg_product(dtype, m, n, m, 1, s, 0, q, 0, 1, sum);
    mxci_linalg_solve(&t, m, n, 1, l, sum);
    mxci_assign_row(call->req[0], dtype, mxci_at(&call->in_grad[0], index * m * n), sum, m * n);
    return 0;
}

static mxc_status linalg_gelqf_forward(const mxc_op_call *call) {
    return linalg_gelqf_run(call, factor_one);
}

static mxc_status linalg_gelqf_backward(const mxc_op_call *call) {
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : linalg_gelqf_run(call, gradient_one);
}

const mxc_op_def mxci_op_linalg_gelqf = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_gelqf",
    .aliases = "linalg_gelqf",
    .args = "A",
    .outputs = "output0,output1",
    .doc = "LQ factorization A = L Q of matrices A (...,m,n), m <= n: output0 = Q (...,m,n) with orthonormal rows, "
           "output1 = "
           "L (...,m,m), lower triangular. The gradient needs rows that are linearly independent",
    .infer_shape = linalg_gelqf_infer_shape,
    .needs = {.out_grad = 1 << Q | 1 << L, .out = 1 << Q | 1 << L},
    .temp_bytes = linalg_gelqf_temp_bytes,
    .forward = {[MXC_CPU] = linalg_gelqf_forward},
    .backward = {[MXC_CPU] = linalg_gelqf_backward},
};

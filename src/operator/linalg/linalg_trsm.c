/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triangular matrices A (...,n,n) and matrices B (...,m,k), op(A) on the left (n is m) or on the right (n is k):
 *   _linalg_trmm  out = alpha op(A) B, or alpha B op(A)
 *   _linalg_trsm  out = X with op(A) X = alpha B, or X op(A) = alpha B
 * op is transposing where the flag says so. Only A's triangle is read, and its gradient is 0 outside.
 */
#include "math/gemm.h"
#include "math/map.h"
#include "operator/linalg/linalg.h"

typedef mxci_triangular_params triangular_params;

enum { A, B };

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(triangular_params, transpose), .name = "transpose", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Use the transpose of A as op(A)."},
    {MXC_PARAM_FIELD(triangular_params, rightside), .name = "rightside", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "A is the right factor; otherwise the left one."},
    {MXC_PARAM_FIELD(triangular_params, lower), .name = "lower", .type = MXC_PARAM_BOOL, .initial = "true",
     .doc = "A is lower triangular; otherwise upper triangular. The other triangle is not read."},
    {MXC_PARAM_FIELD(triangular_params, alpha), .name = "alpha", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "Factor of B."},
    MXC_PARAM_END,
};

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* A is square, of B's rows (left) or columns (right); batch axes are equal. */
static mxc_status linalg_trsm_infer_shape(mxc_op_sig *sig) {
    const triangular_params *p = sig->params;
    mxc_shape *a = &sig->in_shape[A], *b = &sig->in_shape[B], axes;
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){B, MXC_SLOT_OUT(0)}));
    MXC_TRY(mxci_linalg_check(sig, A));
    MXC_TRY(mxci_linalg_check(sig, B));
    if (a->ndim < 0 && b->ndim < 0)
        return MXC_OK;
    axes = mxci_shape_axes(a->ndim >= 0 ? a->ndim : b->ndim);
    MXC_TRY(mxc_sig_set_shape(sig, A, &axes));
    MXC_TRY(mxc_sig_set_shape(sig, B, &axes));
    MXC_TRY(mxci_linalg_same_batch(sig, B, A));
    MXC_TRY(mxci_linalg_same_batch(sig, A, B));
    axes.dim[axes.ndim - 1] = p->rightside ? mxci_linalg_columns(b) : mxci_linalg_rows(b);
    MXC_TRY(mxc_sig_set_shape(sig, A, &axes));
    MXC_TRY(mxci_linalg_square(sig, A));
    axes = mxci_shape_axes(a->ndim);
    axes.dim[axes.ndim - (p->rightside ? 1 : 2)] = mxci_linalg_rows(a);
    MXC_TRY(mxc_sig_set_shape(sig, B, &axes));
    return mxci_sig_same_shape(sig, 2, (int[]){B, MXC_SLOT_OUT(0)});
}

/* ---- one matrix of a batch --------------------------------------------------------------------------------------- */

typedef void (*triangular_fn)(const mxci_triangular *t, int64_t m, int64_t k, double alpha, const void *a, void *b);

static mxci_triangular triangular_of(const mxc_op_call *call) {
    const triangular_params *p = call->params;
    return (mxci_triangular){call->in[A].dtype, p->rightside, p->lower, p->transpose};
}

static int64_t side_of(const mxc_op_call *call) {
    return mxci_linalg_columns(&call->in[A].shape);
}

/* scratch = fn of A and the matrix of `from`, both at index. */
static void apply(const mxc_op_call *call, triangular_fn fn, const mxci_triangular *t, double alpha,
                  const mxc_tensor *from, int64_t index, void *scratch) {
    int64_t m = mxci_linalg_rows(&from->shape), k = mxci_linalg_columns(&from->shape), n = side_of(call);
    mxci_assign_row(MXC_REQ_WRITE, from->dtype, scratch, mxci_at(from, index * m * k), m * k);
    fn(t, m, k, alpha, mxci_at(&call->in[A], index * n * n), scratch);
}

static void forward_one(const mxci_linalg_run *r, triangular_fn fn, int64_t index, void *scratch) {
    const mxc_op_call *call = r->call;
    mxci_triangular t = triangular_of(call);
    int64_t size = mxci_linalg_rows(&call->in[B].shape) * mxci_linalg_columns(&call->in[B].shape);
    apply(call, fn, &t, ((const triangular_params *)call->params)->alpha, &call->in[B], index, scratch);
    mxci_assign_row(call->req[0], call->out[0].dtype, mxci_at(&call->out[0], index * size), scratch, size);
}

static int multiply_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    forward_one(r, mxci_linalg_multiply, index, scratch);
    return 0;
}

static int solve_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    forward_one(r, mxci_linalg_solve, index, scratch);
    return 0;
}

/* One matrix (m,k) of an array of B's shape. */
static mxc_tensor matrix_at(const mxc_tensor *array, int64_t index) {
    mxc_tensor one = *array;
    one.shape = mxci_shape_of(2, (int64_t[]){mxci_linalg_rows(&array->shape), mxci_linalg_columns(&array->shape)});
    one.data = mxci_at(array, index * mxci_tensor_size(&one));
    return one;
}

/* A's gradient (n,n): the triangle of scale times p q' (A on the left) or q' p (right), transposed where A is. */
static void gradient_a(const mxc_op_call *call, int64_t index, double scale, mxc_tensor p, mxc_tensor q, void *to) {
    mxci_triangular t = triangular_of(call);
    mxci_gemm_args g = MXCI_GEMM_INIT;
    int p_first = t.transpose == t.rightside; /* left: p q', transposed q p'; right: q' p, transposed p' q */
    g.dtype = t.dtype;
    g.alpha = scale;
    g.m = g.n = g.ldc = side_of(call);
    g.k = p.shape.dim[t.rightside ? 0 : 1];
    g.lda = g.ldb = p.shape.dim[1];
    g.transpose_a = t.rightside, g.transpose_b = !t.rightside;
    g.a = p_first ? p.data : q.data;
    g.b = p_first ? q.data : p.data;
    g.c = to;
    mxci_gemm(NULL, &g, NULL);
    mxci_triangle_clear[t.dtype](g.n, t.lower, to);
    mxci_assign_row(call->req[A], t.dtype, mxci_at(&call->in_grad[A], index * g.n * g.n), to, g.n * g.n);
}

/* With G the gradient of out and W that of B where alpha is 1 (op(A)' G, or for solving op(A)'^-1 G; on the right
 * alike): that of op(A) is alpha G B', for solving -W out'. */
static int backward_one(const mxci_linalg_run *r, int is_solving, int64_t index, void *scratch) {
    const mxc_op_call *call = r->call;
    double alpha = ((const triangular_params *)call->params)->alpha;
    mxc_tensor g = matrix_at(&call->out_grad[0], index), w = g, grad = matrix_at(&call->in_grad[B], index);
    void *rest = (char *)scratch + mxci_tensor_bytes(&g);
    mxci_triangular t = triangular_of(call);
    t.transpose = !t.transpose;
    w.data = scratch;
    apply(call, is_solving ? mxci_linalg_solve : mxci_linalg_multiply, &t, 1, &call->out_grad[0], index, scratch);
    if (call->req[A] != MXC_REQ_NULL && is_solving)
        gradient_a(call, index, -1, w, matrix_at(&call->out[0], index), rest);
    else if (call->req[A] != MXC_REQ_NULL)
        gradient_a(call, index, alpha, g, matrix_at(&call->in[B], index), rest);
    return mxci_assign_scaled(NULL, call->req[B], &grad, &w, alpha) != MXC_OK;
}

static int multiply_gradient_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    return backward_one(r, 0, index, scratch);
}

static int solve_gradient_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    return backward_one(r, 1, index, scratch);
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* Elements for one matrix of B's shape; backward also one of A's. */
static int64_t scratch_of(const mxc_shape *a, const mxc_shape *b, mxc_pass pass) {
    int64_t n = mxci_linalg_columns(a);
    return mxci_dim_add(mxci_dim_mul(mxci_linalg_rows(b), mxci_linalg_columns(b)),
                        pass == MXC_BACKWARD ? mxci_dim_mul(n, n) : 0);
}

static size_t linalg_trsm_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return mxci_linalg_temp(sig, mxci_linalg_batch(&sig->in_shape[A]),
                            scratch_of(&sig->in_shape[A], &sig->in_shape[B], pass));
}

/* Scratch for one matrix also measures its work. */
static mxc_status run_all(const mxc_op_call *call, mxc_pass pass,
                          int (*one)(const mxci_linalg_run *r, int64_t index, void *scratch)) {
    const mxc_shape *a = &call->in[A].shape;
    int64_t scratch = scratch_of(a, &call->in[B].shape, pass);
    mxci_linalg_run run = {call, mxci_linalg_batch(a), scratch, one};
    return mxci_linalg_run_all(&run, (double)scratch * (double)mxci_linalg_columns(a), "");
}

static mxc_status multiply_forward(const mxc_op_call *call) {
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : run_all(call, MXC_FORWARD, multiply_one);
}

static mxc_status multiply_backward(const mxc_op_call *call) {
    return run_all(call, MXC_BACKWARD, multiply_gradient_one);
}

static mxc_status solve_forward(const mxc_op_call *call) {
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : run_all(call, MXC_FORWARD, solve_one);
}

static mxc_status solve_backward(const mxc_op_call *call) {
    return run_all(call, MXC_BACKWARD, solve_gradient_one);
}

static const mxc_inplace inplace[] = {{MXC_FROM_IN(B), 0}, MXC_INPLACE_END};

const mxc_op_def mxci_op_linalg_trmm = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_trmm",
    .aliases = "linalg_trmm",
    .args = "A,B",
    .doc = "Product with a triangular matrix A (...,N,N): out = alpha op(A) B, or with rightside alpha B op(A)",
    .params = schema,
    .param_size = sizeof(triangular_params),
    .infer_shape = linalg_trsm_infer_shape,
    .needs = {.out_grad = 1, .in = 1 << A | 1 << B},
    .inplace_forward = inplace,
    .temp_bytes = linalg_trsm_temp_bytes,
    .forward = {[MXC_CPU] = multiply_forward},
    .backward = {[MXC_CPU] = multiply_backward},
};

const mxc_op_def mxci_op_linalg_trsm = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_trsm",
    .aliases = "linalg_trsm",
    .args = "A,B",
    .doc = "Solution X of a triangular system, A (...,N,N): op(A) X = alpha B, or with rightside X op(A) = alpha B",
    .params = schema,
    .param_size = sizeof(triangular_params),
    .infer_shape = linalg_trsm_infer_shape,
    .needs = {.out_grad = 1, .in = 1 << A, .out = 1},
    .inplace_forward = inplace,
    .temp_bytes = linalg_trsm_temp_bytes,
    .forward = {[MXC_CPU] = solve_forward},
    .backward = {[MXC_CPU] = solve_backward},
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positive definite matrices (...,n,n) and their factors:
 *   _linalg_potrf       out = L with A = L L', lower triangular; with lower=false U with A = U' U. A is taken as
 *                       symmetric: one triangle is read, and the gradient is symmetric
 *   _linalg_potri       out = the inverse of L L' (U' U), given L (U)
 *   _linalg_sumlogdiag  out (...) = the sum of the logarithms of the diagonal; of one matrix (1,)
 */
#include <math.h>

#include "operator/linalg/linalg.h"

typedef mxci_factor_params factor_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(factor_params, lower), .name = "lower", .type = MXC_PARAM_BOOL, .initial = "true",
     .doc = "Use lower triangles; otherwise upper ones."},
    MXC_PARAM_END,
};

/* Argument and output are square matrices of one shape. */
static mxc_status infer_square(mxc_op_sig *sig) {
    MXC_TRY(mxci_infer_shape_same(sig));
    if (sig->in_shape[0].ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_linalg_check(sig, 0));
    MXC_TRY(mxci_linalg_square(sig, 0));
    return mxci_infer_shape_same(sig);
}

/* ---- what all matrices of a run share ---------------------------------------------------------------------------- */

static int is_lower(const mxci_linalg_run *r) {
    return ((const factor_params *)r->call->params)->lower;
}

static int64_t side_of(const mxci_linalg_run *r) {
    return mxci_linalg_columns(&r->call->in[0].shape);
}

/* Every matrix of a call, with scratch for some of its size. */
static mxc_status run_all(const mxc_op_call *call, int n_scratch,
                          int (*one)(const mxci_linalg_run *r, int64_t index, void *scratch), const char *what) {
    int64_t n = mxci_linalg_columns(&call->in[0].shape);
    mxci_linalg_run run = {call, mxci_linalg_batch(&call->in[0].shape), n_scratch * n * n, one};
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : mxci_linalg_run_all(&run, (double)n * (double)n * (double)n, what);
}

static size_t linalg_potrf_temp_bytes(const mxc_op_sig *sig, int n_scratch) {
    int64_t n = mxci_linalg_columns(&sig->in_shape[0]);
    return mxci_linalg_temp(sig, mxci_linalg_batch(&sig->in_shape[0]), mxci_dim_mul(n_scratch, mxci_dim_mul(n, n)));
}

static void linalg_potrf_copy(const mxci_linalg_run *r, const mxc_tensor *from, int64_t index, void *to) {
    int64_t size = side_of(r) * side_of(r);
    mxci_assign_row(MXC_REQ_WRITE, from->dtype, to, mxci_at(from, index * size), size);
}

static void linalg_potrf_put(const mxci_linalg_run *r, const mxc_tensor *to, int64_t index, const void *from) {
    int64_t size = side_of(r) * side_of(r);
    mxci_assign_row(r->call->req[0], to->dtype, mxci_at(to, index * size), from, size);
}

/* ---- potrf ------------------------------------------------------------------------------------------------------- */

/* In scratch, so that a failure leaves out as it was; LAPACK leaves the other triangle, which is cleared. */
static int factor_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const mxc_tensor *a = &r->call->in[0];
    int failed;
    linalg_potrf_copy(r, a, index, scratch);
    failed = mxci_linalg_factor(a->dtype, is_lower(r), side_of(r), scratch);
    if (failed)
        return failed;
    mxci_triangle_clear[a->dtype](side_of(r), is_lower(r), scratch);
    linalg_potrf_put(r, &r->call->out[0], index, scratch);
    return 0;
}

/* Gradient of A = L L', with G the gradient of L: half L'^-1 S L^-1, S the symmetric matrix with the lower triangle of
 * L' G (I. Murray, "Differentiation of the Cholesky decomposition", 2016). With U = L' everything is transposed. */
static int factor_gradient_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const mxc_tensor *factors = &r->call->out[0];
    int lower = is_lower(r);
    int64_t n = side_of(r);
    const void *factor = mxci_at(factors, index * n * n);
    mxci_triangular outer = {factors->dtype, !lower, lower, 1}, left = {factors->dtype, 0, lower, lower};
    mxci_triangular right = {factors->dtype, 1, lower, !lower};
    linalg_potrf_copy(r, &r->call->out_grad[0], index, scratch);
    mxci_triangle_clear[factors->dtype](n, lower, scratch);
    mxci_linalg_multiply(&outer, n, n, 1, factor, scratch);
    mxci_triangle_mirror[factors->dtype](n, lower, scratch);
    mxci_linalg_solve(&left, n, n, 0.5, factor, scratch);
    mxci_linalg_solve(&right, n, n, 1, factor, scratch);
    linalg_potrf_put(r, &r->call->in_grad[0], index, scratch);
    return 0;
}

static mxc_status factor_forward(const mxc_op_call *call) {
    return run_all(call, 1, factor_one, "is not positive definite");
}

static mxc_status factor_backward(const mxc_op_call *call) {
    return run_all(call, 1, factor_gradient_one, "has no gradient");
}

static size_t factor_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return linalg_potrf_temp_bytes(sig, 1);
}

static const mxc_inplace inplace[] = {{MXC_FROM_IN(0), 0}, MXC_INPLACE_END};

const mxc_op_def mxci_op_linalg_potrf = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_potrf",
    .aliases = "linalg_potrf",
    .args = "A",
    .doc = "Cholesky factorization of positive definite A (...,N,N): out = L with A = L L', or with lower=false U with "
           "A = U' U",
    .params = schema,
    .param_size = sizeof(factor_params),
    .infer_shape = infer_square,
    .needs = {.out_grad = 1, .out = 1},
    .inplace_forward = inplace,
    .temp_bytes = factor_temp_bytes,
    .forward = {[MXC_CPU] = factor_forward},
    .backward = {[MXC_CPU] = factor_backward},
};

/* ---- potri ------------------------------------------------------------------------------------------------------- */

/* LAPACK computes one triangle; the other is mirrored. */
static int inverse_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const mxc_tensor *a = &r->call->in[0];
    int failed;
    linalg_potrf_copy(r, a, index, scratch);
    failed = mxci_linalg_inverse(a->dtype, is_lower(r), side_of(r), scratch);
    if (failed)
        return failed;
    mxci_triangle_mirror[a->dtype](side_of(r), is_lower(r), scratch);
    linalg_potrf_put(r, &r->call->out[0], index, scratch);
    return 0;
}

/* Gradient of L from B = (L L')^-1, with G the gradient of B: the lower triangle of -B (G + G') L'^-1; with U the upper
 * one of -U'^-1 (G + G') B. */
static int inverse_gradient_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const mxc_op_call *call = r->call;
    mxc_dtype dtype = call->in[0].dtype;
    int lower = is_lower(r);
    int64_t n = side_of(r), at = index * n * n;
    const void *g = mxci_at(&call->out_grad[0], at), *b = mxci_at(&call->out[0], at);
    mxci_triangular t = {dtype, lower, lower, 1};
    mxci_linalg_product(dtype, n, n, n, 1, lower ? b : g, 0, lower ? g : b, 0, 0, scratch);
    mxci_linalg_product(dtype, n, n, n, 1, lower ? b : g, !lower, lower ? g : b, lower, 1, scratch);
    mxci_linalg_solve(&t, n, n, -1, mxci_at(&call->in[0], at), scratch);
    mxci_triangle_clear[dtype](n, lower, scratch);
    linalg_potrf_put(r, &call->in_grad[0], index, scratch);
    return 0;
}

static mxc_status inverse_forward(const mxc_op_call *call) {
    return run_all(call, 1, inverse_one, "has 0 on the diagonal");
}

static mxc_status inverse_backward(const mxc_op_call *call) {
    return run_all(call, 1, inverse_gradient_one, "has no gradient");
}

const mxc_op_def mxci_op_linalg_potri = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_potri",
    .aliases = "linalg_potri",
    .args = "A",
    .doc = "Inverse from a Cholesky factor: out = the inverse of A A' for lower triangular A (...,N,N), or with "
           "lower=false of A' A for upper triangular A",
    .params = schema,
    .param_size = sizeof(factor_params),
    .infer_shape = infer_square,
    .needs = {.out_grad = 1, .in = 1, .out = 1},
    .inplace_forward = inplace,
    .temp_bytes = factor_temp_bytes,
    .forward = {[MXC_CPU] = inverse_forward},
    .backward = {[MXC_CPU] = inverse_backward},
};

/* ---- sumlogdiag -------------------------------------------------------------------------------------------------- */

/* One value for each matrix; (1,) for a single one. */
static mxc_status sum_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *a = &sig->in_shape[0];
    mxc_shape out;
    if (a->ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_linalg_check(sig, 0));
    MXC_TRY(mxci_linalg_square(sig, 0));
    out = *a;
    out.ndim -= 2;
    if (out.ndim == 0)
        out = mxci_shape_of(1, (int64_t[]){1});
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static int sum_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    int64_t n = side_of(r);
    double sum = 0;
    (void)scratch;
    for (int64_t i = 0; i < n; i++)
        sum += log(mxci_value_at(&r->call->in[0], index * n * n + i * (n + 1)));
    mxci_assign_value(r->call->req[0], &r->call->out[0], index, sum);
    return 0;
}

/* The gradient is 0 outside of the diagonal, which the caller has set. */
static int sum_gradient_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const mxc_op_call *call = r->call;
    int64_t n = side_of(r);
    double g = mxci_value_at(&call->out_grad[0], index);
    (void)scratch;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = index * n * n + i * (n + 1);
        mxci_assign_value(call->req[0], &call->in_grad[0], at, g / mxci_value_at(&call->in[0], at));
    }
    return 0;
}

static mxc_status sum_forward(const mxc_op_call *call) {
    return run_all(call, 0, sum_one, "");
}

static mxc_status sum_backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_WRITE || call->req[0] == MXC_REQ_INPLACE)
        mxci_assign_constant(call->run, MXC_REQ_WRITE, &call->in_grad[0], 0);
    return run_all(call, 0, sum_gradient_one, "");
}

const mxc_op_def mxci_op_linalg_sumlogdiag = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_sumlogdiag",
    .aliases = "linalg_sumlogdiag",
    .args = "A",
    .doc = "A (...,N,N): out (...) = the sum of the logarithms of the diagonal",
    .infer_shape = sum_infer_shape,
    .needs = {.out_grad = 1, .in = 1},
    .forward = {[MXC_CPU] = sum_forward},
    .backward = {[MXC_CPU] = sum_backward},
};

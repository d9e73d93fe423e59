/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Square matrices A (...,n,n) by LU factorization:
 *   _linalg_det      out (...) = the determinant; of one matrix (1,)
 *   _linalg_slogdet  sign (...) of the determinant and logabsdet (...), the log of its magnitude; 0: 0 and -inf
 *   _linalg_inverse  out (...,n,n) = the inverse
 *
 * Determinants are products and sums in float64, so that their factors do not overflow. A singular matrix has no
 * inverse, and the gradient of its determinant is taken as 0.
 */
#include <math.h>

#include "math/map.h"
#include "math/strided_kernels.h"
#include "operator/linalg/linalg.h"

/* ---- what all matrices of a run share ---------------------------------------------------------------------------- */

static int64_t side_of(const mxci_linalg_run *r) {
    return mxci_linalg_columns(&r->call->in[0].shape);
}

/* Scratch for one matrix: the matrix, n pivots, n elements of work; with two, a second matrix in front. */
static int64_t scratch_elements(int64_t n, int matrices) {
    return mxci_dim_add(mxci_dim_mul(matrices, mxci_dim_mul(n, n)), mxci_dim_mul(2, n));
}

static size_t linalg_det_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return mxci_linalg_temp(sig, mxci_linalg_batch(&sig->in_shape[0]),
                            scratch_elements(mxci_linalg_columns(&sig->in_shape[0]), 2));
}

static mxc_status linalg_det_run(const mxc_op_call *call,
                                 int (*one)(const mxci_linalg_run *r, int64_t index, void *scratch)) {
    const int64_t n = mxci_linalg_columns(&call->in[0].shape);
    mxci_linalg_run run = {call, mxci_linalg_batch(&call->in[0].shape), scratch_elements(n, 2), one};
    return mxci_linalg_run_all(&run, (double)n * (double)n * (double)n, "is singular");
}

/* The scratch of one matrix in parts. */
typedef struct lu_scratch {
    char *first, *second; /* n x n elements each */
    char *pivots, *work;  /* n elements each */
} lu_scratch;

static lu_scratch lu_scratch_of(const mxci_linalg_run *r, void *scratch) {
    const size_t element = mxc_dtype_size(r->call->in[0].dtype), n = (size_t)side_of(r), matrix = n * n * element;
    char *at = scratch;
    return (lu_scratch){at, at + matrix, at + 2 * matrix, at + 2 * matrix + n * element};
}

/* to = matrix index of an array; transposed where the caller needs the transpose of the inverse. */
static void linalg_det_copy(const mxci_linalg_run *r, const mxc_tensor *from, int64_t index, int transpose, void *to) {
    const int64_t n = side_of(r), dims[2] = {n, n}, steps[2] = {transpose ? 1 : n, transpose ? n : 1};
    mxci_strided strides;
    mxci_strided_set(&strides, 2, dims, steps);
    mxci_gather(&strides, mxc_dtype_size(from->dtype), mxci_at(from, index * n * n), 0, n * n, to);
}

/* in_grad = scale times a matrix in scratch. */
static int put_gradient(const mxci_linalg_run *r, int64_t index, double scale, void *matrix) {
    const mxc_op_call *call = r->call;
    const int64_t n = side_of(r), size = n * n;
    mxc_tensor from = {.data = matrix, .dtype = call->in_grad[0].dtype, .shape = mxci_shape_of(1, &size)}, to = from;
    to.data = mxci_at(&call->in_grad[0], index * size);
    return mxci_assign_scaled(NULL, call->req[0], &to, &from, scale) != MXC_OK;
}

static mxc_status square_infer_shape(mxc_op_sig *sig) {
    if (sig->in_shape[0].ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_linalg_check(sig, 0));
    return mxci_linalg_square(sig, 0);
}

/* ---- determinants ------------------------------------------------------------------------------------------------ */

/* One value for each matrix in every output; (1,) for a single one. */
static mxc_status det_infer_shape(mxc_op_sig *sig) {
    mxc_shape out;
    MXC_TRY(square_infer_shape(sig));
    if (sig->in_shape[0].ndim < 0)
        return MXC_OK;
    out = sig->in_shape[0];
    out.ndim -= 2;
    if (out.ndim == 0)
        out = mxci_shape_of(1, (int64_t[]){1});
    for (int i = 0; i < sig->n_out; i++)
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &out));
    return MXC_OK;
}

/* The sign of a matrix's determinant, and the logarithm of its magnitude or, where `product`, the magnitude. Each
 * exchange of two rows changes the sign. */
static double determinant(const mxci_linalg_run *r, int64_t index, int product, void *scratch, double *magnitude) {
    const lu_scratch s = lu_scratch_of(r, scratch);
    const int64_t n = side_of(r);
    const mxc_tensor lu = {.data = s.first, .dtype = r->call->in[0].dtype, .shape = mxci_shape_of(1, &n)};
    const int *pivots = (const int *)(const void *)s.pivots;
    double sign = 1, result = product ? 1 : 0;
    linalg_det_copy(r, &r->call->in[0], index, 0, s.first);
    mxci_linalg_lu(lu.dtype, n, s.first, s.pivots);
    for (int64_t i = 0; i < n; i++) {
        const double pivot = mxci_value_at(&lu, i * (n + 1));
        sign = pivot == 0 ? 0 : (pivot < 0) != (pivots[i] != i + 1) ? -sign : sign;
        result = product ? result * fabs(pivot) : result + log(fabs(pivot));
    }
    *magnitude = result;
    return sign;
}

static int det_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    double magnitude, sign = determinant(r, index, 1, scratch, &magnitude);
    mxci_assign_value(r->call->req[0], &r->call->out[0], index, sign < 0 ? -magnitude : magnitude);
    return 0;
}

enum { SIGN, LOGABSDET };

static int slogdet_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const mxc_op_call *call = r->call;
    double logarithm, sign = determinant(r, index, 0, scratch, &logarithm);
    if (call->req[SIGN] != MXC_REQ_NULL)
        mxci_assign_value(call->req[SIGN], &call->out[SIGN], index, sign);
    if (call->req[LOGABSDET] != MXC_REQ_NULL)
        mxci_assign_value(call->req[LOGABSDET], &call->out[LOGABSDET], index, logarithm);
    return 0;
}

/* The gradient of log |det A| is the transpose of A's inverse; that of det A has the factor det A besides. */
static int determinant_gradient(const mxci_linalg_run *r, int64_t index, double scale, void *scratch) {
    const lu_scratch s = lu_scratch_of(r, scratch);
    const mxc_dtype dtype = r->call->in[0].dtype;
    const int64_t n = side_of(r);
    linalg_det_copy(r, &r->call->in[0], index, 1, s.first);
    if (mxci_linalg_lu(dtype, n, s.first, s.pivots) || mxci_linalg_lu_inverse(dtype, n, s.first, s.pivots, s.work)) {
        mxci_fill_compute(dtype, 0, s.first, n * n);
        scale = 1;
    }
    return put_gradient(r, index, scale, s.first);
}

static int det_gradient_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const double g = mxci_value_at(&r->call->out_grad[0], index);
    return determinant_gradient(r, index, g * mxci_value_at(&r->call->out[0], index), scratch);
}

static int slogdet_gradient_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    return determinant_gradient(r, index, mxci_value_at(&r->call->out_grad[LOGABSDET], index), scratch);
}

static mxc_status det_forward(const mxc_op_call *call) {
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : linalg_det_run(call, det_one);
}

static mxc_status det_backward(const mxc_op_call *call) {
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : linalg_det_run(call, det_gradient_one);
}

static mxc_status slogdet_forward(const mxc_op_call *call) {
    return linalg_det_run(call, slogdet_one);
}

static mxc_status slogdet_backward(const mxc_op_call *call) {
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : linalg_det_run(call, slogdet_gradient_one);
}

const mxc_op_def mxci_op_linalg_det = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_det",
    .aliases = "linalg_det",
    .args = "A",
    .outputs = "output0", /* MXNet's name, which has hidden outputs */
    .doc = "Determinants of square matrices A (...,n,n): output0 (...), (1,) for a single matrix",
    .infer_shape = det_infer_shape,
    .needs = {.out_grad = 1, .in = 1, .out = 1},
    .temp_bytes = linalg_det_temp_bytes,
    .forward = {[MXC_CPU] = det_forward},
    .backward = {[MXC_CPU] = det_backward},
};

const mxc_op_def mxci_op_linalg_slogdet = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_slogdet",
    .aliases = "linalg_slogdet",
    .args = "A",
    .outputs = "output0,output1",
    .doc = "Determinants of square matrices A (...,n,n) as their sign, output0 (...), and the logarithm of "
           "their magnitude, output1 (...); (1,) for a single matrix. The gradient of the sign is 0",
    .infer_shape = det_infer_shape,
    .needs = {.out_grad = 1 << LOGABSDET, .in = 1},
    .temp_bytes = linalg_det_temp_bytes,
    .forward = {[MXC_CPU] = slogdet_forward},
    .backward = {[MXC_CPU] = slogdet_backward},
};

/* ---- inverse ----------------------------------------------------------------------------------------------------- */

static mxc_status inverse_infer_shape(mxc_op_sig *sig) {
    MXC_TRY(mxci_infer_shape_same(sig));
    MXC_TRY(square_infer_shape(sig));
    return mxci_infer_shape_same(sig);
}

/* In scratch, so that a failure leaves out as it was. The inverse of the transpose is the transpose of the inverse, so
 * LAPACK's column order needs no transposing. */
static int inverse_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const mxc_op_call *call = r->call;
    const lu_scratch s = lu_scratch_of(r, scratch);
    const mxc_dtype dtype = call->in[0].dtype;
    const int64_t n = side_of(r);
    int failed;
    linalg_det_copy(r, &call->in[0], index, 0, s.first);
    failed = mxci_linalg_lu(dtype, n, s.first, s.pivots);
    failed = failed ? failed : mxci_linalg_lu_inverse(dtype, n, s.first, s.pivots, s.work);
    if (!failed)
        mxci_assign_row(call->req[0], dtype, mxci_at(&call->out[0], index * n * n), s.first, n * n);
    return failed;
}

/* With B the inverse and G its gradient: -B' G B'. */
static int inverse_gradient_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const mxc_op_call *call = r->call;
    const lu_scratch s = lu_scratch_of(r, scratch);
    const mxc_dtype dtype = call->out[0].dtype;
    const int64_t n = side_of(r);
    const void *b = mxci_at(&call->out[0], index * n * n), *g = mxci_at(&call->out_grad[0], index * n * n);
    mxci_linalg_product(dtype, n, n, n, 1, b, 1, g, 0, 0, s.first);
    mxci_linalg_product(dtype, n, n, n, 1, s.first, 0, b, 1, 0, s.second);
    return put_gradient(r, index, -1, s.second);
}

static mxc_status inverse_forward(const mxc_op_call *call) {
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : linalg_det_run(call, inverse_one);
}

static mxc_status inverse_backward(const mxc_op_call *call) {
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : linalg_det_run(call, inverse_gradient_one);
}

const mxc_op_def mxci_op_linalg_inverse = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_inverse",
    .aliases = "linalg_inverse",
    .args = "A",
    .doc = "Inverses of square matrices A (...,n,n): out (...,n,n). A singular matrix is an error",
    .infer_shape = inverse_infer_shape,
    .needs = {.out_grad = 1, .out = 1},
    .temp_bytes = linalg_det_temp_bytes,
    .forward = {[MXC_CPU] = inverse_forward},
    .backward = {[MXC_CPU] = inverse_backward},
};

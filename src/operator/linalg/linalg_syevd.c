/* SPDX-License-Identifier: Apache-2.0 */
/* _linalg_syevd: eigenvalues and eigenvectors of symmetric matrices A (...,n,n), of which the lower triangle is read:
 * A = U^T diag(L) U with L (...,n) in ascending order, and the eigenvectors as rows of U (...,n,n). An eigenvector is
 * unique up to its sign, which makes its element of the largest magnitude positive. Computed in float64. */
#include <math.h>

#include "math/tile_kernels.h"
#include "operator/linalg/linalg.h"

enum { U, L };
enum { MOST_ROWS = 30000 }; /* LAPACK counts its 2 n^2 numbers of work in int */

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* A and U have one shape, square matrices, and L that of their rows. */
static mxc_status linalg_syevd_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *a = &sig->in_shape[0], *l = &sig->out_shape[L];
    mxc_shape shape;
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){0, MXC_SLOT_OUT(U)}));
    if (a->ndim < 0 && l->ndim < 0)
        return MXC_OK;
    if (l->ndim == 0 || l->ndim == MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "output 'L' has %d axes, expected 1 to %d", (int)l->ndim, MXC_MAX_NDIM - 1);
    shape = mxci_shape_axes(l->ndim >= 0 ? l->ndim + 1 : a->ndim);
    for (int i = 0; i < l->ndim; i++)
        shape.dim[i] = l->dim[i];
    MXC_TRY(mxc_sig_set_shape(sig, 0, &shape));
    MXC_TRY(mxci_linalg_check(sig, 0));
    MXC_TRY(mxci_linalg_square(sig, 0));
    if (mxci_linalg_rows(a) > MOST_ROWS)
        return mxc_sig_fail(sig, "argument 'A' has %lld rows, expected at most %d", (long long)mxci_linalg_rows(a),
                            MOST_ROWS);
    shape = *a;
    shape.ndim--;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(L), &shape));
    return mxci_sig_same_shape(sig, 2, (int[]){0, MXC_SLOT_OUT(U)});
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

/* Scratch for one matrix, in float64. Forward: the matrix, its eigenvalues and LAPACK's work; backward: U, its gradient
 * and a third matrix, the eigenvalues and their gradient. */
static int64_t scratch_doubles(int64_t n, mxc_pass pass) {
    const int64_t square = mxci_dim_mul(n, n);
    if (pass == MXC_FORWARD)
        return mxci_dim_add(mxci_dim_add(square, n), mxci_linalg_eigen_work(n));
    return mxci_dim_add(mxci_dim_mul(3, square), mxci_dim_mul(2, n));
}

/* Elements of A's dtype that have room for them. */
static int64_t scratch_elements(mxc_dtype dtype, int64_t n, mxc_pass pass) {
    return mxci_dim_mul((int64_t)(sizeof(double) / mxc_dtype_size(dtype)), scratch_doubles(n, pass));
}

static size_t linalg_syevd_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const int64_t n = mxci_linalg_columns(&sig->in_shape[0]);
    return mxci_linalg_temp(sig, mxci_linalg_batch(&sig->in_shape[0]), scratch_elements(sig->in_type[0], n, pass));
}

static mxc_status linalg_syevd_run(const mxc_op_call *call, mxc_pass pass,
                                   int (*one)(const mxci_linalg_run *r, int64_t index, void *scratch)) {
    const int64_t n = mxci_linalg_columns(&call->in[0].shape);
    mxci_linalg_run run = {call, mxci_linalg_batch(&call->in[0].shape), scratch_elements(call->in[0].dtype, n, pass),
                           one};
    return mxci_linalg_run_all(&run, 9 * (double)n * (double)n * (double)n, "has eigenvalues that do not converge");
}

/* n numbers of an array from element first on, as float64; and the reverse, as the request says. */
static void load_doubles(const mxc_tensor *from, int64_t first, int64_t n, double *to) {
    mxci_convert(from->dtype, mxci_at(from, first), MXC_F64, to, n);
}

static void put_doubles(mxc_req req, const mxc_tensor *to, int64_t first, int64_t n, const double *from) {
    mxci_assign_cast_row(req, MXC_F64, from, to->dtype, mxci_at(to, first), n);
}

/* The element of the largest magnitude of each row becomes positive. */
static void fix_signs(int64_t n, double *u) {
    for (int64_t i = 0; i < n; i++) {
        double *row = u + i * n, most = 0;
        for (int64_t j = 0; j < n; j++)
            most = fabs(row[j]) > fabs(most) ? row[j] : most;
        for (int64_t j = 0; j < n && most < 0; j++)
            row[j] = -row[j];
    }
}

static int eigen_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const mxc_op_call *call = r->call;
    const int64_t n = mxci_linalg_columns(&call->in[0].shape);
    double *u = scratch, *values = u + n * n, *work = values + n;
    int failed;
    load_doubles(&call->in[0], index * n * n, n * n, u);
    failed = mxci_linalg_eigen(n, u, values, work);
    if (failed)
        return failed;
    fix_signs(n, u);
    put_doubles(call->req[U], &call->out[U], index * n * n, n * n, u);
    put_doubles(call->req[L], &call->out[L], index * n, n, values);
    return 0;
}

/* With U' and L' the gradients: A' = U^T S U, S the symmetric part of the matrix with L' on the diagonal and
 * (U' U^T)_ij / (L_i - L_j) elsewhere (M. Seeger et al., "Auto-differentiating linear algebra", 2017). */
static int gradient_one(const mxci_linalg_run *r, int64_t index, void *scratch) {
    const mxc_op_call *call = r->call;
    const int64_t n = mxci_linalg_columns(&call->in_grad[0].shape), size = n * n;
    double *u = scratch, *s = u + size, *product = s + size, *values = product + size, *values_grad = values + n;
    load_doubles(&call->out[U], index * size, size, u);
    load_doubles(&call->out_grad[U], index * size, size, product);
    load_doubles(&call->out[L], index * n, n, values);
    load_doubles(&call->out_grad[L], index * n, n, values_grad);
    mxci_linalg_product(MXC_F64, n, n, n, 1, product, 0, u, 1, 0, s);
    for (int64_t i = 0; i < n; i++) {
        s[i * n + i] = values_grad[i];
        for (int64_t j = 0; j < i; j++) /* (i,j) and (j,i) are divided by opposite differences */
            s[i * n + j] = s[j * n + i] = 0.5 * (s[i * n + j] - s[j * n + i]) / (values[i] - values[j]);
    }
    mxci_linalg_product(MXC_F64, n, n, n, 1, s, 0, u, 0, 0, product);
    mxci_linalg_product(MXC_F64, n, n, n, 1, u, 1, product, 0, 0, s);
    put_doubles(call->req[0], &call->in_grad[0], index * size, size, s);
    return 0;
}

static mxc_status linalg_syevd_forward(const mxc_op_call *call) {
    return linalg_syevd_run(call, MXC_FORWARD, eigen_one);
}

static mxc_status linalg_syevd_backward(const mxc_op_call *call) {
    return call->req[0] == MXC_REQ_NULL ? MXC_OK : linalg_syevd_run(call, MXC_BACKWARD, gradient_one);
}

const mxc_op_def mxci_op_linalg_syevd = {
    .size = sizeof(mxc_op_def),
    .name = "_linalg_syevd",
    .aliases = "linalg_syevd",
    .args = "A",
    .outputs = "output0,output1",
    .doc = "Eigenvectors, rows of output0 = U (...,n,n), and eigenvalues, output1 = L (...,n), ascending, of symmetric "
           "matrices A (...,n,n): "
           "A = U^T diag(L) U. The lower triangle of A is read. The gradient needs eigenvalues that differ",
    .infer_shape = linalg_syevd_infer_shape,
    .needs = {.out_grad = 1 << U | 1 << L, .out = 1 << U | 1 << L},
    .temp_bytes = linalg_syevd_temp_bytes,
    .forward = {[MXC_CPU] = linalg_syevd_forward},
    .backward = {[MXC_CPU] = linalg_syevd_backward},
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Inference and batches of the operators on matrices, and calls of BLAS and LAPACK. LAPACK stores matrices by columns:
 * the lower triangle of a matrix in C order is the upper one to it. */
#include "operator/linalg/linalg.h"

#include <cblas.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#include "math/gemm.h"

extern int spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info);
extern int dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
extern int spotri_(const char *uplo, const int *n, float *a, const int *lda, int *info);
extern int dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info);
extern int sgetrf_(const int *m, const int *n, float *a, const int *lda, int *pivots, int *info);
extern int dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
extern int sgetri_(const int *n, float *a, const int *lda, const int *pivots, float *work, const int *size, int *info);
extern int dgetri_(const int *n, double *a, const int *lda, const int *pivots, double *work, const int *size,
                   int *info);
extern int sgeqrf_(const int *m, const int *n, float *a, const int *lda, float *tau, float *work, const int *size,
                   int *info);
extern int dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *size,
                   int *info);
extern int sorgqr_(const int *m, const int *n, const int *k, float *a, const int *lda, const float *tau, float *work,
                   const int *size, int *info);
extern int dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau, double *work,
                   const int *size, int *info);
extern int dsyevd_(const char *job, const char *uplo, const int *n, double *a, const int *lda, double *values,
                   double *work, const int *size, int *integers, const int *integers_size, int *info);

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* LAPACK counts rows and columns in int. */
mxc_status mxci_linalg_check(const mxc_op_sig *sig, int slot) {
    const mxc_shape *shape = mxci_sig_shape((mxc_op_sig *)sig, slot);
    char name[64];
    if (shape->ndim < 0)
        return MXC_OK;
    mxc_op_arg_name(sig->op, slot, name, sizeof name);
    if (shape->ndim < 2)
        return mxc_sig_fail(sig, "argument '%s' has %d axes, expected at least 2", name, (int)shape->ndim);
    if (mxci_linalg_rows(shape) > INT_MAX || mxci_linalg_columns(shape) > INT_MAX)
        return mxc_sig_fail(sig, "argument '%s': more than %d rows or columns", name, INT_MAX);
    return MXC_OK;
}

mxc_status mxci_linalg_square(mxc_op_sig *sig, int slot) {
    mxc_shape shape = *mxci_sig_shape(sig, slot);
    int64_t *rows = &shape.dim[shape.ndim - 2], *columns = &shape.dim[shape.ndim - 1];
    *rows = *rows >= 0 ? *rows : *columns;
    *columns = *rows;
    return mxc_sig_set_shape(sig, slot, &shape);
}

mxc_status mxci_linalg_same_batch(mxc_op_sig *sig, int slot, int other) {
    mxc_shape shape = *mxci_sig_shape(sig, other);
    shape.dim[shape.ndim - 2] = shape.dim[shape.ndim - 1] = -1;
    return mxc_sig_set_shape(sig, slot, &shape);
}

/* ---- one matrix -------------------------------------------------------------------------------------------------- */

typedef struct blas_flags {
    enum CBLAS_SIDE side;
    enum CBLAS_UPLO uplo;
    enum CBLAS_TRANSPOSE transpose;
    int m, k, lda;
} blas_flags;

/* CBLAS takes matrices in C order, so that sides and triangles keep their meaning. */
static blas_flags flags_of(const mxci_triangular *t, int64_t m, int64_t k) {
    return (blas_flags){t->rightside ? CblasRight : CblasLeft,
                        t->lower ? CblasLower : CblasUpper,
                        t->transpose ? CblasTrans : CblasNoTrans,
                        (int)m,
                        (int)k,
                        (int)(t->rightside ? k : m)};
}

void mxci_linalg_multiply(const mxci_triangular *t, int64_t m, int64_t k, double alpha, const void *a, void *b) {
    blas_flags f = flags_of(t, m, k);
    if (m == 0 || k == 0)
        return;
    if (t->dtype == MXC_F32)
        cblas_strmm(CblasRowMajor, f.side, f.uplo, f.transpose, CblasNonUnit, f.m, f.k, (float)alpha, a, f.lda, b, f.k);
    else
        cblas_dtrmm(CblasRowMajor, f.side, f.uplo, f.transpose, CblasNonUnit, f.m, f.k, alpha, a, f.lda, b, f.k);
}

void mxci_linalg_solve(const mxci_triangular *t, int64_t m, int64_t k, double alpha, const void *a, void *b) {
    blas_flags f = flags_of(t, m, k);
    if (m == 0 || k == 0)
        return;
    if (t->dtype == MXC_F32)
        cblas_strsm(CblasRowMajor, f.side, f.uplo, f.transpose, CblasNonUnit, f.m, f.k, (float)alpha, a, f.lda, b, f.k);
    else
        cblas_dtrsm(CblasRowMajor, f.side, f.uplo, f.transpose, CblasNonUnit, f.m, f.k, alpha, a, f.lda, b, f.k);
}

/* LAPACK is column-major: the lower triangle of a row-major matrix is its upper one. */
int mxci_linalg_factor(mxc_dtype dtype, int lower, int64_t n, void *a) {
    int size = (int)n, info = 0;
    if (n == 0)
        return 0;
    if (dtype == MXC_F32)
        spotrf_(lower ? "U" : "L", &size, a, &size, &info);
    else
        dpotrf_(lower ? "U" : "L", &size, a, &size, &info);
    return info;
}

/* The same exchange of triangles as for the factor. */
int mxci_linalg_inverse(mxc_dtype dtype, int lower, int64_t n, void *a) {
    int size = (int)n, info = 0;
    if (n == 0)
        return 0;
    if (dtype == MXC_F32)
        spotri_(lower ? "U" : "L", &size, a, &size, &info);
    else
        dpotri_(lower ? "U" : "L", &size, a, &size, &info);
    return info;
}

int mxci_linalg_lu(mxc_dtype dtype, int64_t n, void *a, void *pivots) {
    int size = (int)n, info = 0;
    if (n == 0)
        return 0;
    if (dtype == MXC_F32)
        sgetrf_(&size, &size, a, &size, pivots, &info);
    else
        dgetrf_(&size, &size, a, &size, pivots, &info);
    return info;
}

int mxci_linalg_lu_inverse(mxc_dtype dtype, int64_t n, void *a, const void *pivots, void *work) {
    int size = (int)n, info = 0;
    if (n == 0)
        return 0;
    if (dtype == MXC_F32)
        sgetri_(&size, a, &size, pivots, work, &size, &info);
    else
        dgetri_(&size, a, &size, pivots, work, &size, &info);
    return info;
}

/* In LAPACK's column order a is A', and A' = Q' L' is a QR factorization: the upper triangle that geqrf leaves in the
 * first m columns is L' there, and L in C order. */
void mxci_linalg_lq(mxc_dtype dtype, int64_t m, int64_t n, void *a, void *l, void *work) {
    const size_t element = mxc_dtype_size(dtype);
    int rows = (int)n, columns = (int)m, info = 0;
    void *tau = work, *rest = (char *)work + (size_t)m * element;
    if (m == 0)
        return;
    if (dtype == MXC_F32)
        sgeqrf_(&rows, &columns, a, &rows, tau, rest, &columns, &info);
    else
        dgeqrf_(&rows, &columns, a, &rows, tau, rest, &columns, &info);
    for (int64_t i = 0; i < m; i++)
        memcpy((char *)l + (size_t)(i * m) * element, (char *)a + (size_t)(i * n) * element, (size_t)m * element);
    mxci_triangle_clear[dtype](m, 1, l);
    if (dtype == MXC_F32)
        sorgqr_(&rows, &columns, &columns, a, &rows, tau, rest, &columns, &info);
    else
        dorgqr_(&rows, &columns, &columns, a, &rows, tau, rest, &columns, &info);
}

/* As LAPACK documents: 1 + 6 n + 2 n^2 numbers, and 3 + 5 n ints, which take no more elements than that. */
int64_t mxci_linalg_eigen_work(int64_t n) {
    const int64_t numbers = mxci_dim_add(mxci_dim_mul(2, mxci_dim_mul(n, n)), mxci_dim_add(mxci_dim_mul(6, n), 1));
    return mxci_dim_add(numbers, mxci_dim_add(mxci_dim_mul(5, n), 3));
}

/* The lower triangle in C order is the upper one in LAPACK's; its columns of eigenvectors are rows here. */
int mxci_linalg_eigen(int64_t n, double *a, double *values, double *work) {
    const int64_t integers = 3 + 5 * n, numbers = mxci_linalg_eigen_work(n) - integers;
    int size = (int)n, info = 0, n_numbers = (int)numbers, n_integers = (int)integers;
    if (n > 0)
        dsyevd_("V", "U", &size, a, &size, values, work, &n_numbers, (int *)(void *)(work + numbers), &n_integers,
                &info);
    return info;
}

void mxci_linalg_product(mxc_dtype dtype, int64_t m, int64_t n, int64_t k, double alpha, const void *a, int transpose_a,
                         const void *b, int transpose_b, double beta, void *c) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    g.dtype = dtype;
    g.m = m, g.n = n, g.k = k;
    g.a = a, g.b = b, g.c = c;
    g.transpose_a = transpose_a, g.transpose_b = transpose_b;
    g.lda = transpose_a ? m : k, g.ldb = transpose_b ? k : n, g.ldc = n;
    g.alpha = alpha, g.beta = beta;
    mxci_gemm(NULL, &g, NULL);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

size_t mxci_linalg_temp(const mxc_op_sig *sig, int64_t n, int64_t scratch) {
    int64_t parts = n < sig->parallelism ? n : sig->parallelism;
    return mxci_size_of(mxci_dim_mul(parts, scratch), mxc_dtype_size(sig->in_type[0]));
}

typedef struct batch_run {
    const mxci_linalg_run *run;
    _Atomic uint64_t failed; /* matrix << 32 | row of the first failure; UINT64_MAX: none */
} batch_run;

/* Parts run concurrently. The first matrix of the batch that fails is reported, whichever fails first in time, so that
 * the message does not depend on the threads: keeps the minimum. */
static void note_failure(batch_run *b, int64_t index, int row) {
    uint64_t found = (uint64_t)index << 32 | (uint32_t)row, first = atomic_load(&b->failed);
    while (found < first && !atomic_compare_exchange_weak(&b->failed, &first, found)) {
    }
}

/* Matrices begin..end-1 of the batch; `one` returns 0 or the row at which it failed. */
static void linalg_run_range(void *arg, int64_t begin, int64_t end, int part) {
    batch_run *b = arg;
    const mxci_linalg_run *r = b->run;
    size_t bytes = (size_t)r->scratch * mxc_dtype_size(r->call->in[0].dtype);
    for (int64_t i = begin; i < end; i++) {
        int row = r->one(r, i, (char *)r->call->temp + (size_t)part * bytes);
        if (row)
            note_failure(b, i, row);
    }
}

/* Each part computes its matrices in a scratch of its own. */
mxc_status mxci_linalg_run_all(const mxci_linalg_run *run, double flops, const char *what) {
    batch_run b = {.run = run, .failed = UINT64_MAX};
    uint64_t failed;
    mxci_blas_init();
    mxc_parallel_for(run->call->run, run->n, (int64_t)(1e5 / (flops + 1)) + 1, linalg_run_range, &b);
    failed = atomic_load(&b.failed);
    if (failed == UINT64_MAX)
        return MXC_OK;
    return MXC_FAIL(MXC_EINVAL, "%s: matrix %lld of the batch %s (seen at row %d)", mxc_op_get_def(run->call->op)->name,
                    (long long)(failed >> 32), what, (int)(uint32_t)failed - 1);
}

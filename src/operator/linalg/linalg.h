/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operators on matrices share: arrays (...,rows,columns) as a batch of matrices, LAPACK's and BLAS's functions
 * on one of them, and its triangles. float32 and float64.
 */
#ifndef MXCI_OPERATOR_LINALG_LINALG_H
#define MXCI_OPERATOR_LINALG_LINALG_H

#include "math/assign.h"
#include "math/triangle_kernels.h"
#include "operator/infer.h"

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* The slot has at least 2 axes, if its number is known, and the last two fit BLAS. */
mxc_status mxci_linalg_check(const mxc_op_sig *sig, int slot);
/* Its last two axes are equal. */
mxc_status mxci_linalg_square(mxc_op_sig *sig, int slot);
/* The slots' axes but the last two are equal. */
mxc_status mxci_linalg_same_batch(mxc_op_sig *sig, int slot, int other);

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* Of _linalg_potrf and _linalg_potri; of _linalg_trmm and _linalg_trsm. */
typedef struct mxci_factor_params {
    int32_t lower;
} mxci_factor_params;

typedef struct mxci_triangular_params {
    int32_t transpose, rightside, lower;
    double alpha;
} mxci_triangular_params;

/* ---- one matrix -------------------------------------------------------------------------------------------------- */

/* How a triangular matrix A (n,n) stands to another, B (m,k): from the left (n is m) or from the right (n is k). */
typedef struct mxci_triangular {
    mxc_dtype dtype;
    int rightside, lower, transpose;
} mxci_triangular;

/* b = alpha op(a) b, or alpha b op(a). */
void mxci_linalg_multiply(const mxci_triangular *t, int64_t m, int64_t k, double alpha, const void *a, void *b);
/* b = x where op(a) x = alpha b, or x op(a) = alpha b. */
void mxci_linalg_solve(const mxci_triangular *t, int64_t m, int64_t k, double alpha, const void *a, void *b);
/* Cholesky factorization: the triangle of a (n,n), which is positive definite, becomes its factor (potrf). Inverse from
 * a factor: the triangle of the factor becomes that of the inverse of the factored matrix (potri). Only that triangle
 * is read and written. Returns 0, or the row (from 1) at which it fails. */
int mxci_linalg_factor(mxc_dtype dtype, int lower, int64_t n, void *a);
int mxci_linalg_inverse(mxc_dtype dtype, int lower, int64_t n, void *a);
/* LU factorization with row exchanges of a (n,n), and the inverse from it (getrf, getri). pivots: n elements of
 * scratch, which hold ints; work: n elements. The sign of the exchanges is that of LAPACK's column order, of the
 * transpose, whose determinant is the same. Both return 0, or the row (from 1) at which a pivot is 0: the matrix is
 * singular. */
int mxci_linalg_lu(mxc_dtype dtype, int64_t n, void *a, void *pivots);
int mxci_linalg_lu_inverse(mxc_dtype dtype, int64_t n, void *a, const void *pivots, void *work);
/* LQ factorization of a (m,n), m <= n: l (m,m) lower triangular, and a becomes q (m,n) with orthonormal rows (geqrf and
 * orgqr, of the transpose). work: 2 m elements. */
void mxci_linalg_lq(mxc_dtype dtype, int64_t m, int64_t n, void *a, void *l, void *work);
/* Eigenvalues (n), ascending, of the symmetric matrix whose lower triangle is in a (n,n), and its eigenvectors, which
 * become the rows of a (syevd). float64. work: mxci_linalg_eigen_work(n) elements. Returns 0, or more where it does not
 * converge. */
int64_t mxci_linalg_eigen_work(int64_t n);
int mxci_linalg_eigen(int64_t n, double *a, double *values, double *work);
/* c (m,n) = alpha op(a) op(b) + beta c, dense matrices with k products in each sum, on this thread. */
void mxci_linalg_product(mxc_dtype dtype, int64_t m, int64_t n, int64_t k, double alpha, const void *a, int transpose_a,
                         const void *b, int transpose_b, double beta, void *c);

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* A run over a batch of matrices, each computed in scratch. Start from mxci_linalg_open. */
typedef struct mxci_linalg_run mxci_linalg_run;
struct mxci_linalg_run {
    const mxc_op_call *call;
    int64_t n, scratch; /* matrices; elements of scratch for one */
    /* Computes the matrix at index in scratch and stores it. Returns 0, or the row (from 1) at which it fails. */
    int (*one)(const mxci_linalg_run *r, int64_t index, void *scratch);
};

/* Bytes of scratch for the parts of a run over n matrices. */
size_t mxci_linalg_temp(const mxc_op_sig *sig, int64_t n, int64_t scratch);
/* Run them all, each worth about flops. MXC_EINVAL: the first that fails; what says why: "is not positive definite". */
mxc_status mxci_linalg_run_all(const mxci_linalg_run *run, double flops, const char *what);

static inline int64_t mxci_linalg_rows(const mxc_shape *shape) {
    return shape->dim[shape->ndim - 2];
}
static inline int64_t mxci_linalg_columns(const mxc_shape *shape) {
    return shape->dim[shape->ndim - 1];
}
static inline int64_t mxci_linalg_batch(const mxc_shape *shape) {
    return mxci_shape_count(shape, 0, shape->ndim - 2);
}

#endif

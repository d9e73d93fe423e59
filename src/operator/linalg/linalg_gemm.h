/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and products of _linalg_gemm, _linalg_gemm2 and _linalg_syrk. */
#ifndef MXCI_OPERATOR_LINALG_LINALG_GEMM_H
#define MXCI_OPERATOR_LINALG_LINALG_GEMM_H

#include "operator/linalg/linalg.h"
#include "operator/linalg/matmul.h"

typedef struct mxci_linalg_gemm_params {
    int32_t transpose_a, transpose_b;
    double alpha, beta;
    int64_t axis;
} mxci_linalg_gemm_params;

typedef struct mxci_syrk_params {
    int32_t transpose;
    double alpha;
} mxci_syrk_params;

static inline mxci_matmul mxci_linalg_gemm_sizes(const mxci_linalg_gemm_params *p, const mxc_shape *a,
                                                 const mxc_shape *b) {
    int columns = a->ndim - 1, rows = (int)(p->axis < 0 ? p->axis + a->ndim : p->axis);
    mxci_matmul s = {
        mxci_shape_count(a, 0, rows),
        a->dim[p->transpose_a ? columns : rows],
        b->dim[p->transpose_b ? rows : columns],
        a->dim[p->transpose_a ? rows : columns],
        mxci_shape_count(a, rows + 1, columns),
        p->transpose_a,
        p->transpose_b,
        p->alpha,
    };
    return s;
}

/* A is both operands. */
static inline mxci_matmul mxci_syrk_sizes(const mxci_syrk_params *p, const mxc_shape *a) {
    int64_t rows = mxci_linalg_rows(a), columns = mxci_linalg_columns(a), n = p->transpose ? columns : rows;
    mxci_matmul s = {
        mxci_linalg_batch(a), n, n, p->transpose ? rows : columns, 1, p->transpose, !p->transpose, p->alpha,
    };
    return s;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and products of dot and batch_dot. */
#ifndef MXCI_OPERATOR_LINALG_DOT_H
#define MXCI_OPERATOR_LINALG_DOT_H

#include "operator/linalg/matmul.h"

typedef struct mxci_dot_params {
    int32_t transpose_a, transpose_b, forward_stype;
} mxci_dot_params;

/* Every product here as batch times (m,k) (k,n). */
static inline mxci_matmul mxci_dot_sizes(const mxc_shape *lhs, const mxc_shape *rhs, const mxci_dot_params *p,
                                         int batched) {
    int first = batched ? 1 : 0;
    int a = p->transpose_a ? first : lhs->ndim - 1, b = p->transpose_b ? rhs->ndim - 1 : first;
    mxci_matmul s = {batched ? lhs->dim[0] : 1, 1, 1, lhs->dim[a], 1, p->transpose_a, p->transpose_b, 1};
    for (int i = first; i < lhs->ndim; i++)
        s.m *= i == a ? 1 : lhs->dim[i];
    for (int i = first; i < rhs->ndim; i++)
        s.n *= i == b ? 1 : rhs->dim[i];
    return s;
}

#endif

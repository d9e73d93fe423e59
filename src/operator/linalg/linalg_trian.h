/* SPDX-License-Identifier: Apache-2.0 */
/* The triangle that the parameters of _linalg_extracttrian and _linalg_maketrian name. */
#ifndef MXCI_OPERATOR_LINALG_LINALG_TRIAN_H
#define MXCI_OPERATOR_LINALG_LINALG_TRIAN_H

#include "math/triangle_kernels.h"
#include "operator/tensor/views.h"

/* Of a matrix (n,n). */
static inline mxci_packed_triangle mxci_triangle_of(const void *params, int64_t n) {
    const mxci_triangle_params *p = (const mxci_triangle_params *)params;
    mxci_packed_triangle t;
    t.n = n;
    t.offset = p->offset < 0 ? -p->offset : p->offset;
    t.rows = n > t.offset ? n - t.offset : 0;
    t.lower = p->offset ? p->offset < 0 : p->lower;
    return t;
}

#endif

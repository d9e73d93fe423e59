/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of triangular matrices on the GPU: float32 and float64, in C order. */
#ifndef MXCI_CUDA_OPERATOR_LINALG_TRIANGULAR_H
#define MXCI_CUDA_OPERATOR_LINALG_TRIANGULAR_H

#include "cuda/runtime/kernel.h"
#include "operator/linalg/linalg.h"

/* count matrices A (n,n), and B (m,k) with A on the left (n is m) or on the right (n is k). */
struct mxcu_triangular {
    mxci_triangular t;
    int64_t count, m, k;

    int64_t n() const {
        return t.rightside ? k : m;
    }
};

/* b = x where op(a) x = alpha b, or x op(a) = alpha b. */
mxc_status mxcu_triangular_solve(const mxc_op_call *call, const mxcu_triangular *t, double alpha, const void *a,
                                 void *b);
/* b = alpha op(a) from, or alpha from op(a). temp: room for a. */
mxc_status mxcu_triangular_multiply(const mxc_op_call *call, const mxcu_triangular *t, double alpha, const void *a,
                                    const void *from, void *b, void *temp);
/* to = from's lower or upper triangle with what is outside 0, or what stands across the diagonal; from may be to. */
enum { MXCU_CLEAR, MXCU_MIRROR };
mxc_status mxcu_triangle(const mxc_op_call *call, mxc_dtype dtype, int lower, int outside, int64_t count, int64_t n,
                         const void *from, void *to);
/* to = or += scale times from, elements of result number i. */
mxc_status mxcu_put_matrices(const mxc_op_call *call, const mxc_tensor *to, int i, double scale, const void *from);

/* Bytes of an array's elements, rounded up so that the next array in scratch is aligned. */
static inline size_t mxcu_matrix_bytes(const mxc_shape *shape, mxc_dtype dtype) {
    return mxci_size_align(mxci_shape_bytes(shape, (size_t)mxcu_element_bytes(dtype)));
}

static inline void *mxcu_matrix_temp(const mxc_op_call *call, size_t offset) {
    return static_cast<char *>(call->temp) + offset;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Triangular matrices on the GPU (linalg/triangular.h). Operands are float32 or float64. */
#include "cuda/operator/linalg/triangular.h"

#include "cuda/runtime/blas.h"
#include "cuda/runtime/kernel.h"

/* A thread solves for one column of b or, where a is on the right, one row, by substitution: n steps of up to n
 * products each. Parallel over vectors and the batch only. */
template <class T>
static mxc_status solve(const mxc_op_call *call, const mxcu_triangular *t, T alpha, const void *a, void *b) {
    const int64_t n = t->n(), m = t->m, k = t->k, vectors = t->t.rightside ? m : k;
    const int64_t step = t->t.rightside ? 1 : k, apart = t->t.rightside ? k : 1;
    const int transposed = t->t.transpose != t->t.rightside, down = t->t.lower != transposed;
    const T *matrices = mxcu_pointer<T>((void *)a);
    T *to = mxcu_pointer<T>(b);
    return mxcu_for(call, t->count * vectors, [=] MXCU_LAMBDA(int64_t which) {
        const int64_t index = mxcu_divide(which, vectors);
        const T *matrix = matrices + index * n * n;
        T *x = to + index * m * k + (which - index * vectors) * apart;
        for (int64_t i = 0; i < n; i++) {
            const int64_t row = down ? i : n - 1 - i;
            T sum = alpha * x[row * step];
            for (int64_t j = down ? 0 : row + 1; j < (down ? row : n); j++)
                sum -= matrix[transposed ? j * n + row : row * n + j] * x[j * step];
            x[row * step] = sum / matrix[row * n + row];
        }
    });
}

mxc_status mxcu_triangular_solve(const mxc_op_call *call, const mxcu_triangular *t, double alpha, const void *a,
                                 void *b) {
    MXCU_SWITCH_REAL(t->t.dtype, solve, call, t, alpha, a, b)
}

/* A thread per element: its own, 0, or the one across the diagonal. */
template <class T>
static mxc_status triangle(const mxc_op_call *call, int lower, int outside, int64_t count, int64_t n, const void *from,
                           void *to) {
    const T *x = mxcu_pointer<T>((void *)from);
    T *y = mxcu_pointer<T>(to);
    return mxcu_for(call, count * n * n, [=] MXCU_LAMBDA(int64_t i) {
        const int64_t line = mxcu_divide(i, n), row = line - mxcu_divide(line, n) * n, column = i - line * n;
        const int inside = lower ? column <= row : column >= row;
        if (inside)
            y[i] = x[i];
        else
            y[i] = outside == MXCU_CLEAR ? 0 : x[i + (column - row) * (n - 1)];
    });
}

mxc_status mxcu_triangle(const mxc_op_call *call, mxc_dtype dtype, int lower, int outside, int64_t count, int64_t n,
                         const void *from, void *to) {
    MXCU_SWITCH_REAL(dtype, triangle, call, lower, outside, count, n, from, to)
}

/* cuBLASLt multiplies full matrices, so the other triangle is cleared first, in temp. */
mxc_status mxcu_triangular_multiply(const mxc_op_call *call, const mxcu_triangular *t, double alpha, const void *a,
                                    const void *from, void *b, void *temp) {
    const int64_t n = t->n();
    const int right = t->t.rightside;
    mxci_gemm_args g = MXCI_GEMM_INIT;
    MXC_TRY(mxcu_triangle(call, t->t.dtype, t->t.lower, MXCU_CLEAR, t->count, n, a, temp));
    g.dtype = t->t.dtype;
    g.alpha = alpha;
    g.m = t->m, g.n = t->k, g.k = n;
    g.a = right ? from : temp, g.lda = n, g.a_stride = right ? t->m * t->k : n * n;
    g.b = right ? temp : from, g.ldb = t->k, g.b_stride = right ? n * n : t->m * t->k;
    g.c = b, g.ldc = t->k, g.c_stride = t->m * t->k;
    *(right ? &g.transpose_b : &g.transpose_a) = t->t.transpose;
    g.batch = t->count;
    return mxcu_gemm(call, &g);
}

template <class T>
static mxc_status put(const mxc_op_call *call, const mxc_tensor *to, int i, T scale, const void *from) {
    const T *x = mxcu_pointer<T>((void *)from);
    mxcu_out<T> y = mxcu_result<T>(call, to, i);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t k) { y.put(k, scale * x[k]); });
}

/* Queue to = or += scale from. */
mxc_status mxcu_put_matrices(const mxc_op_call *call, const mxc_tensor *to, int i, double scale, const void *from) {
    if (call->req[i] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_REAL(to->dtype, put, call, to, i, scale, from)
}

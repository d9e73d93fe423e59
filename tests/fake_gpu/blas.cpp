/* Matrix products of the fake GPU: loops. */
#include "cuda/blas.h"

#include "cuda/kernel.h"

template <class T> static void product(const mxci_gemm_args &g, int64_t which, int64_t row, int64_t column) {
    const T *a = mxcu_pointer<const T>(g.a) + which * g.a_stride, *b = mxcu_pointer<const T>(g.b) + which * g.b_stride;
    T *c = mxcu_pointer<T>(g.c) + which * g.c_stride + row * g.ldc + column;
    double sum = 0;
    for (int64_t i = 0; i < g.k; i++)
        sum += (double)mxcu_widen<T>(a[g.transpose_a ? i * g.lda + row : row * g.lda + i]) *
               mxcu_widen<T>(b[g.transpose_b ? column * g.ldb + i : i * g.ldb + column]);
    *c = mxcu_narrow<T>((mxcu_compute_t<T>)(g.alpha * sum + (g.beta ? g.beta * mxcu_widen<T>(*c) : 0)));
}

template <class T> static mxc_status queue(const mxc_op_call *call, mxci_gemm_args g) {
    return mxcu_fake_queue(call->run->stream, [=] {
        for (int64_t which = 0; which < g.batch; which++)
            for (int64_t i = 0; i < g.m * g.n; i++)
                product<T>(g, which, i / g.n, i % g.n);
    });
}

mxc_status mxcu_gemm(const mxc_op_call *call, const mxci_gemm_args *g) {
    MXCU_SWITCH_FLOAT(g->dtype, queue, call, *g)
}

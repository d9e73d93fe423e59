/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of the fake GPU: loops, row by row, summed in double. Epilogues are not served for float64, so that
 * callers' other ways run too. As a library does, it "measures" in the first run of a shape that overwrites its result:
 * computes twice. */
#include "cuda/runtime/blas.h"

#include <mutex>
#include <vector>

#include "cuda/runtime/kernel.h"
#include "cuda/runtime/plan_cache.h"

struct plan {
    bool measured = false;
    void close() {
    }
};

enum { KEY = 5, SLOTS = 5 }; /* few, so that plans lose their slots */

static std::mutex lock; /* over plans */
static mxcu_plan_cache<plan, KEY, SLOTS> plans;

/* How often the product is computed. */
static int runs_of(const mxci_gemm_args &g) {
    std::lock_guard<std::mutex> held(lock);
    int known;
    plan *p = plans.find({g.m, g.n, g.k, g.batch, g.dtype}, &known);
    const int first = !p->measured && g.beta == 0 && mxcu_option(MXCI_OPT_MXC_GPU_TUNE);
    p->measured = p->measured || first;
    return 1 + first;
}

/* Row i of the product. Both loops go through b as it is stored. */
template <class T> static void sum_row(const mxci_gemm_args &g, const T *a, const T *b, double *row) {
    const int64_t step = g.transpose_a ? g.lda : 1;
    for (int64_t j = 0; j < g.n; j++) {
        row[j] = 0;
        for (int64_t k = 0; g.transpose_b && k < g.k; k++)
            row[j] += (double)mxcu_widen<T>(a[k * step]) * mxcu_widen<T>(b[j * g.ldb + k]);
    }
    for (int64_t k = 0; !g.transpose_b && k < g.k; k++) {
        const double factor = mxcu_widen<T>(a[k * step]);
        for (int64_t j = 0; j < g.n; j++)
            row[j] += factor * mxcu_widen<T>(b[k * g.ldb + j]);
    }
}

template <class T, class C> static void product(const mxci_gemm_args &g, int64_t which, int64_t i, double *row) {
    const T *a = mxcu_pointer<const T>(g.a) + which * g.a_stride, *b = mxcu_pointer<const T>(g.b) + which * g.b_stride;
    C *c = mxcu_pointer<C>(g.c) + which * g.c_stride + i * g.ldc;
    sum_row(g, a + (g.transpose_a ? i : i * g.lda), b, row);
    for (int64_t j = 0; j < g.n; j++)
        c[j] = mxcu_narrow<C>((mxcu_compute_t<C>)(g.alpha * row[j] + (g.beta ? g.beta * mxcu_widen<C>(c[j]) : 0)));
}

template <class T, class C> static mxc_status queue_to(const mxc_op_call *call, mxci_gemm_args g) {
    const int runs = runs_of(g);
    return mxcu_fake_queue(call->run->stream, [=] {
        std::vector<double> row((size_t)g.n + 1);
        for (int64_t which = 0; which < runs * g.batch; which++)
            for (int64_t i = 0; i < g.m; i++)
                product<T, C>(g, which % g.batch, i, row.data());
    });
}

template <class T> static mxc_status queue(const mxc_op_call *call, mxci_gemm_args g) {
    return queue_to<T, T>(call, g);
}

template <class T> static mxc_status queue_wide(const mxc_op_call *call, mxci_gemm_args g) {
    return queue_to<T, mxcu_compute_t<T>>(call, g);
}

mxc_status mxcu_gemm(const mxc_op_call *call, const mxci_gemm_args *g) {
    MXCU_SWITCH_FLOAT(g->dtype, queue, call, *g)
}

mxc_status mxcu_gemm_wide(const mxc_op_call *call, const mxci_gemm_args *g) {
    MXCU_SWITCH_FLOAT(g->dtype, queue_wide, call, *g)
}

/* What an epilogue does to row i of C, or with row i of op(A), when the product is there. */
template <class T> static void finish_row(const mxci_gemm_args &g, int relu, int64_t i, T *sums) {
    const T *a = mxcu_pointer<const T>(g.a), *bias = mxcu_pointer<const T>(g.bias);
    T *c = mxcu_pointer<T>(g.c) + i * g.ldc;
    double sum = 0;
    for (int64_t j = 0; bias && j < g.n; j++)
        c[j] = mxcu_narrow<T>(mxcu_widen<T>(c[j]) + mxcu_widen<T>(bias[j]));
    for (int64_t j = 0; relu && j < g.n; j++)
        c[j] = mxcu_widen<T>(c[j]) < 0 ? mxcu_narrow<T>(0) : c[j];
    for (int64_t k = 0; sums && k < g.k; k++)
        sum += mxcu_widen<T>(a[g.transpose_a ? k * g.lda + i : i * g.lda + k]);
    if (sums)
        sums[i] = mxcu_narrow<T>((mxcu_compute_t<T>)sum);
}

template <class T> static mxc_status queue_epilogue(const mxc_op_call *call, mxci_gemm_args g, int relu, void *sums) {
    MXC_TRY(queue<T>(call, g));
    return mxcu_fake_queue(call->run->stream, [=] {
        for (int64_t i = 0; i < g.m; i++)
            finish_row<T>(g, relu, i, sums ? mxcu_pointer<T>(sums) : nullptr);
    });
}

static mxc_status multiply(const mxc_op_call *call, const mxci_gemm_args *g, int relu, void *sums, int *served) {
    *served = g->dtype != MXC_F64 && g->batch == 1;
    if (!*served)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(g->dtype, queue_epilogue, call, *g, relu, sums)
}

mxc_status mxcu_gemm_bias_relu(const mxc_op_call *call, const mxci_gemm_args *g, int relu, int *served) {
    return multiply(call, g, relu, nullptr, served);
}

mxc_status mxcu_gemm_bias_gradient(const mxc_op_call *call, const mxci_gemm_args *g, void *sums, int *served) {
    return multiply(call, g, 0, sums, served);
}

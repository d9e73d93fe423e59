/* SPDX-License-Identifier: Apache-2.0 */
/* Biases and their gradients (nn/bias.h). */
#include "cuda/operator/nn/bias.h"

#include "cuda/runtime/blas.h"
#include "cuda/runtime/kernel.h"

/* A team per row: rows of d elements of one channel, or of all channels where d is 1. Neighbouring threads write
 * neighbours in both cases. */
template <class T>
static mxc_status put(const mxc_op_call *call, mxc_req req, const mxc_tensor *to, const mxc_tensor *bias, int64_t d) {
    const int64_t c = mxcu_size(bias), width = d == 1 ? c : d;
    mxcu_in<T> b = mxcu_data<T>(bias);
    mxcu_out<T> y = {mxcu_pointer<T>(to->data), req == MXC_REQ_ADD};
    if (mxcu_size(to) == 0)
        return MXC_OK;
    return mxcu_rows(call, mxcu_size(to) / width, width, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        for (int64_t i = team.rank; i < width; i += team.size)
            y.put(row * width + i, b[d == 1 ? i : row % c]);
    });
}

mxc_status mxcu_bias_put(const mxc_op_call *call, mxc_req req, const mxc_tensor *to, const mxc_tensor *bias,
                         int64_t d) {
    MXCU_SWITCH_FLOAT(to->dtype, put, call, req, to, bias, d)
}

/* A team per channel; threads stride over (n, d), which is coalesced where d is large. The order of additions depends
 * on sizes only. */
template <class T>
static mxc_status sum(const mxc_op_call *call, mxc_req req, const mxc_tensor *grad, const mxc_tensor *from, int64_t d) {
    const int64_t c = mxcu_size(grad), n = d ? mxcu_size(from) / (c * d) : 0;
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = {mxcu_pointer<T>(grad->data), req == MXC_REQ_ADD};
    return mxcu_rows(call, c, n * d, [=] MXCU_LAMBDA(int64_t channel, mxcu_team team) {
        mxcu_compute_t<T> total = 0;
        for (int64_t i = team.rank; i < n * d; i += team.size) {
            int64_t sample = mxcu_divide(i, d);
            total += x[(sample * c + channel) * d + i - sample * d];
        }
        total = team.sum(total);
        if (team.rank == 0)
            y.put(channel, total);
    });
}

mxc_status mxcu_bias_sum(const mxc_op_call *call, mxc_req req, const mxc_tensor *grad, const mxc_tensor *from,
                         int64_t d) {
    MXCU_SWITCH_FLOAT(grad->dtype, sum, call, req, grad, from, d)
}

template <class T> static mxc_status fill_ones(const mxc_op_call *call, void *to, int64_t n) {
    mxcu_out<T> y = {mxcu_pointer<T>(to), 0};
    return mxcu_for(call, n, [=] MXCU_LAMBDA(int64_t i) { y.put(i, 1); });
}

static mxc_status ones(const mxc_op_call *call, mxc_dtype dtype, void *to, int64_t n) {
    MXCU_SWITCH_FLOAT(dtype, fill_ones, call, to, n)
}

/* For D = 1 a team per channel would read with stride C. A product with a row of ones reads memory in order, at the
 * speed of cuBLASLt. */
mxc_status mxcu_bias_sum_rows(const mxc_op_call *call, mxc_req req, mxc_dtype dtype, void *grad, const void *from,
                              int64_t n, int64_t c, void *temp) {
    mxci_gemm_args g = MXCI_GEMM_INIT;
    MXC_TRY(ones(call, dtype, temp, n));
    g.dtype = dtype;
    g.m = 1, g.n = c, g.k = n;
    g.a = temp, g.b = from, g.c = grad;
    g.lda = n, g.ldb = c, g.ldc = c;
    g.beta = req == MXC_REQ_ADD;
    return mxcu_gemm(call, &g);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* FullyConnected, and _fc_relu with the relu behind it: products of cuBLASLt. The bias, its gradient and the relu are
 * epilogues of the products where the library has such kernels, else separate launches. */
#include "operator/nn/fully_connected.h"

#include "cuda/operator/linalg/matmul.h"
#include "cuda/operator/nn/bias.h"
#include "cuda/runtime/kernel.h"

enum { DATA, WEIGHT, BIAS };

/* out (N,H) = data (N,K) weight (H,K)'. */
static mxci_matmul fc_of(const mxc_op_call *call) {
    const mxc_shape *out = &call->out[0].shape, *weight = &call->in[WEIGHT].shape;
    return {1, mxci_shape_count(out, 0, out->ndim - 1), weight->dim[0], weight->dim[1], 1, 0, 1, 1};
}

static mxci_gemm_args fc_product(const mxc_op_call *call, const mxci_matmul *p) {
    mxci_gemm_args g = mxci_matmul_args_c(p, call->in[DATA].data, call->in[WEIGHT].data);
    g.dtype = call->out[0].dtype;
    g.c = call->out[0].data;
    g.beta = call->req[0] == MXC_REQ_ADD;
    return g;
}

/* By the epilogue; else every row of out begins as the bias, and the product is added. */
static mxc_status fc_with_bias(const mxc_op_call *call, const mxci_matmul *p) {
    const mxc_tensor *out = &call->out[0];
    mxci_gemm_args g = fc_product(call, p);
    int served;
    g.bias = call->in[BIAS].data;
    MXC_TRY(mxcu_gemm_bias_relu(call, &g, 0, &served));
    if (served)
        return MXC_OK;
    MXC_TRY(mxcu_bias_put(call, call->req[0], out, &call->in[BIAS], 1));
    g.bias = nullptr;
    g.beta = 1;
    return mxcu_gemm(call, &g);
}

static mxc_status fc_forward(const mxc_op_call *call) {
    mxci_matmul p = fc_of(call);
    mxci_gemm_args g = fc_product(call, &p);
    if (call->req[0] == MXC_REQ_NULL || mxcu_size(&call->out[0]) == 0)
        return MXC_OK;
    return call->n_in > BIAS ? fc_with_bias(call, &p) : mxcu_gemm(call, &g);
}

/* n elements of out, from `at` on, = or += relu(from). A thread per element. */
template <class T> static mxc_status put_relu(const mxc_op_call *call, int64_t at, int64_t n, void *from) {
    mxcu_in<T> x = {mxcu_pointer<const T>(from)};
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, n, [=] MXCU_LAMBDA(int64_t i) { y.put(at + i, x[i] < 0 ? 0 : x[i]); });
}

static mxc_status put_relu_of(const mxc_op_call *call, int64_t at, int64_t n, void *from) {
    MXCU_SWITCH_FLOAT(call->out[0].dtype, put_relu, call, at, n, from)
}

/* `rows` rows of the product from `row` on, computed where out is or, if out is to be added to, in scratch; then relu
 * of them. */
static mxc_status fc_rows_relu(const mxc_op_call *call, const mxci_gemm_args *all, int64_t row, int64_t rows) {
    const int64_t bytes = mxcu_element_bytes(all->dtype), at = row * all->n, n = rows * all->n;
    mxci_gemm_args g = *all;
    mxc_tensor to = call->out[0];
    g.m = rows;
    g.a = static_cast<const char *>(all->a) + row * all->lda * bytes;
    to.data = g.c = all->beta ? call->temp : static_cast<char *>(all->c) + at * bytes;
    to.shape.ndim = 2;
    to.shape.dim[0] = rows, to.shape.dim[1] = all->n;
    g.bias = nullptr;
    g.beta = all->bias != nullptr;
    if (all->bias)
        MXC_TRY(mxcu_bias_put(call, MXC_REQ_WRITE, &to, &call->in[BIAS], 1));
    MXC_TRY(mxcu_gemm(call, &g));
    return put_relu_of(call, at, n, g.c);
}

/* Without the epilogue: all rows at once; or, if out is to be added to, which executors do not ask for, row by row, so
 * that scratch holds one. */
static mxc_status fc_relu_forward(const mxc_op_call *call) {
    const mxci_matmul p = fc_of(call);
    mxci_gemm_args g = fc_product(call, &p);
    const int64_t rows = g.beta ? 1 : p.m;
    int served = 0;
    if (call->req[0] == MXC_REQ_NULL || mxcu_size(&call->out[0]) == 0)
        return MXC_OK;
    g.bias = call->n_in > BIAS ? call->in[BIAS].data : nullptr;
    if (!g.beta)
        MXC_TRY(mxcu_gemm_bias_relu(call, &g, 1, &served));
    for (int64_t row = 0; row < p.m && !served; row += rows)
        MXC_TRY(fc_rows_relu(call, &g, row, rows));
    return MXC_OK;
}

/* A row of out, for sums. */
static size_t fc_relu_temp(const mxc_op_sig *sig, mxc_pass) {
    return mxci_size_of(sig->in_shape[WEIGHT].dim[0], (size_t)mxcu_element_bytes(sig->in_type[DATA]));
}

/* N ones, for mxcu_bias_sum_rows. */
static size_t fc_temp(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *out = &sig->out_shape[0];
    const size_t rows =
        mxci_size_of(mxci_shape_count(out, 0, out->ndim - 1), (size_t)mxcu_element_bytes(sig->in_type[DATA]));
    return pass == MXC_BACKWARD && sig->n_in > BIAS ? rows : 0;
}

/* The gradients of weight and bias by one product: dW (H,K) = dy' x, whose epilogue sums the rows of dy' (H,N). Only
 * where both are wanted and the bias' is overwritten. */
static mxc_status fc_weight_and_bias(const mxc_op_call *call, const mxci_matmul *p, int *served) {
    mxci_gemm_args g = mxci_matmul_args_b(p, call->in[DATA].data, call->out_grad[0].data);
    const mxc_req bias = call->req[BIAS];
    *served = 0;
    if (call->req[WEIGHT] == MXC_REQ_NULL || bias == MXC_REQ_NULL || bias == MXC_REQ_ADD || p->m == 0)
        return MXC_OK;
    g.dtype = call->in_grad[WEIGHT].dtype;
    g.c = call->in_grad[WEIGHT].data;
    g.beta = call->req[WEIGHT] == MXC_REQ_ADD;
    return mxcu_gemm_bias_gradient(call, &g, call->in_grad[BIAS].data, served);
}

/* dx = dy W; dW and db by one product, or by one each. */
static mxc_status fc_backward(const mxc_op_call *call) {
    mxci_matmul p = fc_of(call);
    const void *grad = call->out_grad[0].data;
    int served = 0;
    MXC_TRY(mxcu_matmul(call, &p, call->req[DATA], &call->in_grad[DATA],
                        mxci_matmul_args_a(&p, grad, call->in[WEIGHT].data)));
    if (call->n_in > BIAS)
        MXC_TRY(fc_weight_and_bias(call, &p, &served));
    if (served)
        return MXC_OK;
    MXC_TRY(mxcu_matmul(call, &p, call->req[WEIGHT], &call->in_grad[WEIGHT],
                        mxci_matmul_args_b(&p, call->in[DATA].data, grad)));
    if (call->n_in <= BIAS || call->req[BIAS] == MXC_REQ_NULL)
        return MXC_OK;
    return mxcu_bias_sum_rows(call, call->req[BIAS], call->in_grad[BIAS].dtype, call->in_grad[BIAS].data, grad, p.m,
                              p.n, call->temp);
}

MXCU_OP_IMPLS(fully_connected, {"FullyConnected", fc_forward, fc_backward, fc_temp},
              {"_fc_relu", fc_relu_forward, nullptr, fc_relu_temp})

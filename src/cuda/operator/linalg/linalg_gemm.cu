/* SPDX-License-Identifier: Apache-2.0 */
/* _linalg_gemm, _linalg_gemm2, _linalg_syrk: products of cuBLASLt (linalg/matmul.h). */
#include "operator/linalg/linalg_gemm.h"

#include "cuda/operator/linalg/matmul.h"
#include "cuda/runtime/kernel.h"

static mxci_matmul gemm_of(const mxc_op_call *call) {
    return mxci_linalg_gemm_sizes(static_cast<const mxci_linalg_gemm_params *>(call->params), &call->in[0].shape,
                                  &call->in[1].shape);
}

static mxc_status gemm2_forward(const mxc_op_call *call) {
    mxci_matmul p = gemm_of(call);
    return mxcu_matmul_forward(call, &p);
}

static mxc_status gemm2_backward(const mxc_op_call *call) {
    mxci_matmul p = gemm_of(call);
    return mxcu_matmul_backward(call, &p);
}

/* to = or += beta from; a thread per element. */
template <class T>
static mxc_status put_scaled_as(const mxc_op_call *call, mxc_req req, const mxc_tensor *to, const mxc_tensor *from) {
    const mxcu_compute_t<T> beta = static_cast<const mxci_linalg_gemm_params *>(call->params)->beta;
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = {mxcu_pointer<T>(to->data), req == MXC_REQ_ADD};
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t i) { y.put(i, beta * x[i]); });
}

static mxc_status put_scaled(const mxc_op_call *call, mxc_req req, const mxc_tensor *to, const mxc_tensor *from) {
    if (req == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_REAL(to->dtype, put_scaled_as, call, req, to, from)
}

/* out starts as beta C, and the product is added. */
static mxc_status gemm_forward(const mxc_op_call *call) {
    mxci_matmul p = gemm_of(call);
    const mxc_tensor *out = &call->out[0];
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(put_scaled(call, call->req[0], out, &call->in[2]));
    return mxcu_matmul(call, &p, MXC_REQ_ADD, out, mxci_matmul_args_c(&p, call->in[0].data, call->in[1].data));
}

static mxc_status gemm_backward(const mxc_op_call *call) {
    MXC_TRY(gemm2_backward(call));
    return put_scaled(call, call->req[2], &call->in_grad[2], &call->out_grad[0]);
}

static mxci_matmul syrk_of(const mxc_op_call *call) {
    return mxci_syrk_sizes(static_cast<const mxci_syrk_params *>(call->params), &call->in[0].shape);
}

static mxc_status syrk_forward(const mxc_op_call *call) {
    mxci_matmul p = syrk_of(call);
    return mxcu_matmul(call, &p, call->req[0], &call->out[0],
                       mxci_matmul_args_c(&p, call->in[0].data, call->in[0].data));
}

/* A is both operands, so its gradient is the sum of two products. */
static mxc_status syrk_backward(const mxc_op_call *call) {
    mxci_matmul p = syrk_of(call);
    const void *a = call->in[0].data, *g = call->out_grad[0].data;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXC_TRY(mxcu_matmul(call, &p, call->req[0], &call->in_grad[0], mxci_matmul_args_a(&p, g, a)));
    return mxcu_matmul(call, &p, MXC_REQ_ADD, &call->in_grad[0], mxci_matmul_args_b(&p, a, g));
}

MXCU_OP_IMPLS(linalg_gemm, {"_linalg_gemm", gemm_forward, gemm_backward},
              {"_linalg_gemm2", gemm2_forward, gemm2_backward}, {"_linalg_syrk", syrk_forward, syrk_backward})

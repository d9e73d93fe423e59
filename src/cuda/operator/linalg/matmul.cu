/* SPDX-License-Identifier: Apache-2.0 */
/* Products of batches of matrices (linalg/matmul.h). */
#include "cuda/operator/linalg/matmul.h"

#include "cuda/runtime/kernel.h"

/* One batched call, unless the batch has axes between the matrix axes (between > 1), whose products lie interleaved in
 * memory: these are spread over one call per batch element. */
mxc_status mxcu_matmul(const mxc_op_call *call, const mxci_matmul *p, mxc_req req, const mxc_tensor *c,
                       mxci_gemm_args g) {
    if (req == MXC_REQ_NULL || mxcu_size(c) == 0)
        return MXC_OK;
    g.dtype = c->dtype;
    g.c = c->data;
    g.beta = req == MXC_REQ_ADD;
    if (p->interleaved == 1)
        return mxcu_gemm(call, &g);
    for (int64_t i = 0; i < p->batch; i++) {
        mxci_gemm_args one = mxci_matmul_interleaved(&g, p->interleaved, i, mxcu_element_bytes(g.dtype));
        MXC_TRY(mxcu_gemm(call, &one));
    }
    return MXC_OK;
}

mxc_status mxcu_matmul_forward(const mxc_op_call *call, const mxci_matmul *p) {
    return mxcu_matmul(call, p, call->req[0], &call->out[0], mxci_matmul_args_c(p, call->in[0].data, call->in[1].data));
}

mxc_status mxcu_matmul_backward(const mxc_op_call *call, const mxci_matmul *p) {
    const void *a = call->in[0].data, *b = call->in[1].data, *g = call->out_grad[0].data;
    MXC_TRY(mxcu_matmul(call, p, call->req[0], &call->in_grad[0], mxci_matmul_args_a(p, g, b)));
    return mxcu_matmul(call, p, call->req[1], &call->in_grad[1], mxci_matmul_args_b(p, a, g));
}

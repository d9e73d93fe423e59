/* SPDX-License-Identifier: Apache-2.0 */
/* Attention on interleaved projections (operator/contrib/interleaved_matmul.c): strided batched products. */
#include "operator/contrib/interleaved_matmul.h"

#include "cuda/runtime/blas.h"
#include "cuda/runtime/gradient.h"

/* Of products over no elements, which cuBLAS does not take, the result is 0. */
static mxc_status run(const mxc_op_call *call, mxci_interleaved_kind kind, mxc_pass pass) {
    mxci_interleaved_step steps[2];
    const mxc_tensor *results = pass == MXC_FORWARD ? call->out : call->in_grad;
    const int n = mxci_interleaved_steps(call, kind, pass, (size_t)mxcu_element_bytes(call->in[0].dtype), steps);
    /* parts of a projection that the product does not read have a gradient of 0 */
    for (int i = 0; i < call->n_in && pass == MXC_BACKWARD; i++)
        if (call->req[i] != MXC_REQ_NULL)
            MXC_TRY(mxcu_no_gradient(call, i));
    for (int i = 0; i < n; i++) {
        mxci_gemm_args *g = &steps[i].gemm;
        const mxc_req req = call->req[steps[i].result];
        g->beta = req == MXC_REQ_ADD;
        if (req == MXC_REQ_NULL || g->batch == 0 || g->m == 0 || g->n == 0)
            continue;
        if (g->k == 0)
            MXC_TRY(mxcu_put_constant(call, &results[steps[i].result], steps[i].result, 0));
        else
            MXC_TRY(mxcu_gemm(call, g));
    }
    return MXC_OK;
}

template <mxci_interleaved_kind kind> static mxc_status forward(const mxc_op_call *call) {
    return run(call, kind, MXC_FORWARD);
}

template <mxci_interleaved_kind kind> static mxc_status backward(const mxc_op_call *call) {
    return run(call, kind, MXC_BACKWARD);
}

MXCU_OP_IMPLS(interleaved_matmul,
              {"_contrib_interleaved_matmul_selfatt_qk", forward<MXCI_SELF_QK>, backward<MXCI_SELF_QK>},
              {"_contrib_interleaved_matmul_selfatt_valatt", forward<MXCI_SELF_VALUE>, backward<MXCI_SELF_VALUE>},
              {"_contrib_interleaved_matmul_encdec_qk", forward<MXCI_CROSS_QK>, backward<MXCI_CROSS_QK>},
              {"_contrib_interleaved_matmul_encdec_valatt", forward<MXCI_CROSS_VALUE>, backward<MXCI_CROSS_VALUE>})

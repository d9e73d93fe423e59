/* SPDX-License-Identifier: Apache-2.0 */
/* dot and batch_dot: products of cuBLASLt (linalg/matmul.h). batched: 1 for batch_dot. */
#include "operator/linalg/dot.h"

#include "cuda/operator/linalg/matmul.h"

template <int batched> static mxci_matmul dot_of(const mxc_op_call *call) {
    return mxci_dot_sizes(&call->in[0].shape, &call->in[1].shape, static_cast<const mxci_dot_params *>(call->params),
                          batched);
}

template <int batched> static mxc_status dot_forward(const mxc_op_call *call) {
    mxci_matmul p = dot_of<batched>(call);
    return mxcu_matmul_forward(call, &p);
}

template <int batched> static mxc_status dot_backward(const mxc_op_call *call) {
    mxci_matmul p = dot_of<batched>(call);
    return mxcu_matmul_backward(call, &p);
}

MXCU_OP_IMPLS(dot, {"dot", dot_forward<0>, dot_backward<0>}, {"batch_dot", dot_forward<1>, dot_backward<1>})

/* SPDX-License-Identifier: Apache-2.0 */
/* shape_array, size_array, _contrib_index_array: numbers that follow from the shape of data, which the host knows. */
#include "cuda/runtime/gradient.h"
#include "operator/tensor/shape_array.h"

/* A thread per axis. */
static mxc_status shape_forward(const mxc_op_call *call) {
    const mxc_shape shape = call->in[0].shape;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    mxcu_out<int64_t> y = mxcu_result<int64_t>(call, &call->out[0], 0);
    return mxcu_for(call, shape.ndim, [=] MXCU_LAMBDA(int64_t i) { y.put(i, shape.dim[i]); });
}

static mxc_status size_forward(const mxc_op_call *call) {
    const int64_t size = mxcu_size(&call->in[0]);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    mxcu_out<int64_t> y = mxcu_result<int64_t>(call, &call->out[0], 0);
    return mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t i) { y.put(i, size); });
}

/* A thread per element of out, so that neighbouring threads write neighbours. */
static mxc_status index_forward(const mxc_op_call *call) {
    const mxci_index_axes axes = mxci_index_axes_of(call->params, &call->in[0].shape);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    mxcu_out<int64_t> y = mxcu_result<int64_t>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t i = mxcu_divide(at, axes.n);
        const int k = (int)(at - i * axes.n);
        y.put(at, mxcu_divide(i, axes.step[k]) % axes.dim[k]);
    });
}

MXCU_OP_IMPLS(shape_array, {"shape_array", shape_forward, mxcu_zero_gradient},
              {"size_array", size_forward, mxcu_zero_gradient},
              {"_contrib_index_array", index_forward, mxcu_zero_gradient})

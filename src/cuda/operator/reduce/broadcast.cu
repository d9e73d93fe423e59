/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast_axis, broadcast_to, broadcast_like, _broadcast; a thread per element of out. The gradient is a sum over the
 * axes that were broadcast (reduce.h). */
#include "cuda/operator/reduce/reduce.h"
#include "cuda/runtime/gradient.h"

template <class T> static mxc_status broadcast_as(const mxc_op_call *call) {
    mxcu_operand<T> x = mxcu_broadcast<T>(&call->in[0], &call->out[0].shape);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, x[i]); });
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(call->out[0].dtype, broadcast_as, call)
}

template <class T> struct broadcast_gradient {
    mxcu_in<T> g;
    MXCU_DEVICE double operator()(int64_t i) const {
        return g[i];
    }
};

template <class T> static mxc_status sum_broadcast(const mxc_op_call *call) {
    mxcu_reduction plan = mxcu_plan_broadcast(&call->in_grad[0].shape, &call->out_grad[0].shape);
    mxcu_summing<T, broadcast_gradient<T>> r = {
        {mxcu_data<T>(&call->out_grad[0])},
        mxcu_result<T>(call, &call->in_grad[0], 0),
    };
    return mxcu_reduce(call, &plan, r, call->temp);
}

static mxc_status backward(const mxc_op_call *call) {
    if (call->n_in > 1)
        MXC_TRY(mxcu_no_gradient(call, 1));
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (!mxci_is_broadcast(&call->in_grad[0].shape, &call->out_grad[0].shape))
        return mxcu_put(call, &call->in_grad[0], 0, &call->out_grad[0]);
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, sum_broadcast, call)
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    mxcu_reduction plan = mxcu_plan_broadcast(&sig->in_shape[0], &sig->out_shape[0]);
    return pass == MXC_BACKWARD ? mxcu_reduction_bytes(&plan) : 0;
}

MXCU_OP_IMPLS(reduce_broadcast, {"broadcast_axis", forward, backward, temp_bytes},
              {"broadcast_to", forward, backward, temp_bytes}, {"_broadcast", forward, backward, temp_bytes},
              {"broadcast_like", forward, backward, temp_bytes})

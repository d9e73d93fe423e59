/* Operators that hand their input on: identity, BlockGrad. */
#include "cuda/kernel.h"

template <class T> static mxc_status copy_elements(const mxc_op_call *call, const mxc_tensor *from, const mxc_tensor *to) {
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t i) { y.put(i, x[i]); });
}

static mxc_status copy(const mxc_op_call *call, const mxc_tensor *from, const mxc_tensor *to) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, copy_elements, call, from, to)
}

static mxc_status forward(const mxc_op_call *call) {
    return copy(call, &call->in[0], &call->out[0]);
}

static mxc_status backward(const mxc_op_call *call) {
    return copy(call, &call->out_grad[0], &call->in_grad[0]);
}

MXCU_FORMS(copy, {"_copy", forward, backward}, {"BlockGrad", forward})

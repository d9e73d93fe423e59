/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that copy their input or give constants: _copy, BlockGrad, zeros_like, ones_like; and the copies, constants
 * and zero gradients of other operators (runtime/gradient.h). Copies are kernels, a thread per element, not
 * cudaMemcpyAsync, since a request may be to add. */
#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"

/* ---- copies ------------------------------------------------------------------------------------------------------ */

template <class T>
static mxc_status copy_elements(const mxc_op_call *call, const mxc_tensor *to, int i, const mxc_tensor *from) {
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, i);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t at) { y.put(at, x[at]); });
}

mxc_status mxcu_put(const mxc_op_call *call, const mxc_tensor *to, int i, const mxc_tensor *from) {
    if (call->req[i] == MXC_REQ_NULL || (to->data == from->data && call->req[i] != MXC_REQ_ADD))
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, copy_elements, call, to, i, from)
}

static mxc_status forward(const mxc_op_call *call) {
    return mxcu_put(call, &call->out[0], 0, &call->in[0]);
}

static mxc_status backward(const mxc_op_call *call) {
    return mxcu_put(call, &call->in_grad[0], 0, &call->out_grad[0]);
}

/* ---- constants --------------------------------------------------------------------------------------------------- */

template <class T> static mxc_status put_number(const mxc_op_call *call, const mxc_tensor *to, int i, double value) {
    mxcu_compute_t<T> x = mxcu_parameter<T>(value);
    mxcu_out<T> y = mxcu_result<T>(call, to, i);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t at) { y.put(at, x); });
}

mxc_status mxcu_put_constant(const mxc_op_call *call, const mxc_tensor *to, int i, double value) {
    if (call->req[i] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, put_number, call, to, i, value)
}

mxc_status mxcu_no_gradient(const mxc_op_call *call, int i) {
    return call->req[i] == MXC_REQ_ADD ? MXC_OK : mxcu_put_constant(call, &call->in_grad[i], i, 0);
}

mxc_status mxcu_zero_gradient(const mxc_op_call *call) {
    for (int i = 0; i < call->n_in; i++)
        MXC_TRY(mxcu_no_gradient(call, i));
    return MXC_OK;
}

static mxc_status zeros(const mxc_op_call *call) {
    return mxcu_put_constant(call, &call->out[0], 0, 0);
}

static mxc_status ones(const mxc_op_call *call) {
    return mxcu_put_constant(call, &call->out[0], 0, 1);
}

MXCU_OP_IMPLS(copy, {"_copy", forward, backward}, {"BlockGrad", forward, mxcu_zero_gradient},
              {"zeros_like", zeros, mxcu_zero_gradient}, {"ones_like", ones, mxcu_zero_gradient})

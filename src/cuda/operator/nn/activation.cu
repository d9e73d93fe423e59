/* SPDX-License-Identifier: Apache-2.0 */
/* Activation: a function of each element, chosen by act_type; a thread per element. act_type is the same for all
 * threads, so the switch in the kernel does not diverge. */
#include "operator/nn/activation.h"

#include "cuda/runtime/kernel.h"
#include "cuda/runtime/overload.h"
#include "math/fastmath.h"
#include "operator/nn/activation_kernels.h"

#define BODY "operator/nn/activation_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

MXCU_OVERLOAD(activate, act_activate, (int kind, float x), (int kind, double x), (kind, x))
MXCU_OVERLOAD(derivative, act_derivative, (int kind, float y), (int kind, double y), (kind, y))

static int activation_kind(const mxc_op_call *call) {
    return static_cast<const mxci_activation_params *>(call->params)->act_type;
}

template <class T> static mxc_status forward_as(const mxc_op_call *call) {
    const int kind = activation_kind(call);
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, activate(kind, x[i])); });
}

/* All derivatives but mish's are functions of the output, so the input is not kept. */
template <class T> static mxc_status backward_as(const mxc_op_call *call) {
    const int kind = activation_kind(call);
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]);
    mxcu_in<T> value = mxcu_data<T>(kind == MXCI_ACT_MISH ? &call->in[0] : &call->out[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]),
                    [=] MXCU_LAMBDA(int64_t i) { dx.put(i, g[i] * derivative(kind, value[i])); });
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, forward_as, call)
}

static mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, backward_as, call)
}

MXCU_OP_IMPLS(activation, {"Activation", forward, backward})

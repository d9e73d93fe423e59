/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_quadratic; a thread per element. The functions are the CPU's C source (simpleop/quadratic_kernels.inc). */
#include "simpleop/quadratic.h"

#include "cuda/runtime/convert.h"
#include "cuda/runtime/overload.h"
#include "math/loop.h"

#define BODY "simpleop/quadratic_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

MXCU_OVERLOAD_4(quadratic, quadratic_op)
MXCU_OVERLOAD_4(quadratic_gradient, quadratic_grad_op)

template <class T> static mxc_status run(const mxc_op_call *call) {
    const mxci_quadratic_params *p = static_cast<const mxci_quadratic_params *>(call->params);
    const mxcu_compute_t<T> a = mxcu_parameter<T>(p->a), b = mxcu_parameter<T>(p->b), c = mxcu_parameter<T>(p->c);
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, quadratic(x[i], a, b, c)); });
}

template <class T> static mxc_status run_gradient(const mxc_op_call *call) {
    const mxci_quadratic_params *p = static_cast<const mxci_quadratic_params *>(call->params);
    const mxcu_compute_t<T> a = mxcu_parameter<T>(p->a), b = mxcu_parameter<T>(p->b);
    mxcu_in<T> g = mxcu_data<T>(&call->out_grad[0]), x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]),
                    [=] MXCU_LAMBDA(int64_t i) { dx.put(i, quadratic_gradient(g[i], x[i], a, b)); });
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, run, call)
}

static mxc_status backward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, run_gradient, call)
}

MXCU_OP_IMPLS(quadratic, {"_contrib_quadratic", forward, backward})

/* SPDX-License-Identifier: Apache-2.0 */
/* _ravel_multi_index and _unravel_index; a thread per number. */
#include "operator/index/ravel.h"

#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"

static mxc_tuple shape_of(const mxc_op_call *call) {
    return static_cast<const mxci_ravel_params *>(call->params)->shape;
}

template <class T> static mxc_status ravel_as(const mxc_op_call *call) {
    const mxc_tuple shape = shape_of(call);
    const int64_t n = mxcu_size(&call->out[0]);
    mxcu_any x = mxcu_any_data(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, n, [=] MXCU_LAMBDA(int64_t k) {
        int64_t number = x.as<int64_t>(k);
        for (int i = 1; i < shape.n; i++)
            number = mxci_ravel_step(number, shape.value[i], x.as<int64_t>(i * n + k));
        y.put(k, mxcu_converted<T>(number));
    });
}

template <class T> static mxc_status unravel_as(const mxc_op_call *call) {
    const mxc_tuple shape = shape_of(call);
    const int64_t n = mxcu_size(&call->in[0]);
    mxcu_any x = mxcu_any_data(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, n, [=] MXCU_LAMBDA(int64_t k) {
        int64_t number = x.as<int64_t>(k);
        for (int i = shape.n - 1; i > 0; i--) {
            y.put(i * n + k, mxcu_converted<T>(number % shape.value[i]));
            number /= shape.value[i];
        }
        y.put(k, mxcu_converted<T>(number));
    });
}

static mxc_status ravel(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_NUMBER(call->out[0].dtype, ravel_as, call)
}

static mxc_status unravel(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_NUMBER(call->out[0].dtype, unravel_as, call)
}

MXCU_OP_IMPLS(ravel, {"_ravel_multi_index", ravel, mxcu_zero_gradient}, {"_unravel_index", unravel, mxcu_zero_gradient})

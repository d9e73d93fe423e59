/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that create arrays: _zeros, _ones, _full, _set_value, _arange. */
#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"
#include "operator/tensor/create.h"

static mxc_status zeros(const mxc_op_call *call) {
    return mxcu_put_constant(call, &call->out[0], 0, 0);
}

static mxc_status ones(const mxc_op_call *call) {
    return mxcu_put_constant(call, &call->out[0], 0, 1);
}

static mxc_status set_value(const mxc_op_call *call) {
    return mxcu_put_constant(call, &call->out[0], 0, static_cast<const mxci_set_params *>(call->params)->src);
}

template <class T> static mxc_status put_range(const mxc_op_call *call) {
    const mxci_arange_params *p = static_cast<const mxci_arange_params *>(call->params);
    const double start = p->start, step = p->step;
    const int64_t repeat = p->repeat;
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]),
                    [=] MXCU_LAMBDA(int64_t i) { y.put(i, mxcu_converted<T>(start + step * (double)(i / repeat))); });
}

static mxc_status arange(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_NUMBER(call->out[0].dtype, put_range, call)
}

MXCU_OP_IMPLS(create, {"_zeros", zeros}, {"_ones", ones}, {"_set_value", set_value}, {"_full", set_value},
              {"_arange", arange})

/* SPDX-License-Identifier: Apache-2.0 */
/* multi_lars: a thread per weight. */
#include "cuda/runtime/kernel.h"
#include "operator/update/update.h"

template <class T> static mxc_status forward(const mxc_op_call *call) {
    const mxci_lars_params p = *static_cast<const mxci_lars_params *>(call->params);
    mxcu_in<T> lr = mxcu_data<T>(&call->in[0]), weight = mxcu_data<T>(&call->in[1]), grad = mxcu_data<T>(&call->in[2]),
               wd = mxcu_data<T>(&call->in[3]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        y.put(i,
              (mxcu_compute_t<T>)mxci_lars_rate(&p, (double)lr[i], (double)weight[i], (double)grad[i], (double)wd[i]));
    });
}

static mxc_status multi_lars(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, forward, call)
}

MXCU_OP_IMPLS(lars, {"multi_lars", multi_lars})

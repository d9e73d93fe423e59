/* SPDX-License-Identifier: Apache-2.0 */
/* SVMOutput: forward copies data; the gradient is that of the hinge loss, L1 or squared; a thread per element. */
#include "operator/loss/losses.h"

#include "cuda/runtime/gradient.h"

enum { DATA, LABEL };

static mxc_status forward(const mxc_op_call *call) {
    return mxcu_put(call, &call->out[0], 0, &call->in[DATA]);
}

template <class T> static mxc_status hinge(const mxc_op_call *call) {
    const mxci_svm_params p = *static_cast<const mxci_svm_params *>(call->params);
    const int64_t classes = call->out[0].shape.dim[call->out[0].shape.ndim - 1];
    mxcu_in<T> y = mxcu_data<T>(&call->out[0]), label = mxcu_data<T>(&call->in[LABEL]);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[DATA], DATA);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = i / classes;
        const int is_label = (double)(i - row * classes) == (double)label[row];
        dx.put(i, (mxcu_compute_t<T>)mxci_svm_derivative(&p, is_label, (double)y[i]));
    });
}

static mxc_status backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, LABEL));
    if (call->req[DATA] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, hinge, call)
}

MXCU_OP_IMPLS(svm_output, {"SVMOutput", forward, backward})

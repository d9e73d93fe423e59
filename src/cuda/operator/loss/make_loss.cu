/* SPDX-License-Identifier: Apache-2.0 */
/* make_loss and MakeLoss: forward copies data; the gradient is a constant, which MakeLoss divides by the batch or by
 * the number of valid elements (loss/count.h). */
#include "operator/loss/losses.h"

#include "cuda/operator/loss/count.h"
#include "cuda/runtime/gradient.h"

static mxc_status forward(const mxc_op_call *call) {
    return mxcu_put(call, &call->out[0], 0, &call->in[0]);
}

static mxc_status one_gradient(const mxc_op_call *call) {
    return mxcu_put_constant(call, &call->in_grad[0], 0, 1);
}

template <class T> static mxc_status valid_gradient(const mxc_op_call *call, double scale) {
    const double *divisor = mxcu_temp<double>(call, 0);
    mxcu_out<T> dx = mxcu_result<T>(call, &call->in_grad[0], 0);
    return mxcu_for(call, mxcu_size(&call->in_grad[0]),
                    [=] MXCU_LAMBDA(int64_t i) { dx.put(i, (mxcu_compute_t<T>)(scale / *divisor)); });
}

static mxc_status make_loss_backward(const mxc_op_call *call) {
    const mxci_make_loss_params *p = static_cast<const mxci_make_loss_params *>(call->params);
    const mxc_shape *shape = &call->in[0].shape;
    const int64_t batch = p->normalization == MXCI_NORM_BATCH && shape->ndim > 0 ? shape->dim[0] : 1;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (p->normalization != MXCI_NORM_VALID)
        return mxcu_put_constant(call, &call->in_grad[0], 0, p->grad_scale / (double)(batch > 0 ? batch : 1));
    MXC_TRY(mxcu_count(call, &call->in[0], p->valid_thresh, MXCU_COUNT_ABOVE));
    MXCU_SWITCH_FLOAT(call->in_grad[0].dtype, valid_gradient, call, p->grad_scale)
}

static size_t make_loss_temp(const mxc_op_sig *sig, mxc_pass pass) {
    const mxci_make_loss_params *p = static_cast<const mxci_make_loss_params *>(sig->params);
    return pass == MXC_BACKWARD && p->normalization == MXCI_NORM_VALID ? mxcu_count_bytes(&sig->in_shape[0]) : 0;
}

MXCU_OP_IMPLS(make_loss, {"make_loss", forward, one_gradient},
              {"MakeLoss", forward, make_loss_backward, make_loss_temp})

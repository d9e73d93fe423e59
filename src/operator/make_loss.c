/* make_loss: ends a network with a loss of its own: passes data through; data's gradient is 1, whatever comes from
 * above. */
#include "operator/common.h"

static mxc_status forward(const mxc_op_call *call) {
    mxci_put(call->run, call->req[0], &call->out[0], &call->in[0]);
    return MXC_OK;
}

static mxc_status backward(const mxc_op_call *call) {
    mxci_put_constant(call->run, call->req[0], &call->in_grad[0], 1);
    return MXC_OK;
}

const mxc_op_def mxci_op_make_loss = {
    .size = sizeof(mxc_op_def), .name = "make_loss",
    .doc = "out = data, as a loss: data's gradient is 1, whatever the gradient of out",
    .dtypes = MXC_DTYPES_FLOAT, .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = forward}, .backward = {[MXC_CPU] = backward}};

/* _CrossDeviceCopy: the same values on another context. The executor puts it where an array is used on another context
 * than the one it is made on. */
#include "operator/common.h"

static mxc_status copy_forward(const mxc_op_call *call) {
    mxci_put(call->run, call->req[0], &call->out[0], &call->in[0]);
    return MXC_OK;
}

static mxc_status copy_backward(const mxc_op_call *call) {
    mxci_put(call->run, call->req[0], &call->in_grad[0], &call->out_grad[0]);
    return MXC_OK;
}

const mxc_op_def mxci_op_cross_device_copy = {
    .size = sizeof(mxc_op_def),
    .name = "_CrossDeviceCopy",
    .doc = "output = data, on another context",
    .flags = MXC_OP_HIDDEN,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = copy_forward},
    .backward = {[MXC_CPU] = copy_backward},
};

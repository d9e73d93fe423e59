/* SPDX-License-Identifier: Apache-2.0 */
/* Cast: data converted to another dtype, as mxc_ndarray_copy_to converts; the gradient is converted back. */
#include "operator/tensor/cast.h"

#include <mxc/op.h>

#include "math/assign.h"

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_cast_params, dtype), .name = "dtype", .type = MXC_PARAM_DTYPE, .doc = "Dtype of out."},
    MXC_PARAM_END,
};

static mxc_status cast_infer_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), (mxc_dtype)((const mxci_cast_params *)sig->params)->dtype);
}

static mxc_status cast_forward(const mxc_op_call *call) {
    mxci_assign_cast(call->run, call->req[0], &call->out[0], &call->in[0]);
    return MXC_OK;
}

/* The gradient is converted the other way: in_grad has data's type. */
static mxc_status cast_backward(const mxc_op_call *call) {
    mxci_assign_cast(call->run, call->req[0], &call->in_grad[0], &call->out_grad[0]);
    return MXC_OK;
}

const mxc_op_def mxci_op_cast = {
    .size = sizeof(mxc_op_def),
    .name = "Cast",
    .aliases = "cast",
    .flags = MXC_OP_ELEMENTWISE,
    .doc = "out = data converted to dtype; floats are truncated towards 0 to integers, with saturation",
    .params = schema,
    .param_size = sizeof(mxci_cast_params),
    .infer_type = cast_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = cast_forward},
    .backward = {[MXC_CPU] = cast_backward},
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Flatten: (N, a, b, ...) to (N, a b ...), the same elements in the same order. */
#include "operator/tensor/flatten.h"

#include "math/assign.h"
#include "operator/infer.h"

/* The batch size goes both ways; of two axes also the other. */
mxc_status mxci_flatten_infer(mxc_op_sig *sig) {
    mxc_shape *data = &sig->in_shape[0], out = mxci_shape_axes(2), rest = *data;
    if (data->ndim == 0)
        return mxc_sig_fail(sig, "argument 'data': expected at least one axis, found a scalar");
    if (data->ndim > 0) {
        out.dim[0] = data->dim[0];
        rest.dim[0] = 1;
        out.dim[1] = mxc_shape_size(&rest);
    }
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    if (data->ndim > 0)
        data->dim[0] = sig->out_shape[0].dim[0];
    if (data->ndim == 2)
        data->dim[1] = sig->out_shape[0].dim[1];
    return MXC_OK;
}

/* In place where the memory plan allows it: the order of elements is the same. */
static mxc_status flatten_forward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[0]);
    return MXC_OK;
}

static mxc_status flatten_backward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->in_grad[0], &call->out_grad[0]);
    return MXC_OK;
}

static int flatten_quantized(const mxc_op *op, mxc_quantized *out) {
    (void)op;
    *out = (mxc_quantized){.op = "_contrib_quantized_flatten"};
    return 1;
}

const mxc_op_def mxci_op_flatten = {
    .size = sizeof(mxc_op_def),
    .name = "Flatten",
    .aliases = "flatten",
    .doc = "output (N, a b ...) = data (N, a, b, ...) with all axes but the first merged",
    .flags = MXC_OP_SAMPLEWISE,
    .infer_shape = mxci_flatten_infer,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END},
    .quantized = flatten_quantized,
    .forward = {[MXC_CPU] = flatten_forward},
    .backward = {[MXC_CPU] = flatten_backward},
};

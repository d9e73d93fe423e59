/* SPDX-License-Identifier: Apache-2.0 */
/* stack: arrays of one shape side by side along a new axis of out. */
#include "operator/tensor/concat.h"
#include "operator/tensor/concat_split.h"

typedef mxci_concat_params stack_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(stack_params, num_args), .name = "num_args", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 65536, .doc = "Number of arguments."},
    {MXC_PARAM_FIELD(stack_params, dim), .name = "axis", .type = MXC_PARAM_INT, .initial = "0",
     .doc = "Position of the new axis in out. Negative values count from the end."},
    MXC_PARAM_END,
};

/* All arguments have one shape: the first round finds it, the second sets it in each. */
static mxc_status share_shape(mxc_op_sig *sig, mxc_shape *common) {
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < sig->n_in; i++) {
            MXC_TRY(mxc_sig_set_shape(sig, i, common));
            *common = sig->in_shape[i];
        }
    return MXC_OK;
}

/* The arguments' shape, with the new axis, is out's, and the other way round. */
static mxc_status stack_infer_shape(mxc_op_sig *sig) {
    const stack_params *p = sig->params;
    mxc_shape part = {.ndim = -1}, out;
    int ndim, axis;
    MXC_TRY(share_shape(sig, &part));
    ndim = part.ndim >= 0 ? part.ndim + 1 : sig->out_shape[0].ndim;
    if (ndim < 0)
        return MXC_OK;
    if (ndim < 1 || ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "out would have %d axes, expected 1 to %d", ndim, MXC_MAX_NDIM);
    MXC_TRY(mxci_sig_axis(sig, p->dim, ndim, &axis));
    out = mxci_shape_axes(ndim);
    for (int i = 0; i < ndim; i++)
        out.dim[i] = i == axis ? p->num_args : part.ndim >= 0 ? part.dim[i - (i > axis)] : -1;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    part = mxci_shape_axes(ndim - 1);
    for (int i = 0; i < ndim - 1; i++)
        part.dim[i] = sig->out_shape[0].dim[i + (i >= axis)];
    return share_shape(sig, &part);
}

static int stack_axis_of(const mxc_op_call *call, const mxc_tensor *whole) {
    int64_t axis = ((const stack_params *)call->params)->dim;
    return (int)(axis < 0 ? axis + whole->shape.ndim : axis);
}

static mxc_status stack_forward(const mxc_op_call *call) {
    const mxc_tensor *out = &call->out[0];
    mxci_concat_arrays(call->run, call->req[0], out, call->n_in, call->in, stack_axis_of(call, out));
    return MXC_OK;
}

static mxc_status stack_backward(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->out_grad[0];
    mxci_split_array(call->run, call->req, grad, call->n_in, call->in_grad, stack_axis_of(call, grad));
    return MXC_OK;
}

const mxc_op_def mxci_op_stack = {
    .size = sizeof(mxc_op_def),
    .name = "stack",
    .doc = "out = the arguments, all of one shape, joined along a new axis",
    .params = schema,
    .param_size = sizeof(stack_params),
    .variadic = "num_args",
    .infer_shape = stack_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = stack_forward},
    .backward = {[MXC_CPU] = stack_backward},
};

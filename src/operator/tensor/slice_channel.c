/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SliceChannel (split): data split into num_outputs equal parts along an axis, an output each. With squeeze_axis, which
 * needs as many outputs as the axis has rows, the outputs lack the axis.
 */
#include "operator/op.h"
#include "operator/tensor/concat_split.h"

typedef mxci_split_params slice_channel_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(slice_channel_params, num_outputs), .name = "num_outputs", .type = MXC_PARAM_INT, .bounded = 1,
     .minimum = 1, .maximum = 65536, .doc = "Number of outputs."},
    {MXC_PARAM_FIELD(slice_channel_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "1",
     .doc = "Axis to split. Negative values count from the end."},
    {MXC_PARAM_FIELD(slice_channel_params, squeeze_axis), .name = "squeeze_axis", .type = MXC_PARAM_BOOL,
     .initial = "false", .doc = "Remove the axis, of size 1, from the outputs."},
    MXC_PARAM_END,
};

static int slice_channel_count_outputs(const void *params) {
    return (int)((const slice_channel_params *)params)->num_outputs;
}

static int slice_channel_axis_of(const mxc_op_call *call, const mxc_tensor *whole) {
    int64_t axis = ((const slice_channel_params *)call->params)->axis;
    return (int)(axis < 0 ? axis + whole->shape.ndim : axis);
}

/* The shape of a part from data's, or data's from that of a part. */
static mxc_shape convert(const slice_channel_params *p, const mxc_shape *from, int axis, int to_data) {
    int ndim = from->ndim + (p->squeeze_axis ? to_data ? 1 : -1 : 0);
    mxc_shape to = mxci_shape_axes(ndim);
    for (int i = 0; i < ndim; i++) {
        int source = !p->squeeze_axis || i < axis ? i : to_data ? i - 1 : i + 1;
        if (i != axis || (p->squeeze_axis && !to_data))
            to.dim[i] = from->dim[source];
        else if (p->squeeze_axis)
            to.dim[i] = p->num_outputs;
        else if (from->dim[i] >= 0)
            to.dim[i] = to_data ? from->dim[i] * p->num_outputs : from->dim[i] / p->num_outputs;
    }
    return to;
}

static mxc_status check_axis(const mxc_op_sig *sig, int axis) {
    const slice_channel_params *p = sig->params;
    int64_t dim = sig->in_shape[0].dim[axis];
    if (dim < 0 || (p->squeeze_axis ? dim == p->num_outputs : dim % p->num_outputs == 0))
        return MXC_OK;
    return mxc_sig_fail(sig, "argument 'data': axis %d has %lld rows, expected %s%lld", axis, (long long)dim,
                        p->squeeze_axis ? "" : "a multiple of ", (long long)p->num_outputs);
}

/* All outputs have one shape, which determines data's and follows from it. */
static mxc_status slice_channel_infer_shape(mxc_op_sig *sig) {
    const slice_channel_params *p = sig->params;
    mxc_shape part = {.ndim = -1};
    int ndim = sig->in_shape[0].ndim, axis;
    for (int i = 0; i < sig->n_out; i++) {
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &part));
        part = sig->out_shape[i];
    }
    if (ndim < 0 && part.ndim < 0)
        return MXC_OK;
    ndim = ndim >= 0 ? ndim : part.ndim + (p->squeeze_axis != 0);
    if (ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "data would have %d axes, expected at most %d", ndim, MXC_MAX_NDIM);
    MXC_TRY(mxci_sig_axis(sig, p->axis, ndim, &axis));
    if (part.ndim >= 0) {
        part = convert(p, &part, axis, 1);
        MXC_TRY(mxc_sig_set_shape(sig, 0, &part));
    }
    MXC_TRY(check_axis(sig, axis));
    part = convert(p, &sig->in_shape[0], axis, 0);
    for (int i = 0; i < sig->n_out; i++)
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &part));
    return MXC_OK;
}

static mxc_status slice_channel_forward(const mxc_op_call *call) {
    mxci_split_array(call->run, call->req, &call->in[0], call->n_out, call->out,
                     slice_channel_axis_of(call, &call->in[0]));
    return MXC_OK;
}

static mxc_status slice_channel_backward(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->in_grad[0];
    mxci_concat_arrays(call->run, call->req[0], grad, call->n_out, call->out_grad, slice_channel_axis_of(call, grad));
    return MXC_OK;
}

static int slice_channel_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out) {
    const slice_channel_params *p = mxc_op_params(op);
    return !p->squeeze_axis && mxci_axis_channels_last("axis", p->axis, ndim, out);
}

/* One output is numbered as well, as in MXNet. */
static const char *slice_channel_outputs_of(const void *params) {
    return ((const slice_channel_params *)params)->num_outputs == 1 ? "output0" : NULL;
}

const mxc_op_def mxci_op_slice_channel = {
    .size = sizeof(mxc_op_def),
    .name = "SliceChannel",
    .aliases = "split",
    .doc = "outputs = data split into num_outputs equal parts along axis",
    .params = schema,
    .param_size = sizeof(slice_channel_params),
    .outputs_of = slice_channel_outputs_of,
    .n_outputs = slice_channel_count_outputs,
    .infer_shape = slice_channel_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = MXC_NEED_ALL},
    .channels_last = slice_channel_channels_last,
    .forward = {[MXC_CPU] = slice_channel_forward},
    .backward = {[MXC_CPU] = slice_channel_backward},
};

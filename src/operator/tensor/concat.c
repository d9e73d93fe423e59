/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Concat: arrays that differ in one axis only, side by side along it. _rnn_param_concat is the same for the parameters
 * of an RNN's layers: where several of them are unknown they have equal sizes, as the weights of both directions have.
 */
#include "operator/tensor/concat.h"

#include "operator/op.h"
#include "operator/tensor/concat_split.h"

typedef mxci_concat_params concat_params;

static const mxc_param concat_schema[] = {
    {MXC_PARAM_FIELD(concat_params, num_args), .name = "num_args", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 65536, .doc = "Number of arguments."},
    {MXC_PARAM_FIELD(concat_params, dim), .name = "dim", .type = MXC_PARAM_INT, .initial = "1", .bounded = 1,
     .minimum = -MXC_MAX_NDIM, .maximum = MXC_MAX_NDIM - 1,
     .doc = "Axis of concatenation. Negative values count from the end."},
    MXC_PARAM_END,
};

/* All known axes but the one concatenated, which is left unknown. */
static mxc_status common_axes(mxc_op_sig *sig, int axis, mxc_shape *common) {
    for (int i = 0; i <= sig->n_in; i++) {
        int slot = i < sig->n_in ? i : MXC_SLOT_OUT(0);
        mxc_shape shape;
        MXC_TRY(mxc_sig_set_shape(sig, slot, common));
        shape = *mxci_sig_shape(sig, slot);
        shape.dim[axis] = -1;
        *common = shape;
    }
    for (int i = 0; i <= sig->n_in; i++)
        MXC_TRY(mxc_sig_set_shape(sig, i < sig->n_in ? i : MXC_SLOT_OUT(0), common));
    return MXC_OK;
}

/* The number of axes of any argument or of the output; -1 where none is known. */
static int known_ndim(const mxc_op_sig *sig) {
    for (int i = 0; i < sig->n_in; i++)
        if (sig->in_shape[i].ndim >= 0)
            return sig->in_shape[i].ndim;
    return sig->out_shape[0].ndim;
}

/* The sizes along the axis: out is the sum, and up to most_unknown unknown sizes are equal parts of what is left. */
static mxc_status concat_infer_sizes(mxc_op_sig *sig, int axis, mxc_shape common, int most_unknown) {
    int64_t sum = 0, out = sig->out_shape[0].dim[axis];
    int unknown = 0;
    for (int i = 0; i < sig->n_in; i++) {
        int64_t size = sig->in_shape[i].dim[axis];
        sum = mxci_dim_add(sum, size < 0 ? 0 : size);
        unknown += size < 0;
    }
    if (unknown > most_unknown || (unknown > 0 && out < 0))
        return MXC_OK;
    if (unknown > 0 && out < sum)
        return mxc_sig_fail(sig, "output: axis %d has %lld elements, fewer than the %lld of the arguments", axis,
                            (long long)out, (long long)sum);
    if (unknown > 0 && (out - sum) % unknown != 0)
        return MXC_OK;
    common.dim[axis] = unknown > 0 ? (out - sum) / unknown : sum;
    for (int i = 0; i < sig->n_in; i++)
        if (sig->in_shape[i].dim[axis] < 0)
            MXC_TRY(mxc_sig_set_shape(sig, i, &common));
    return unknown > 0 ? MXC_OK : mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &common);
}

static mxc_status concat_infer(mxc_op_sig *sig, int most_unknown) {
    const concat_params *p = sig->params;
    int ndim = known_ndim(sig), axis;
    mxc_shape common;
    if (ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_sig_axis(sig, p->dim, ndim, &axis));
    common = mxci_shape_axes(ndim);
    MXC_TRY(common_axes(sig, axis, &common));
    return concat_infer_sizes(sig, axis, common, most_unknown);
}

mxc_status mxci_concat_infer(mxc_op_sig *sig) {
    return concat_infer(sig, 1);
}

static mxc_status rnn_param_infer(mxc_op_sig *sig) {
    return concat_infer(sig, sig->n_in);
}

static int concat_axis_of(const mxc_op_call *call, const mxc_tensor *whole) {
    int64_t axis = ((const concat_params *)call->params)->dim;
    return (int)(axis < 0 ? axis + whole->shape.ndim : axis);
}

static mxc_status concat_forward(const mxc_op_call *call) {
    const mxc_tensor *out = &call->out[0];
    mxci_concat_arrays(call->run, call->req[0], out, call->n_in, call->in, concat_axis_of(call, out));
    return MXC_OK;
}

static mxc_status concat_backward(const mxc_op_call *call) {
    const mxc_tensor *grad = &call->out_grad[0];
    mxci_split_array(call->run, call->req, grad, call->n_in, call->in_grad, concat_axis_of(call, grad));
    return MXC_OK;
}

static int concat_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out) {
    return mxci_axis_channels_last("dim", ((const concat_params *)mxc_op_params(op))->dim, ndim, out);
}

static int concat_quantized(const mxc_op *op, mxc_quantized *out) {
    *out = (mxc_quantized){.op = "_contrib_quantized_concat"};
    return mxc_op_n_args(op) <= 64; /* of which the counterpart's schema takes no more */
}

const mxc_op_def mxci_op_concat = {
    .size = sizeof(mxc_op_def),
    .name = "Concat",
    .aliases = "concat",
    .doc = "output = the arguments concatenated along axis dim; their other axes are equal",
    .params = concat_schema,
    .param_size = sizeof(concat_params),
    .variadic = "num_args",
    .infer_shape = mxci_concat_infer,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .channels_last = concat_channels_last,
    .quantized = concat_quantized,
    .forward = {[MXC_CPU] = concat_forward},
    .backward = {[MXC_CPU] = concat_backward},
};

const mxc_op_def mxci_op_rnn_param_concat = {
    .size = sizeof(mxc_op_def),
    .name = "_rnn_param_concat",
    .doc = "output = the arguments concatenated along axis dim, as by Concat; arguments of unknown size share what the "
           "output leaves to them equally",
    .params = concat_schema,
    .param_size = sizeof(concat_params),
    .variadic = "num_args",
    .infer_shape = rnn_param_infer,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = concat_forward},
    .backward = {[MXC_CPU] = concat_backward},
};

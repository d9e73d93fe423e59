/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows from data's shape alone, as int64:
 *   shape_array           out (ndim) = the axes of data
 *   size_array            out (1) = the number of elements of data
 *   _contrib_index_array  out (data's axes, n) = the position of each element of data along each of the n axes
 */
#include "operator/tensor/shape_array.h"

#include "math/assign.h"
#include "operator/infer.h"

/* Out is int64, whatever data is. */
static mxc_status shape_array_infer_type(mxc_op_sig *sig) {
    return mxc_sig_set_type(sig, MXC_SLOT_OUT(0), MXC_I64);
}

static void shape_array_put(const mxc_op_call *call, int64_t at, int64_t value) {
    int64_t *out = call->out[0].data;
    out[at] = call->req[0] == MXC_REQ_ADD ? (int64_t)((uint64_t)out[at] + (uint64_t)value) : value;
}

/* ---- shape_array and size_array --------------------------------------------------------------------------------- */

/* The length of out is data's number of axes. */
static mxc_status shape_infer_shape(mxc_op_sig *sig) {
    mxc_shape *data = &sig->in_shape[0], shape = mxci_shape_of(1, (int64_t[]){data->ndim >= 0 ? data->ndim : -1});
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
    if (sig->out_shape[0].dim[0] < 0)
        return MXC_OK;
    if (sig->out_shape[0].dim[0] > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "output has %lld elements, expected one for each of at most %d axes of data",
                            (long long)sig->out_shape[0].dim[0], MXC_MAX_NDIM);
    shape = mxci_shape_axes((int)sig->out_shape[0].dim[0]);
    return mxc_sig_set_shape(sig, 0, &shape);
}

static mxc_status size_infer_shape(mxc_op_sig *sig) {
    mxc_shape one = mxci_shape_of(1, (int64_t[]){1});
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &one);
}

static mxc_status shape_forward(const mxc_op_call *call) {
    const mxc_shape *shape = &call->in[0].shape;
    for (int i = 0; i < shape->ndim && call->req[0] != MXC_REQ_NULL; i++)
        shape_array_put(call, i, shape->dim[i]);
    return MXC_OK;
}

static mxc_status size_forward(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL)
        shape_array_put(call, 0, mxci_tensor_size(&call->in[0]));
    return MXC_OK;
}

const mxc_op_def mxci_op_shape_array = {
    .size = sizeof(mxc_op_def),
    .name = "shape_array",
    .doc = "out (ndim) = the shape of data, as int64",
    .flags = MXC_OP_ZERO_GRADIENT,
    .infer_shape = shape_infer_shape,
    .infer_type = shape_array_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .forward = {[MXC_CPU] = shape_forward},
};

const mxc_op_def mxci_op_size_array = {
    .size = sizeof(mxc_op_def),
    .name = "size_array",
    .doc = "out (1) = the number of elements of data, as int64",
    .flags = MXC_OP_ZERO_GRADIENT,
    .infer_shape = size_infer_shape,
    .infer_type = shape_array_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .forward = {[MXC_CPU] = size_forward},
};

/* ---- _contrib_index_array --------------------------------------------------------------------------------------- */

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(mxci_index_array_params, axes), .name = "axes", .type = MXC_PARAM_TUPLE, .initial = "None",
     .optional = 1, .doc = "Axes whose positions are given. Negative values count from the end. None: all, in order."},
    MXC_PARAM_END,
};

/* Out has data's axes, and one more for the positions. */
static mxc_status index_infer_shape(mxc_op_sig *sig) {
    const mxci_index_array_params *p = sig->params;
    mxc_shape *data = &sig->in_shape[0], shape;
    int ndim = data->ndim >= 0 ? data->ndim : sig->out_shape[0].ndim - 1, axis;
    if (ndim < 0)
        return sig->out_shape[0].ndim == 0 ? mxc_sig_fail(sig, "output has no axes, expected at least 1") : MXC_OK;
    if (ndim + 1 > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "output would have %d axes, expected at most %d", ndim + 1, MXC_MAX_NDIM);
    for (int i = 0; i < p->axes.n; i++)
        MXC_TRY(mxci_sig_axis(sig, p->axes.value[i], ndim, &axis));
    shape = mxci_shape_axes(ndim + 1);
    for (int i = 0; i < ndim && data->ndim >= 0; i++)
        shape.dim[i] = data->dim[i];
    shape.dim[ndim] = p->axes.n >= 0 ? p->axes.n : ndim;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &shape));
    shape = sig->out_shape[0];
    shape.ndim = ndim;
    return mxc_sig_set_shape(sig, 0, &shape);
}

/* Positions of data's elements begin..end-1. */
static void index_range(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_shape *data = &call->in[0].shape;
    const mxci_index_axes axes = mxci_index_axes_of(call->params, data);
    (void)part;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < axes.n; k++)
            shape_array_put(call, i * axes.n + k, i / axes.step[k] % axes.dim[k]);
}

static mxc_status index_forward(const mxc_op_call *call) {
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, mxci_tensor_size(&call->in[0]), MXCI_GRAIN / 8, index_range, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_index_array = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_index_array",
    .doc = "out (...,n) = the indices of each element of data (...) along n axes, as int64",
    .flags = MXC_OP_ZERO_GRADIENT,
    .params = schema,
    .param_size = sizeof(mxci_index_array_params),
    .infer_shape = index_infer_shape,
    .infer_type = shape_array_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .forward = {[MXC_CPU] = index_forward},
};

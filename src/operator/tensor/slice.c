/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices of an array. The gradient is 0 outside of the slice.
 *   slice_axis  rows begin to end-1 of one axis
 *   slice       begin to end by step of each axis named (alias crop)
 *   slice_like  as many elements of each axis as another array has, which has no gradient
 */
#include "operator/index/rows.h"
#include "operator/op.h"
#include "operator/tensor/view_ops.h"

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

/* out's shape from data's. Back from out to data only axes that are taken whole are inferred. */
static mxc_status infer_box(mxc_op_sig *sig, const mxci_bounds *bounds) {
    const mxc_shape *data = &sig->in_shape[0];
    mxc_shape other = mxci_box_shape(bounds, data);
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &other));
    other = mxci_shape_axes(data->ndim);
    for (int i = 0; i < data->ndim; i++)
        if (bounds->begin[i] == MXC_PARAM_UNSET && bounds->end[i] == MXC_PARAM_UNSET &&
            (bounds->step[i] == MXC_PARAM_UNSET || bounds->step[i] == 1))
            other.dim[i] = sig->out_shape[0].dim[i];
    return mxc_sig_set_shape(sig, 0, &other);
}

/* ---- slice_axis -------------------------------------------------------------------------------------------------- */

typedef mxci_slice_axis_params slice_axis_params;

static const mxc_param slice_axis_schema[] = {
    {MXC_PARAM_FIELD(slice_axis_params, axis), .name = "axis", .type = MXC_PARAM_INT,
     .doc = "Axis to slice. Negative values count from the end."},
    {MXC_PARAM_FIELD(slice_axis_params, begin), .name = "begin", .type = MXC_PARAM_INT,
     .doc = "First index. Negative values count from the end."},
    {MXC_PARAM_FIELD(slice_axis_params, end), .name = "end", .type = MXC_PARAM_INT, .optional = 1,
     .doc = "End index, exclusive. Negative values count from the end. None: the end of the axis."},
    MXC_PARAM_END,
};

static mxc_status slice_axis_infer_shape(mxc_op_sig *sig) {
    mxci_bounds bounds;
    int ndim = sig->in_shape[0].ndim, axis;
    if (ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_sig_axis(sig, ((const slice_axis_params *)sig->params)->axis, ndim, &axis));
    bounds = mxci_slice_axis_bounds(sig->params, ndim);
    return infer_box(sig, &bounds);
}

static mxc_status slice_axis_forward(const mxc_op_call *call) {
    return mxci_view_take(call, mxci_view_slice_axis);
}

static mxc_status slice_axis_backward(const mxc_op_call *call) {
    return mxci_view_put_back(call, mxci_view_slice_axis);
}

static int slice_axis_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out) {
    return mxci_axis_channels_last("axis", ((const slice_axis_params *)mxc_op_params(op))->axis, ndim, out);
}

const mxc_op_def mxci_op_slice_axis = {
    .size = sizeof(mxc_op_def),
    .name = "slice_axis",
    .doc = "out = indices begin to end - 1 of one axis of data",
    .params = slice_axis_schema,
    .param_size = sizeof(slice_axis_params),
    .infer_shape = slice_axis_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .channels_last = slice_axis_channels_last,
    .forward = {[MXC_CPU] = slice_axis_forward},
    .backward = {[MXC_CPU] = slice_axis_backward},
};

/* ---- slice ------------------------------------------------------------------------------------------------------- */

typedef mxci_slice_params slice_params;

static const mxc_param slice_schema[] = {MXCI_BOX_PARAMS(slice_params, box), MXC_PARAM_END};

static mxc_status slice_check(void *params) {
    return mxci_box_check("slice", &((const slice_params *)params)->box);
}

static mxc_status slice_infer_shape(mxc_op_sig *sig) {
    const slice_params *p = sig->params;
    mxci_bounds bounds = mxci_box_bounds(&p->box);
    if (sig->in_shape[0].ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_box_check_axes(sig, &p->box, sig->in_shape[0].ndim));
    return infer_box(sig, &bounds);
}

static mxc_status slice_forward(const mxc_op_call *call) {
    return mxci_view_take(call, mxci_view_slice);
}

static mxc_status slice_backward(const mxc_op_call *call) {
    return mxci_view_put_back(call, mxci_view_slice);
}

const mxc_op_def mxci_op_slice = {
    .size = sizeof(mxc_op_def),
    .name = "slice",
    .aliases = "crop",
    .doc = "out = data[begin:end:step] along each axis that they name",
    .params = slice_schema,
    .param_size = sizeof(slice_params),
    .params_check = slice_check,
    .infer_shape = slice_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = slice_forward},
    .backward = {[MXC_CPU] = slice_backward},
};

/* ---- slice_like -------------------------------------------------------------------------------------------------- */

typedef struct slice_like_params {
    mxc_tuple axes;
} slice_like_params;

static const mxc_param slice_like_schema[] = {
    {MXC_PARAM_FIELD(slice_like_params, axes), .name = "axes", .type = MXC_PARAM_TUPLE, .initial = "()",
     .doc = "Axes to slice. Negative values count from the end. (): all axes of shape_like."},
    MXC_PARAM_END,
};

enum { DATA, LIKE };

/* Cut the axis of data to the size that like has there. */
static mxc_status limit_axis(const mxc_op_sig *sig, int axis, mxci_bounds *bounds) {
    int64_t have = sig->in_shape[DATA].dim[axis], size = sig->in_shape[LIKE].dim[axis];
    if (have >= 0 && size > have)
        return mxc_sig_fail(sig, "argument 'shape_like': axis %d has %lld elements, expected at most the %lld of data",
                            axis, (long long)size, (long long)have);
    bounds->end[axis] = size;
    return MXC_OK;
}

/* Both shapes have known numbers of axes; sizes of like may be unknown, then bounds are negative. */
static mxc_status slice_like_bounds(const mxc_op_sig *sig, mxci_bounds *bounds) {
    const slice_like_params *p = sig->params;
    int n_data = sig->in_shape[DATA].ndim, n_like = sig->in_shape[LIKE].ndim, axis;
    *bounds = mxci_bounds_whole();
    if (p->axes.n == 0 && n_like > n_data)
        return mxc_sig_fail(sig, "argument 'shape_like' has %d axes, expected at most the %d of data", n_like, n_data);
    for (int i = 0; i < n_like && p->axes.n == 0; i++)
        MXC_TRY(limit_axis(sig, i, bounds));
    for (int i = 0; i < p->axes.n; i++) {
        MXC_TRY(mxci_sig_axis(sig, p->axes.value[i], n_data, &axis));
        MXC_TRY(mxci_sig_axis(sig, axis, n_like, &axis));
        MXC_TRY(limit_axis(sig, axis, bounds));
    }
    return MXC_OK;
}

/* Sizes of shape_like that are unknown leave out's unknown. */
static mxc_status slice_like_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *data = &sig->in_shape[DATA];
    mxci_bounds bounds;
    mxc_shape out;
    if (data->ndim < 0 || sig->in_shape[LIKE].ndim < 0)
        return MXC_OK;
    MXC_TRY(slice_like_bounds(sig, &bounds));
    out = *data;
    for (int i = 0; i < data->ndim; i++)
        out.dim[i] = bounds.end[i] == MXC_PARAM_UNSET ? data->dim[i] : bounds.end[i];
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

static mxc_status slice_like_forward(const mxc_op_call *call) {
    return mxci_view_take(call, mxci_view_slice_like);
}

static mxc_status slice_like_backward(const mxc_op_call *call) {
    mxci_assign_zero_gradient(call, LIKE);
    return mxci_view_put_back(call, mxci_view_slice_like);
}

const mxc_op_def mxci_op_slice_like = {
    .size = sizeof(mxc_op_def),
    .name = "slice_like",
    .args = "data,shape_like",
    .doc = "out = the leading elements of data along each axis, as many as shape_like has",
    .params = slice_like_schema,
    .param_size = sizeof(slice_like_params),
    .infer_shape = slice_like_infer_shape,
    .infer_type = mxci_rows_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = slice_like_forward},
    .backward = {[MXC_CPU] = slice_like_backward},
};

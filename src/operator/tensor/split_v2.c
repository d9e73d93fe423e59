/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _split_v2: data split along an axis into an output each, either into `sections` parts whose sizes differ by 1 at
 * most, the larger ones first, or before the rows that `indices` names, of which the first is 0. With squeeze_axis,
 * each part has one row, and the outputs lack the axis.
 */
#include "operator/tensor/concat_split.h"

typedef mxci_split_v2_params split_v2_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(split_v2_params, indices), .name = "indices", .type = MXC_PARAM_TUPLE, .bounded = 1, .minimum = 0,
     .maximum = 9e15, .doc = "First row of each part, in ascending order from 0. Not used with sections."},
    {MXC_PARAM_FIELD(split_v2_params, axis), .name = "axis", .type = MXC_PARAM_INT, .initial = "1",
     .doc = "Axis to split. Negative values count from the end."},
    {MXC_PARAM_FIELD(split_v2_params, squeeze_axis), .name = "squeeze_axis", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Remove the axis, of size 1, from the outputs."},
    {MXC_PARAM_FIELD(split_v2_params, sections), .name = "sections", .type = MXC_PARAM_INT, .initial = "0",
     .bounded = 1, .minimum = 0, .maximum = 65536, .doc = "Number of parts of equal size. 0: split at indices."},
    MXC_PARAM_END,
};

static mxc_status split_v2_check(void *params) {
    const split_v2_params *p = params;
    if (p->sections > 0)
        return MXC_OK;
    if (p->indices.n == 0)
        return MXC_FAIL(MXC_EINVAL, "_split_v2: indices must begin with 0, unless sections is given; found ()");
    if (p->indices.value[0] != 0)
        return MXC_FAIL(MXC_EINVAL, "_split_v2: indices must begin with 0, unless sections is given; found %lld",
                        (long long)p->indices.value[0]);
    for (int i = 1; i < p->indices.n; i++)
        if (p->indices.value[i] < p->indices.value[i - 1])
            return MXC_FAIL(MXC_EINVAL, "_split_v2: indices must ascend, found %lld after %lld",
                            (long long)p->indices.value[i], (long long)p->indices.value[i - 1]);
    return MXC_OK;
}

static int split_v2_count_outputs(const void *params) {
    const split_v2_params *p = params;
    return p->sections > 0 ? (int)p->sections : p->indices.n;
}

/* ---- inference -------------------------------------------------------------------------------------------------- */

/* Rows of part i of an axis of size rows (-1: unknown); -1 where it does not follow. */
static int64_t part_rows(const split_v2_params *p, int i, int64_t rows) {
    if (p->sections > 0)
        return rows < 0 ? -1 : rows / p->sections + (i < rows % p->sections);
    if (i + 1 < p->indices.n)
        return p->indices.value[i + 1] - p->indices.value[i];
    return rows < 0 ? -1 : rows - p->indices.value[i];
}

/* Rows of data that follow from the sizes of the parts; -1 where they do not. */
static int64_t whole_rows(const mxc_op_sig *sig, int axis) {
    const split_v2_params *p = sig->params;
    const int last = sig->n_out - 1;
    int64_t rows = 0;
    if (p->squeeze_axis)
        return sig->n_out;
    if (p->sections == 0)
        return sig->out_shape[last].ndim < 0 ? -1
                                             : mxci_dim_add(p->indices.value[last], sig->out_shape[last].dim[axis]);
    for (int i = 0; i <= last; i++)
        rows = mxci_dim_add(rows, sig->out_shape[i].ndim < 0 ? -1 : sig->out_shape[i].dim[axis]);
    return rows;
}

/* The axes of a part, without rows where they are squeezed; the axis is left unknown. */
static mxc_shape split_v2_part(const split_v2_params *p, const mxc_shape *data, int axis) {
    mxc_shape part = *data;
    part.dim[axis] = -1;
    if (!p->squeeze_axis)
        return part;
    part.ndim--;
    for (int i = axis; i < part.ndim; i++)
        part.dim[i] = data->dim[i + 1];
    return part;
}

/* Data's shape from a part's, the axis unknown. */
static mxc_shape split_v2_whole(const split_v2_params *p, const mxc_shape *part, int axis) {
    mxc_shape data = *part;
    if (p->squeeze_axis) {
        data.ndim++;
        for (int i = data.ndim - 1; i > axis; i--)
            data.dim[i] = part->dim[i - 1];
    }
    data.dim[axis] = -1;
    return data;
}

/* Sets the parts' rows, or checks that they are one where they are squeezed. */
static mxc_status set_part(mxc_op_sig *sig, int i, int axis, mxc_shape part) {
    const split_v2_params *p = sig->params;
    const int64_t rows = part_rows(p, i, sig->in_shape[0].dim[axis]);
    if (!p->squeeze_axis)
        part.dim[axis] = rows;
    else if (rows >= 0 && rows != 1)
        return mxc_sig_fail(sig, "output %d has %lld rows on axis %d, expected 1 with squeeze_axis", i, (long long)rows,
                            axis);
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(i), &part);
}

/* The axes that are not split are the same in all. */
static mxc_status split_v2_infer_shape(mxc_op_sig *sig) {
    const split_v2_params *p = sig->params;
    mxc_shape *data = &sig->in_shape[0], whole;
    int ndim = data->ndim, axis;
    for (int i = 0; i < sig->n_out && ndim < 0; i++)
        ndim = sig->out_shape[i].ndim < 0 ? -1 : sig->out_shape[i].ndim + (p->squeeze_axis != 0);
    if (ndim < 0)
        return MXC_OK;
    if (ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "data would have %d axes, expected at most %d", ndim, MXC_MAX_NDIM);
    MXC_TRY(mxci_sig_axis(sig, p->axis, ndim, &axis));
    for (int i = 0; i < sig->n_out; i++)
        if (sig->out_shape[i].ndim >= 0) {
            if (sig->out_shape[i].ndim + (p->squeeze_axis != 0) != ndim)
                return mxc_sig_fail(sig, "output %d has %d axes, expected %d", i, (int)sig->out_shape[i].ndim,
                                    ndim - (p->squeeze_axis != 0));
            whole = split_v2_whole(p, &sig->out_shape[i], axis);
            MXC_TRY(mxc_sig_set_shape(sig, 0, &whole));
        }
    whole = mxci_shape_axes(ndim);
    whole.dim[axis] = whole_rows(sig, axis);
    MXC_TRY(mxc_sig_set_shape(sig, 0, &whole));
    if (p->sections == 0 && data->dim[axis] >= 0 && data->dim[axis] < p->indices.value[p->indices.n - 1])
        return mxc_sig_fail(sig, "argument 'data': axis %d has %lld rows, fewer than the %lld before the last part",
                            axis, (long long)data->dim[axis], (long long)p->indices.value[p->indices.n - 1]);
    whole = split_v2_part(p, data, axis);
    for (int i = 0; i < sig->n_out; i++)
        MXC_TRY(set_part(sig, i, axis, whole));
    return MXC_OK;
}

/* ---- passes ----------------------------------------------------------------------------------------------------- */

static int split_v2_axis_of(const mxc_op_call *call) {
    int64_t axis = ((const split_v2_params *)call->params)->axis;
    return (int)(axis < 0 ? axis + call->in[0].shape.ndim : axis);
}

static mxc_status split_v2_forward(const mxc_op_call *call) {
    mxci_split_array(call->run, call->req, &call->in[0], call->n_out, call->out, split_v2_axis_of(call));
    return MXC_OK;
}

static mxc_status split_v2_backward(const mxc_op_call *call) {
    mxci_concat_arrays(call->run, call->req[0], &call->in_grad[0], call->n_out, call->out_grad, split_v2_axis_of(call));
    return MXC_OK;
}

const mxc_op_def mxci_op_split_v2 = {
    .size = sizeof(mxc_op_def),
    .name = "_split_v2",
    .doc = "outputs = data split along axis into sections parts, or before the rows of indices",
    .params = schema,
    .param_size = sizeof(split_v2_params),
    .params_check = split_v2_check,
    .n_outputs = split_v2_count_outputs,
    .infer_shape = split_v2_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = MXC_NEED_ALL},
    .forward = {[MXC_CPU] = split_v2_forward},
    .backward = {[MXC_CPU] = split_v2_backward},
};

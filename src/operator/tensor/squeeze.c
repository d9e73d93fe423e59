/* SPDX-License-Identifier: Apache-2.0 */
/* squeeze: out is data without the axes named, which have size 1; without all axes of size 1 where none is named. */
#include "math/assign.h"
#include "operator/infer.h"

typedef struct squeeze_params {
    mxc_tuple axis;
} squeeze_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(squeeze_params, axis), .name = "axis", .type = MXC_PARAM_TUPLE, .initial = "None", .optional = 1,
     .doc = "Axes to remove, each of size 1. Negative values count from the end. None: all axes of size 1."},
    MXC_PARAM_END,
};

/* dropped[i] = 1 for each axis that is named; their sizes become 1. */
static mxc_status mark_axes(mxc_op_sig *sig, const mxc_tuple *axes, int *dropped) {
    mxc_shape data = mxci_shape_axes(sig->in_shape[0].ndim);
    int axis;
    for (int i = 0; i < axes->n; i++) {
        MXC_TRY(mxci_sig_axis(sig, axes->value[i], data.ndim, &axis));
        if (dropped[axis]++)
            return mxc_sig_fail(sig, "axis %d is named twice", axis);
        data.dim[axis] = 1;
    }
    return mxc_sig_set_shape(sig, 0, &data);
}

/* Sizes of the axes that stay are inferred in both directions. */
static mxc_status squeeze_infer_shape(mxc_op_sig *sig) {
    const mxc_tuple *axes = &((const squeeze_params *)sig->params)->axis;
    mxc_shape *data = &sig->in_shape[0], out, kept;
    int dropped[MXC_MAX_NDIM] = {0}, n = 0, all = axes->n < 0;
    if (data->ndim < 0 || (all && !mxc_shape_known(data)))
        return MXC_OK;
    MXC_TRY(mark_axes(sig, axes, dropped));
    out = mxci_shape_axes(data->ndim);
    for (int i = 0; i < data->ndim; i++) {
        dropped[i] = dropped[i] || (all && data->dim[i] == 1);
        if (!dropped[i])
            out.dim[n++] = data->dim[i];
    }
    if (n == 0) /* an array of one element keeps an axis */
        out.dim[n++] = 1;
    out.ndim = n;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    kept = *data;
    for (int i = 0, k = 0; i < kept.ndim; i++)
        if (!dropped[i])
            kept.dim[i] = sig->out_shape[0].dim[k++];
    return mxc_sig_set_shape(sig, 0, &kept);
}

static mxc_status squeeze_forward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[0]);
    return MXC_OK;
}

static mxc_status squeeze_backward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->in_grad[0], &call->out_grad[0]);
    return MXC_OK;
}

const mxc_op_def mxci_op_squeeze = {
    .size = sizeof(mxc_op_def),
    .name = "squeeze",
    .doc = "out = data without axes of size 1",
    .params = schema,
    .param_size = sizeof(squeeze_params),
    .infer_shape = squeeze_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = squeeze_forward},
    .backward = {[MXC_CPU] = squeeze_backward},
};

/* transpose: out's axis i is data's axis axes[i]; axes () reverses them. */
#include "operator/walk.h"

typedef struct transpose_params {
    mxc_tuple axes;
} transpose_params;

static const mxc_param schema[] = {
    {.name = "axes", .type = MXC_PARAM_TUPLE, MXC_PARAM_FIELD(transpose_params, axes), .initial = "()",
     .doc = "for each axis of out, the axis of data that it is; () reverses all"},
    MXC_PARAM_END};

/* The axis of data that out's axis i is. */
static int source_axis(const transpose_params *p, int ndim, int i) {
    int64_t axis = p->axes.n > 0 ? p->axes.value[i] : ndim - 1 - i;
    return (int)(axis < 0 ? axis + ndim : axis);
}

static mxc_status check_axes(const mxc_op_sig *sig, int ndim) {
    const transpose_params *p = sig->params;
    int seen[MXC_MAX_NDIM] = {0}, axis;
    if (p->axes.n > 0 && p->axes.n != ndim)
        return mxc_sig_fail(sig, "axes names %d axes, expected the %d of data", (int)p->axes.n, ndim);
    for (int i = 0; i < p->axes.n; i++) {
        MXC_TRY(mxci_sig_axis(sig, p->axes.value[i], ndim, &axis));
        if (seen[axis]++)
            return mxc_sig_fail(sig, "axes names axis %d twice", axis);
    }
    return MXC_OK;
}

static mxc_status infer_shape(mxc_op_sig *sig) {
    mxc_shape data = sig->in_shape[0], out = sig->out_shape[0];
    int ndim = data.ndim >= 0 ? data.ndim : out.ndim;
    if (ndim < 0)
        return MXC_OK;
    MXC_TRY(check_axes(sig, ndim));
    data = mxci_shape_axes(ndim);
    MXC_TRY(mxc_sig_set_shape(sig, 0, &data));
    out = data;
    for (int i = 0; i < ndim; i++)
        out.dim[i] = sig->in_shape[0].dim[source_axis(sig->params, ndim, i)];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    for (int i = 0; i < ndim; i++)
        data.dim[source_axis(sig->params, ndim, i)] = sig->out_shape[0].dim[i];
    return mxc_sig_set_shape(sig, 0, &data);
}

/* data walked by out's space. */
static void set_walk(const mxc_op_call *call, mxci_strided *walk) {
    const mxc_shape *data = &call->in[0].shape, *out = &call->out[0].shape;
    int64_t step[MXC_MAX_NDIM];
    for (int i = 0; i < out->ndim; i++) {
        int axis = source_axis(call->params, data->ndim, i);
        step[i] = mxci_shape_count(data, axis + 1, data->ndim);
    }
    mxci_strided_set(walk, out->ndim, out->dim, step);
}

/* out's space walked by data's: the way back. */
static void set_walk_back(const mxc_op_call *call, mxci_strided *walk) {
    const mxc_shape *data = &call->in[0].shape, *out = &call->out[0].shape;
    int64_t step[MXC_MAX_NDIM];
    for (int i = 0; i < out->ndim; i++)
        step[source_axis(call->params, data->ndim, i)] = mxci_shape_count(out, i + 1, out->ndim);
    mxci_strided_set(walk, data->ndim, data->dim, step);
}

static mxc_status forward(const mxc_op_call *call) {
    mxci_strided walk;
    set_walk(call, &walk);
    mxci_put_from_walk(call->run, call->req[0], &call->out[0], &call->in[0], 0, &walk);
    return MXC_OK;
}

static mxc_status backward(const mxc_op_call *call) {
    mxci_strided walk;
    set_walk_back(call, &walk);
    mxci_put_from_walk(call->run, call->req[0], &call->in_grad[0], &call->out_grad[0], 0, &walk);
    return MXC_OK;
}

const mxc_op_def mxci_op_transpose = {
    .size = sizeof(mxc_op_def), .name = "transpose", .doc = "out[i,j,...] = data with its axes in the order of axes",
    .params = schema, .param_size = sizeof(transpose_params), .infer_shape = infer_shape, .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1}, .forward = {[MXC_CPU] = forward}, .backward = {[MXC_CPU] = backward}};

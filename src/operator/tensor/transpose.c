/* SPDX-License-Identifier: Apache-2.0 */
/* transpose: out's axis i is data's axis axes[i]; axes () reverses them. SwapAxis: axes dim1 and dim2 are exchanged. */
#include "operator/tensor/view_ops.h"

typedef mxci_transpose_params transpose_params;
typedef mxci_swap_params swap_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(transpose_params, axes), .name = "axes", .type = MXC_PARAM_TUPLE, .initial = "()",
     .doc = "Order of the axes: axis i of out is axis axes[i] of data. (): reverse order."},
    MXC_PARAM_END,
};

/* ---- for any order of axes: source[i] is the axis of data that out's axis i is ----------------------------------- */

/* Sizes go both ways between data and out. */
static mxc_status infer_order(mxc_op_sig *sig, int ndim, const int *source) {
    mxc_shape data = mxci_shape_axes(ndim), out = data;
    MXC_TRY(mxc_sig_set_shape(sig, 0, &data));
    for (int i = 0; i < ndim; i++)
        out.dim[i] = sig->in_shape[0].dim[source[i]];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    for (int i = 0; i < ndim; i++)
        data.dim[source[i]] = sig->out_shape[0].dim[i];
    return mxc_sig_set_shape(sig, 0, &data);
}

/* The number of axes is the same on both sides: whichever is known tells it; -1 if neither is. */
static int known_ndim(const mxc_op_sig *sig) {
    return sig->in_shape[0].ndim >= 0 ? sig->in_shape[0].ndim : sig->out_shape[0].ndim;
}

/* ---- transpose --------------------------------------------------------------------------------------------------- */

/* axes is empty or a permutation of all axes. */
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

static mxc_status transpose_infer(mxc_op_sig *sig) {
    int ndim = known_ndim(sig), source[MXC_MAX_NDIM];
    if (ndim < 0)
        return MXC_OK;
    MXC_TRY(check_axes(sig, ndim));
    mxci_transpose_order(sig->params, ndim, source);
    return infer_order(sig, ndim, source);
}

static mxc_status transpose_forward(const mxc_op_call *call) {
    return mxci_view_take(call, mxci_view_transpose);
}

static mxc_status transpose_backward(const mxc_op_call *call) {
    return mxci_view_take_back(call, mxci_view_transpose_back);
}

const mxc_op_def mxci_op_transpose = {
    .size = sizeof(mxc_op_def),
    .name = "transpose",
    .doc = "out = data with its axes in the order of axes",
    .params = schema,
    .param_size = sizeof(transpose_params),
    .infer_shape = transpose_infer,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = transpose_forward},
    .backward = {[MXC_CPU] = transpose_backward},
};

/* ---- SwapAxis ---------------------------------------------------------------------------------------------------- */

static const mxc_param swap_schema[] = {
    {MXC_PARAM_FIELD(swap_params, dim1), .name = "dim1", .type = MXC_PARAM_INT, .initial = "0", .doc = "First axis."},
    {MXC_PARAM_FIELD(swap_params, dim2), .name = "dim2", .type = MXC_PARAM_INT, .initial = "0", .doc = "Second axis."},
    MXC_PARAM_END,
};

static mxc_status swap_infer(mxc_op_sig *sig) {
    const swap_params *p = sig->params;
    int ndim = known_ndim(sig), source[MXC_MAX_NDIM], axis;
    if (ndim < 0)
        return MXC_OK;
    MXC_TRY(mxci_sig_axis(sig, p->dim1, ndim, &axis));
    MXC_TRY(mxci_sig_axis(sig, p->dim2, ndim, &axis));
    mxci_swap_order(p, ndim, source);
    return infer_order(sig, ndim, source);
}

static mxc_status swap_forward(const mxc_op_call *call) {
    return mxci_view_take(call, mxci_view_swap);
}

static mxc_status swap_backward(const mxc_op_call *call) {
    return mxci_view_take_back(call, mxci_view_swap_back);
}

const mxc_op_def mxci_op_swap_axis = {
    .size = sizeof(mxc_op_def),
    .name = "SwapAxis",
    .aliases = "swapaxes,SwapAxes",
    .doc = "out = data with axes dim1 and dim2 exchanged",
    .params = swap_schema,
    .param_size = sizeof(swap_params),
    .infer_shape = swap_infer,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .forward = {[MXC_CPU] = swap_forward},
    .backward = {[MXC_CPU] = swap_backward},
};

/* SPDX-License-Identifier: Apache-2.0 */
/* expand_dims: out is data with an axis of size 1 before axis `axis` of it (negative: counted in out from its end). */
#include "math/assign.h"
#include "operator/infer.h"

typedef struct expand_params {
    int64_t axis;
} expand_params;

static const mxc_param schema[] = {
    {MXC_PARAM_FIELD(expand_params, axis), .name = "axis", .type = MXC_PARAM_INT,
     .doc = "Position of the new axis in out. Negative values count from the end."},
    MXC_PARAM_END,
};

/* Sizes go both ways between data and out; the new axis has size 1. */
static mxc_status expand_dims_infer_shape(mxc_op_sig *sig) {
    const expand_params *p = sig->params;
    mxc_shape data = sig->in_shape[0], out = sig->out_shape[0];
    int ndim = data.ndim >= 0 ? data.ndim + 1 : out.ndim, at;
    if (ndim < 0)
        return MXC_OK;
    if (ndim == 0 || ndim > MXC_MAX_NDIM)
        return mxc_sig_fail(sig, "out would have %d axes, expected 1 to %d", ndim, MXC_MAX_NDIM);
    MXC_TRY(mxci_sig_axis(sig, p->axis, ndim, &at));
    out = mxci_shape_axes(ndim);
    for (int i = 0; i < ndim; i++)
        out.dim[i] = i == at ? 1 : data.ndim >= 0 ? data.dim[i - (i > at)] : -1;
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    data = mxci_shape_axes(ndim - 1);
    for (int i = 0; i < ndim - 1; i++)
        data.dim[i] = sig->out_shape[0].dim[i + (i >= at)];
    return mxc_sig_set_shape(sig, 0, &data);
}

/* In place where the memory plan allows it: the order of elements is the same. */
static mxc_status expand_dims_forward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[0]);
    return MXC_OK;
}

static mxc_status expand_dims_backward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->in_grad[0], &call->out_grad[0]);
    return MXC_OK;
}

const mxc_op_def mxci_op_expand_dims = {
    .size = sizeof(mxc_op_def),
    .name = "expand_dims",
    .doc = "out = data with a new axis of size 1",
    .params = schema,
    .param_size = sizeof(expand_params),
    .infer_shape = expand_dims_infer_shape,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = expand_dims_forward},
    .backward = {[MXC_CPU] = expand_dims_backward},
};

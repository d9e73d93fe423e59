/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_div_sqrt_dim: out = data / sqrt(n), n the size of data's last axis; the scaling of attention scores. */
#include <math.h>

#include "math/map.h"
#include "operator/infer.h"

/* The last axis must be there. */
static mxc_status div_sqrt_dim_infer_shape(mxc_op_sig *sig) {
    MXC_TRY(mxci_infer_shape_same(sig));
    return sig->in_shape[0].ndim == 0 ? mxc_sig_fail(sig, "argument 'data' has no axes, expected at least 1") : MXC_OK;
}

static double div_sqrt_dim_scale(const mxc_op_call *call) {
    const mxc_shape *shape = &call->in[0].shape;
    return 1 / sqrt((double)shape->dim[shape->ndim - 1]);
}

static mxc_status div_sqrt_dim_forward(const mxc_op_call *call) {
    return mxci_assign_scaled(call->run, call->req[0], &call->out[0], &call->in[0], div_sqrt_dim_scale(call));
}

static mxc_status div_sqrt_dim_backward(const mxc_op_call *call) {
    return mxci_assign_scaled(call->run, call->req[0], &call->in_grad[0], &call->out_grad[0], div_sqrt_dim_scale(call));
}

const mxc_op_def mxci_op_div_sqrt_dim = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_div_sqrt_dim",
    .doc = "out = data / sqrt(n), where n is the size of the last axis of data",
    .infer_shape = div_sqrt_dim_infer_shape,
    .dtypes = MXC_DTYPES_FLOAT,
    .needs = {.out_grad = 1},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(0), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = div_sqrt_dim_forward},
    .backward = {[MXC_CPU] = div_sqrt_dim_backward},
};

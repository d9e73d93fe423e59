/* SPDX-License-Identifier: Apache-2.0 */
/* _identity_with_attr_like_rhs: out = lhs, of which rhs is known to have the shape and type. rhs is not read. */
#include "operator/index/rows.h"

enum { LHS, RHS };

static mxc_status identity_with_attr_like_rhs_forward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[0], &call->out[0], &call->in[LHS]);
    return MXC_OK;
}

static mxc_status identity_with_attr_like_rhs_backward(const mxc_op_call *call) {
    mxci_assign(call->run, call->req[LHS], &call->in_grad[LHS], &call->out_grad[0]);
    mxci_assign_zero_gradient(call, RHS);
    return MXC_OK;
}

const mxc_op_def mxci_op_identity_with_attr_like_rhs = {
    .size = sizeof(mxc_op_def),
    .name = "_identity_with_attr_like_rhs",
    .doc = "out = lhs, whose shape and dtype are inferred from rhs",
    .args = "lhs,rhs",
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(LHS), 0}, MXC_INPLACE_END},
    .inplace_backward = (const mxc_inplace[]){{MXC_FROM_OUT_GRAD(0), LHS}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = identity_with_attr_like_rhs_forward},
    .backward = {[MXC_CPU] = identity_with_attr_like_rhs_backward},
};

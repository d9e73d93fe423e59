/* SPDX-License-Identifier: Apache-2.0 */
/* fill_element_0index: out = lhs (N,K), except that out[i,rhs[i]] = mhs[i]; mhs and rhs (N). rhs is in 0..K-1 (others
 * are an error) and may have another dtype than the others. There is no gradient. */
#include "operator/index/rows.h"

enum { LHS, MHS, RHS };

static mxc_status fill_element_infer_shape(mxc_op_sig *sig) {
    mxc_shape matrix = mxci_shape_axes(2), rows = mxci_shape_axes(1);
    MXC_TRY(mxc_sig_set_shape(sig, LHS, &matrix));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &matrix));
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){LHS, MXC_SLOT_OUT(0)}));
    rows.dim[0] = sig->in_shape[LHS].dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, MHS, &rows));
    MXC_TRY(mxc_sig_set_shape(sig, RHS, &rows));
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){MHS, RHS}));
    matrix.dim[0] = sig->in_shape[MHS].dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, LHS, &matrix));
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &matrix));
    return mxci_sig_check_axis(sig, LHS, 1);
}

static mxc_status fill_element_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 3, (int[]){LHS, MHS, MXC_SLOT_OUT(0)}));
    if (sig->in_type[RHS] == MXC_DTYPE_UNKNOWN)
        sig->in_type[RHS] = sig->in_type[LHS];
    return MXC_OK;
}

static void forward_range(void *arg, int64_t begin, int64_t end, int part) {
    const mxc_op_call *call = arg;
    const mxc_tensor *lhs = &call->in[LHS], *out = &call->out[0];
    int64_t k = lhs->shape.dim[1], at;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = i * k;
        mxci_read_indices(&call->in[RHS], i, 1, k, MXCI_INDEX_CLIP, &at);
        mxci_assign_row(call->req[0], out->dtype, mxci_at(out, row), mxci_at(lhs, row), at);
        mxci_assign_row(call->req[0], out->dtype, mxci_at(out, row + at), mxci_at(&call->in[MHS], i), 1);
        mxci_assign_row(call->req[0], out->dtype, mxci_at(out, row + at + 1), mxci_at(lhs, row + at + 1), k - at - 1);
    }
}

static mxc_status fill_element_forward(const mxc_op_call *call) {
    const mxc_shape *lhs = &call->in[LHS].shape;
    MXC_TRY(mxci_check_labels(call, RHS, lhs->dim[1], NULL));
    if (call->req[0] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, lhs->dim[0], MXCI_GRAIN / lhs->dim[1] + 1, forward_range, (void *)call);
    return MXC_OK;
}

const mxc_op_def mxci_op_fill_element_0index = {
    .size = sizeof(mxc_op_def),
    .name = "fill_element_0index",
    .doc = "out = lhs, except out[i,rhs[i]] = mhs[i]; lhs and out (N,K), mhs and rhs (N)",
    .args = "lhs,mhs,rhs",
    .infer_shape = fill_element_infer_shape,
    .infer_type = fill_element_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(LHS), 0}, MXC_INPLACE_END},
    .forward = {[MXC_CPU] = fill_element_forward},
};

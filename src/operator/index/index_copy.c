/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_index_copy: out (n,...) = old_tensor (n,...) with row index_vector[i] replaced by row i of new_tensor
 * (m,...). The last of equal indices counts; the gradient of each of them is that of its row of out, as in MXNet. */
#include "operator/index/rows.h"

enum { OLD, INDEX, NEW };

/* The axes behind the first are the same in all; index and new have the same rows. */
static mxc_status index_copy_infer_shape(mxc_op_sig *sig) {
    const mxc_shape *new = &sig->in_shape[NEW], *index = &sig->in_shape[INDEX];
    mxc_shape shape = mxci_shape_axes(1);
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){OLD, MXC_SLOT_OUT(0)}));
    if (sig->in_shape[OLD].ndim == 0 || new->ndim == 0)
        return mxc_sig_fail(sig, "argument '%s' has no axes, expected at least 1",
                            new->ndim == 0 ? "new_tensor" : "old_tensor");
    MXC_TRY(mxc_sig_set_shape(sig, INDEX, &shape));
    if (new->ndim > 0) {
        shape.dim[0] = new->dim[0];
        MXC_TRY(mxc_sig_set_shape(sig, INDEX, &shape));
        shape = *new;
        shape.dim[0] = -1;
        MXC_TRY(mxc_sig_set_shape(sig, OLD, &shape));
    }
    if (sig->in_shape[OLD].ndim > 0) {
        shape = sig->in_shape[OLD];
        shape.dim[0] = index->dim[0];
        MXC_TRY(mxc_sig_set_shape(sig, NEW, &shape));
    }
    MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){OLD, MXC_SLOT_OUT(0)}));
    return sig->in_shape[OLD].ndim > 0 && index->dim[0] > 0 ? mxci_sig_check_axis(sig, OLD, 0) : MXC_OK;
}

/* The index may have any dtype, that of the others where it is not known. */
static mxc_status index_copy_infer_type(mxc_op_sig *sig) {
    MXC_TRY(mxci_sig_same_type(sig, 3, (int[]){OLD, NEW, MXC_SLOT_OUT(0)}));
    return sig->in_type[INDEX] == MXC_DTYPE_UNKNOWN ? mxc_sig_set_type(sig, INDEX, sig->in_type[OLD]) : MXC_OK;
}

static size_t index_copy_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    (void)pass;
    return mxci_rows_replace_temp(sig->in_shape[OLD].dim[0]);
}

static mxci_rows rows_of(const mxc_op_call *call) {
    return mxci_rows_along(&call->in[OLD].shape, 0, &call->in[INDEX], MXCI_INDEX_CLIP);
}

static mxc_status index_copy_forward(const mxc_op_call *call) {
    const mxc_tensor *old = &call->in[OLD], *index = &call->in[INDEX];
    mxci_rows rows = rows_of(call);
    MXC_TRY(mxci_check_indices(call, INDEX, 0, mxci_tensor_size(index), 0, old->shape.dim[0]));
    mxci_rows_replace(call->run, call->req[0], &call->out[0], old, &rows, &call->in[NEW], call->temp);
    return MXC_OK;
}

/* Rows that were replaced pass nothing to the old array. */
static mxc_status index_copy_backward(const mxc_op_call *call) {
    const mxc_tensor *g = &call->out_grad[0];
    mxci_rows rows = rows_of(call);
    mxci_assign_zero_gradient(call, INDEX);
    mxci_rows_replace(call->run, call->req[OLD], &call->in_grad[OLD], g, &rows, NULL, call->temp);
    mxci_rows_take(call->run, call->req[NEW], &call->in_grad[NEW], &rows, g);
    return MXC_OK;
}

const mxc_op_def mxci_op_index_copy = {
    .size = sizeof(mxc_op_def),
    .name = "_contrib_index_copy",
    .args = "old_tensor,index_vector,new_tensor",
    .doc = "out = old_tensor (n,...), then out[index_vector[i]] = new_tensor[i] for each row i of new_tensor (m,...); "
           "the last of equal indices counts",
    .infer_shape = index_copy_infer_shape,
    .infer_type = index_copy_infer_type,
    .dtypes = MXC_DTYPES_ALL,
    .needs = {.out_grad = 1, .in = 1 << INDEX},
    .inplace_forward = (const mxc_inplace[]){{MXC_FROM_IN(OLD), 0}, MXC_INPLACE_END},
    .temp_bytes = index_copy_temp_bytes,
    .forward = {[MXC_CPU] = index_copy_forward},
    .backward = {[MXC_CPU] = index_copy_backward},
};

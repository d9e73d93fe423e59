/* SPDX-License-Identifier: Apache-2.0 */
/* take: rows along an axis, by index (index/rows.h, MXCU_ALONG). */
#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/rows.h"
#include "operator/index/indexing.h"

enum { ARRAY, INDEX };

static mxcu_row_index index_of(const mxc_op_call *call) {
    const mxci_take_params *p = static_cast<const mxci_take_params *>(call->params);
    const mxc_shape *a = &call->in[ARRAY].shape;
    const int axis = (int)(p->axis < 0 ? p->axis + a->ndim : p->axis);
    return mxcu_rows_along(a, axis, &call->in[INDEX], p->mode == MXCI_TAKE_WRAP ? MXCI_INDEX_WRAP : MXCI_INDEX_CLIP);
}

static mxc_status forward(const mxc_op_call *call) {
    mxcu_row_index index = index_of(call);
    const mxcu_bounded_rows bounds = {1, index.count, {0}, {index.size}};
    if (static_cast<const mxci_take_params *>(call->params)->mode == MXCI_TAKE_RAISE)
        MXC_TRY(mxcu_check_indices(call, "take", "indices", &call->in[INDEX], &bounds));
    return mxcu_rows_take(call, &call->out[0], 0, &index, &call->in[ARRAY]);
}

static mxc_status backward(const mxc_op_call *call) {
    mxcu_row_index index = index_of(call);
    MXC_TRY(mxcu_no_gradient(call, INDEX));
    return mxcu_rows_add(call, &call->in_grad[ARRAY], ARRAY, &index, &call->out_grad[0]);
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? (size_t)MXCU_CHECK_BYTES
                               : mxcu_rows_temp(mxci_shape_count(&sig->in_shape[INDEX], 0, sig->in_shape[INDEX].ndim));
}

MXCU_OP_IMPLS(take, {"take", forward, backward, temp_bytes})

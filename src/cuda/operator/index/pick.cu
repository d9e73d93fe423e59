/* SPDX-License-Identifier: Apache-2.0 */
/* pick and batch_take: one element of each row, by index (index/rows.h, MXCU_PICKED). */
#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/rows.h"
#include "operator/index/indexing.h"

enum { ARRAY, INDEX };

static mxcu_row_index pick_index(const mxc_op_call *call) {
    const mxci_pick_params *p = static_cast<const mxci_pick_params *>(call->params);
    const mxc_shape *data = &call->in[ARRAY].shape;
    const int axis = (int)(p->axis < 0 ? p->axis + data->ndim : p->axis);
    return mxcu_rows_picked(data, axis, &call->in[INDEX], p->mode ? MXCI_INDEX_WRAP : MXCI_INDEX_CLIP);
}

static mxcu_row_index batch_index(const mxc_op_call *call) {
    return mxcu_rows_picked(&call->in[ARRAY].shape, 1, &call->in[INDEX], MXCI_INDEX_CLIP);
}

template <mxcu_row_index (*index_of)(const mxc_op_call *)> static mxc_status pick_forward(const mxc_op_call *call) {
    mxcu_row_index index = index_of(call);
    return mxcu_rows_take(call, &call->out[0], 0, &index, &call->in[ARRAY]);
}

template <mxcu_row_index (*index_of)(const mxc_op_call *)> static mxc_status pick_backward(const mxc_op_call *call) {
    mxcu_row_index index = index_of(call);
    MXC_TRY(mxcu_no_gradient(call, INDEX));
    return mxcu_rows_add(call, &call->in_grad[ARRAY], ARRAY, &index, &call->out_grad[0]);
}

MXCU_OP_IMPLS(pick, {"pick", pick_forward<pick_index>, pick_backward<pick_index>},
              {"batch_take", pick_forward<batch_index>, pick_backward<batch_index>})

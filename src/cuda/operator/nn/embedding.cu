/* SPDX-License-Identifier: Apache-2.0 */
/* Embedding: the rows of weight that data names (index/rows.h). In backward, rows with equal indices are sorted and
 * summed, without atomics. */
#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/rows.h"

enum { DATA, WEIGHT };

static mxcu_row_index index_of(const mxc_op_call *call) {
    return mxcu_rows_along(&call->in[WEIGHT].shape, 0, &call->in[DATA], MXCI_INDEX_CLIP);
}

static mxc_status forward(const mxc_op_call *call) {
    mxcu_row_index index = index_of(call);
    return mxcu_rows_take(call, &call->out[0], 0, &index, &call->in[WEIGHT]);
}

static mxc_status backward(const mxc_op_call *call) {
    mxcu_row_index index = index_of(call);
    MXC_TRY(mxcu_no_gradient(call, DATA));
    return mxcu_rows_add(call, &call->in_grad[WEIGHT], WEIGHT, &index, &call->out_grad[0]);
}

static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return pass == MXC_FORWARD ? 0
                               : mxcu_rows_temp(mxci_shape_count(&sig->in_shape[DATA], 0, sig->in_shape[DATA].ndim));
}

MXCU_OP_IMPLS(embedding, {"Embedding", forward, backward, temp_bytes})

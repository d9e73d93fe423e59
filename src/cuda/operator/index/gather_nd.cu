/* SPDX-License-Identifier: Apache-2.0 */
/* gather_nd and scatter_nd: slices by indices along several axes (index/rows.h, MXCU_ND). Each is the other's
 * backward. */
#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/rows.h"
#include "operator/index/indexing.h"

enum { ARRAY, INDEX };

/* Row i of the indices must be within the array's axis i, negative ones counted from its end. The host waits. */
static mxc_status check_index(const mxc_op_call *call, const char *op, const mxc_shape *array) {
    const mxc_shape *index = &call->in[INDEX].shape;
    mxcu_bounded_rows bounds = {(int)index->dim[0], mxcu_product(index, 1, index->ndim), {}, {}};
    for (int i = 0; i < bounds.count; i++) {
        bounds.low[i] = -array->dim[i];
        bounds.high[i] = array->dim[i];
    }
    return mxcu_check_indices(call, op, "indices", &call->in[INDEX], &bounds);
}

static mxc_status gather_forward(const mxc_op_call *call) {
    mxcu_row_index index = mxcu_rows_nd(&call->in[ARRAY].shape, &call->in[INDEX]);
    MXC_TRY(check_index(call, "gather_nd", &call->in[ARRAY].shape));
    return mxcu_rows_take(call, &call->out[0], 0, &index, &call->in[ARRAY]);
}

static mxc_status gather_backward(const mxc_op_call *call) {
    mxcu_row_index index = mxcu_rows_nd(&call->in[ARRAY].shape, &call->in[INDEX]);
    MXC_TRY(mxcu_no_gradient(call, INDEX));
    return mxcu_rows_add(call, &call->in_grad[ARRAY], ARRAY, &index, &call->out_grad[0]);
}

static mxc_status scatter_forward(const mxc_op_call *call) {
    mxcu_row_index index = mxcu_rows_nd(&call->out[0].shape, &call->in[INDEX]);
    MXC_TRY(check_index(call, "scatter_nd", &call->out[0].shape));
    return mxcu_rows_add(call, &call->out[0], 0, &index, &call->in[ARRAY]);
}

static mxc_status scatter_backward(const mxc_op_call *call) {
    mxcu_row_index index = mxcu_rows_nd(&call->out[0].shape, &call->in[INDEX]);
    MXC_TRY(mxcu_no_gradient(call, INDEX));
    return mxcu_rows_take(call, &call->in_grad[ARRAY], ARRAY, &index, &call->out_grad[0]);
}

static size_t nd_temp(const mxc_op_sig *sig, mxc_pass pass) {
    const mxc_shape *index = &sig->in_shape[INDEX];
    (void)pass;
    return mxcu_rows_temp(mxcu_product(index, 1, index->ndim)) + MXCU_CHECK_BYTES;
}

MXCU_OP_IMPLS(gather_nd, {"gather_nd", gather_forward, gather_backward, nd_temp},
              {"scatter_nd", scatter_forward, scatter_backward, nd_temp})

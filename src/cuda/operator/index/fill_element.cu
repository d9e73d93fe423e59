/* SPDX-License-Identifier: Apache-2.0 */
/* fill_element_0index: a copy of lhs (n, k) with one element of each row replaced; a team per row. */
#include "cuda/operator/index/index.h"

enum { LHS, MHS, RHS };

template <class T> static mxc_status fill(const mxc_op_call *call) {
    mxcu_in<T> lhs = mxcu_data<T>(&call->in[LHS]), mhs = mxcu_data<T>(&call->in[MHS]);
    mxcu_numbers rhs = mxcu_numbers_of(&call->in[RHS]);
    mxcu_out<T> out = mxcu_result<T>(call, &call->out[0], 0);
    const int64_t n = call->in[LHS].shape.dim[1];
    return mxcu_rows(call, call->in[LHS].shape.dim[0], n, [=] MXCU_LAMBDA(int64_t row, mxcu_team team) {
        const int64_t at = rhs.index(row, n, MXCI_INDEX_CLIP);
        for (int64_t k = team.rank; k < n; k += team.size)
            out.put(row * n + k, k == at ? mhs[row] : lhs[row * n + k]);
    });
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(call->out[0].dtype, fill, call)
}

MXCU_OP_IMPLS(fill_element, {"fill_element_0index", forward})

/* SPDX-License-Identifier: Apache-2.0 */
/* one_hot and _onehot_encode: a thread per element of out (indices, depth). */
#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"
#include "cuda/operator/index/index.h"
#include "operator/index/indexing.h"

/* An index outside the depth gives a row of `off`. The comparison with -1 is before truncation: -0.5 is index 0. */
template <class T> static mxc_status encode(const mxc_op_call *call, int64_t depth, double on, double off) {
    const mxcu_numbers index = mxcu_numbers_of(&call->in[0]);
    const mxcu_compute_t<T> yes = mxcu_parameter<T>(on), no = mxcu_parameter<T>(off);
    mxcu_out<T> out = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t row = at / depth, column = at - row * depth;
        const double value = index[row];
        out.put(at, value > -1 && value < (double)depth && (int64_t)value == column ? yes : no);
    });
}

static mxc_status encode_any(const mxc_op_call *call, int64_t depth, double on, double off) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(call->out[0].dtype, encode, call, depth, on, off)
}

static mxc_status one_hot(const mxc_op_call *call) {
    const mxci_one_hot_params *p = static_cast<const mxci_one_hot_params *>(call->params);
    return encode_any(call, p->depth, p->on_value, p->off_value);
}

static mxc_status onehot_encode(const mxc_op_call *call) {
    return encode_any(call, call->out[0].shape.dim[1], 1, 0);
}

MXCU_OP_IMPLS(one_hot, {"one_hot", one_hot, mxcu_zero_gradient}, {"_onehot_encode", onehot_encode, mxcu_zero_gradient})

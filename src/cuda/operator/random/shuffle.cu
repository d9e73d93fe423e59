/* SPDX-License-Identifier: Apache-2.0 */
/* _shuffle, in the same order as on the CPU for a seed. One thread makes the order, whose steps depend on each other;
 * then a thread per element moves the rows. */
#include "operator/random/shuffle.h"

#include "cuda/operator/random/random.h"

static size_t shuffle_bytes(const mxc_op_sig *sig, mxc_pass) {
    return mxci_size_of(mxci_shuffle_rows(&sig->in_shape[0]), sizeof(int64_t));
}

template <class T> static mxc_status move(const mxc_op_call *call, const int64_t *order, int64_t width) {
    mxcu_in<T> x = mxcu_data<T>(&call->in[0]);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->in[0]), [=] MXCU_LAMBDA(int64_t i) {
        const int64_t row = mxcu_divide(i, width);
        y.put(i, x[order[row] * width + i - row * width]);
    });
}

static mxc_status shuffle(const mxc_op_call *call) {
    const int64_t n = mxci_shuffle_rows(&call->in[0].shape), size = mxcu_size(&call->in[0]);
    const mxcu_random random = mxcu_random_of(call);
    int64_t *order = mxcu_temp<int64_t>(call, 0);
    if (call->req[0] == MXC_REQ_NULL || size == 0)
        return MXC_OK;
    MXC_TRY(mxcu_for(call, 1, [=] MXCU_LAMBDA(int64_t) { mxci_shuffle_order(random.range(), n, order); }));
    MXCU_SWITCH_ALL(call->in[0].dtype, move, call, order, size / n)
}

MXCU_OP_IMPLS(shuffle, {"_shuffle", shuffle, nullptr, shuffle_bytes})

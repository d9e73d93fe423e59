/* SPDX-License-Identifier: Apache-2.0 */
/* add_n: a thread per element adds up to AT_ONCE arrays, whose addresses are the kernel's argument; further launches
 * add later arrays to the result of the first. */
#include "cuda/runtime/gradient.h"

enum { AT_ONCE = 32 };

namespace {
template <class T> struct addends {
    mxcu_in<T> x[AT_ONCE];
    int n;
    MXCU_DEVICE mxcu_compute_t<T> sum(int64_t i) const {
        mxcu_compute_t<T> total = x[0][i];
        for (int k = 1; k < n; k++)
            total += x[k][i];
        return total;
    }
};
} // namespace

template <class T> static mxc_status add_arrays(const mxc_op_call *call) {
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    for (int first = 0; first < call->n_in; first += AT_ONCE, y.add = 1) {
        addends<T> a;
        a.n = call->n_in - first < AT_ONCE ? call->n_in - first : AT_ONCE;
        for (int k = 0; k < a.n; k++)
            a.x[k] = mxcu_data<T>(&call->in[first + k]);
        MXC_TRY(mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t i) { y.put(i, a.sum(i)); }));
    }
    return MXC_OK;
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_NUMBER(call->out[0].dtype, add_arrays, call)
}

/* The gradient that takes out_grad's memory, which is argument 0's, needs no copy. */
static mxc_status backward(const mxc_op_call *call) {
    for (int i = call->n_in; i-- > 0;)
        MXC_TRY(mxcu_put(call, &call->in_grad[i], i, &call->out_grad[0]));
    return MXC_OK;
}

MXCU_OP_IMPLS(add_n, {"add_n", forward, backward})

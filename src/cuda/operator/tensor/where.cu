/* SPDX-License-Identifier: Apache-2.0 */
/* where: elements of x or y, as the condition of each element, or of each row, says; a thread per element. */
#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"

enum { CONDITION, X, Y };

/* to = yes or no by the condition of each element; NULL stands for zeros. */
template <class T>
static mxc_status choose(const mxc_op_call *call, const mxc_tensor *yes, const mxc_tensor *no, const mxc_tensor *to,
                         int i) {
    const mxc_tensor *condition = &call->in[CONDITION];
    const int64_t size = mxcu_size(to), inner = size ? size / mxcu_size(condition) : 1;
    const T *a = mxcu_pointer<const T>(yes ? yes->data : nullptr), *b = mxcu_pointer<const T>(no ? no->data : nullptr);
    mxcu_any chosen = mxcu_any_data(condition);
    mxcu_out<T> y = mxcu_result<T>(call, to, i);
    return mxcu_for(call, size, [=] MXCU_LAMBDA(int64_t at) {
        const T *from = chosen.truth(inner == 1 ? at : at / inner) ? a : b;
        y.put(at, from ? mxcu_widen<T>(from[at]) : 0);
    });
}

static mxc_status choose_any(const mxc_op_call *call, const mxc_tensor *yes, const mxc_tensor *no, const mxc_tensor *to,
                             int i) {
    if (call->req[i] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, choose, call, yes, no, to, i)
}

static mxc_status forward(const mxc_op_call *call) {
    return choose_any(call, &call->in[X], &call->in[Y], &call->out[0], 0);
}

static mxc_status backward(const mxc_op_call *call) {
    MXC_TRY(mxcu_no_gradient(call, CONDITION));
    MXC_TRY(choose_any(call, &call->out_grad[0], nullptr, &call->in_grad[X], X));
    return choose_any(call, nullptr, &call->out_grad[0], &call->in_grad[Y], Y);
}

MXCU_OP_IMPLS(where, {"where", forward, backward})

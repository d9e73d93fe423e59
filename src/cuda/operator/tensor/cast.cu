/* SPDX-License-Identifier: Apache-2.0 */
/* Cast, amp_cast, amp_multicast, and the conversion of dtypes for other operators (runtime/gradient.h); a thread per
 * element. One kernel per dtype of the result, which looks up the source's. */
#include "cuda/runtime/convert.h"
#include "cuda/runtime/gradient.h"

template <class T>
static mxc_status convert(const mxc_op_call *call, const mxc_tensor *to, mxc_req req, const mxc_tensor *from) {
    mxcu_any x = mxcu_any_data(from);
    mxcu_out<T> y = {mxcu_pointer<T>(to->data), req == MXC_REQ_ADD};
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t i) { y.put(i, x.as<T>(i)); });
}

mxc_status mxcu_put_cast(const mxc_op_call *call, const mxc_tensor *to, mxc_req req, const mxc_tensor *from) {
    if (req == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_ALL(to->dtype, convert, call, to, req, from)
}

static mxc_status forward(const mxc_op_call *call) {
    for (int i = 0; i < call->n_out; i++)
        MXC_TRY(mxcu_put_cast(call, &call->out[i], call->req[i], &call->in[i]));
    return MXC_OK;
}

static mxc_status backward(const mxc_op_call *call) {
    for (int i = 0; i < call->n_in; i++)
        MXC_TRY(mxcu_put_cast(call, &call->in_grad[i], call->req[i], &call->out_grad[i]));
    return MXC_OK;
}

MXCU_OP_IMPLS(cast, {"Cast", forward, backward}, {"amp_cast", forward, backward}, {"amp_multicast", forward, backward})

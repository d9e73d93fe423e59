/* SPDX-License-Identifier: Apache-2.0 */
/* _contrib_div_sqrt_dim; a thread per element. */
#include <math.h>

#include "cuda/runtime/convert.h"

template <class T>
static mxc_status scale_as(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from, double scale) {
    const mxcu_compute_t<T> factor = mxcu_parameter<T>(scale);
    mxcu_in<T> x = mxcu_data<T>(from);
    mxcu_out<T> y = mxcu_result<T>(call, to, 0);
    return mxcu_for(call, mxcu_size(to), [=] MXCU_LAMBDA(int64_t i) { y.put(i, x[i] * factor); });
}

static mxc_status scale(const mxc_op_call *call, const mxc_tensor *to, const mxc_tensor *from) {
    const mxc_shape *shape = &call->in[0].shape;
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(to->dtype, scale_as, call, to, from, 1 / sqrt((double)shape->dim[shape->ndim - 1]))
}

static mxc_status forward(const mxc_op_call *call) {
    return scale(call, &call->out[0], &call->in[0]);
}

static mxc_status backward(const mxc_op_call *call) {
    return scale(call, &call->in_grad[0], &call->out_grad[0]);
}

MXCU_OP_IMPLS(div_sqrt_dim, {"_contrib_div_sqrt_dim", forward, backward})

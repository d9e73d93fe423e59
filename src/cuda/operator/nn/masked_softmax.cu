/* SPDX-License-Identifier: Apache-2.0 */
/* masked_softmax and masked_log_softmax: only elements whose mask is not 0 take part (nn/softmax.h). */
#include "cuda/operator/nn/softmax.h"
#include "cuda/runtime/gradient.h"
#include "operator/nn/softmax.h"

enum { DATA, MASK };

static mxcu_softmax masked_of(const mxc_op_call *call, int is_log) {
    const mxci_masked_softmax_params *p = static_cast<const mxci_masked_softmax_params *>(call->params);
    const mxc_shape *data = &call->in[DATA].shape;
    mxcu_softmax s = mxcu_softmax_along(data, p->axis, 1 / p->temperature, is_log);
    mxci_strided strides;
    mxci_broadcast_strides(&call->in[MASK].shape, data, &strides);
    s.hidden = is_log ? -INFINITY : 0;
    s.visible.kind = mxcu_visible::MASK;
    s.visible.by = mxcu_any_data(&call->in[MASK]);
    s.visible.iterator = mxcu_iterate(&strides);
    return s;
}

template <int is_log> static mxc_status forward(const mxc_op_call *call) {
    mxcu_softmax s = masked_of(call, is_log);
    return mxcu_softmax_put(call, &s, &call->in[DATA], &call->out[0], call->req[0]);
}

template <int is_log> static mxc_status backward(const mxc_op_call *call) {
    mxcu_softmax s = masked_of(call, is_log);
    MXC_TRY(mxcu_no_gradient(call, MASK));
    return mxcu_softmax_put_gradient(call, &s, &call->out_grad[0], &call->out[0], &call->in_grad[DATA],
                                     call->req[DATA]);
}

MXCU_OP_IMPLS(masked_softmax, {"masked_softmax", forward<0>, backward<0>},
              {"masked_log_softmax", forward<1>, backward<1>})

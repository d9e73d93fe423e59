/* SPDX-License-Identifier: Apache-2.0 */
/* MultiBoxPrior: the anchors of each pixel; a thread per number of out (pixels, anchors, 4). */
#include "cuda/runtime/gradient.h"
#include "operator/detection/detection.h"

template <class T> static mxc_status prior(const mxc_op_call *call) {
    const mxci_prior r = mxci_prior_of(static_cast<const mxci_prior_params *>(call->params), call->in[0].shape.dim);
    mxcu_out<T> y = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        const int64_t place = at / (4 * r.n);
        y.put(at, (mxcu_compute_t<T>)mxci_prior_number(&r, place, (int)(at - place * 4 * r.n)));
    });
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, prior, call)
}

MXCU_OP_IMPLS(multibox_prior, {"_contrib_MultiBoxPrior", forward, mxcu_zero_gradient})

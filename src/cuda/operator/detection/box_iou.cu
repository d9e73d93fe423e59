/* SPDX-License-Identifier: Apache-2.0 */
/* box_iou: the intersection over union of all pairs of boxes; a thread per pair. */
#include "cuda/operator/detection/suppress.h"
#include "cuda/runtime/gradient.h"
#include "operator/detection/detection.h"

enum { LHS, RHS };

/* lhs (..., 4) and rhs (..., 4), out (boxes of lhs, boxes of rhs). A box is loaded anew for each pair; the caches serve
 * the repeated reads. */
template <class T> static mxc_status iou(const mxc_op_call *call) {
    using A = mxcu_compute_t<T>;
    const int centred = static_cast<const mxci_iou_params *>(call->params)->format == MXCI_BOX_CENTER;
    const int64_t n = mxcu_size(&call->in[RHS]) / 4;
    mxcu_in<T> lhs = mxcu_data<T>(&call->in[LHS]), rhs = mxcu_data<T>(&call->in[RHS]);
    mxcu_out<T> out = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        A a[4], b[4], made_a[4], made_b[4];
        mxcu_load_box(lhs, at / n * 4, a);
        mxcu_load_box(rhs, at % n * 4, b);
        out.put(at, mxcu_boxes<A>::overlap(mxcu_boxes<A>::corners(a, centred, made_a),
                                           mxcu_boxes<A>::corners(b, centred, made_b), 0));
    });
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, iou, call)
}

MXCU_OP_IMPLS(box_iou, {"_contrib_box_iou", forward, mxcu_zero_gradient})

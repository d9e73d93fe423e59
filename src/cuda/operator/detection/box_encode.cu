/* SPDX-License-Identifier: Apache-2.0 */
/* box_decode (operator/detection/box_encode.c): a thread per number. box_encode, whose matches are checked, is computed
 * on the host. */
#include "cuda/runtime/gradient.h"
#include "operator/detection/detection.h"

enum { DATA, ANCHORS };

template <class T> static mxc_status decode(const mxc_op_call *call) {
    const mxci_decode_params p = *static_cast<const mxci_decode_params *>(call->params);
    const int64_t numbers = mxcu_size(&call->in[ANCHORS]);
    mxcu_in<T> data = mxcu_data<T>(&call->in[DATA]), anchors = mxcu_data<T>(&call->in[ANCHORS]);
    mxcu_out<T> out = mxcu_result<T>(call, &call->out[0], 0);
    return mxcu_for(call, mxcu_size(&call->out[0]), [=] MXCU_LAMBDA(int64_t at) {
        double row[4], anchor[4];
        for (int k = 0; k < 4; k++) {
            row[k] = data[at / 4 * 4 + k];
            anchor[k] = anchors[at / 4 * 4 % numbers + k];
        }
        out.put(at, (mxcu_compute_t<T>)mxci_box_decode_number(&p, row, anchor, (int)(at % 4)));
    });
}

static mxc_status forward(const mxc_op_call *call) {
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    MXCU_SWITCH_FLOAT(call->out[0].dtype, decode, call)
}

MXCU_OP_IMPLS(box_encode, {"_contrib_box_decode", forward, mxcu_zero_gradient})

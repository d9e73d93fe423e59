/* SPDX-License-Identifier: Apache-2.0 */
/* diag, _linalg_extractdiag, _linalg_makediag: moves by the views of tensor/views.h. */
#include "cuda/operator/tensor/views.h"

/* out = data at the elements that the view selects, 0 elsewhere. */
template <mxci_view_fn fn> static mxc_status put(const mxc_op_call *call) {
    mxci_view view = mxcu_view_of(call, fn);
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    if (call->req[0] != MXC_REQ_ADD)
        MXC_TRY(mxcu_put_constant(call, &call->out[0], 0, 0));
    return mxcu_view_put(call, &call->out[0], &view, &call->in[0]);
}

static mxc_status diag_forward(const mxc_op_call *call) {
    return call->in[0].shape.ndim == 1 ? put<mxci_view_diag>(call) : mxcu_view_forward<mxci_view_diag>(call);
}

static mxc_status diag_backward(const mxc_op_call *call) {
    return call->in[0].shape.ndim == 1 ? mxcu_view_backward_once<mxci_view_diag>(call)
                                       : mxcu_view_backward_part<mxci_view_diag>(call);
}

MXCU_OP_IMPLS(diag, {"diag", diag_forward, diag_backward},
              {"_linalg_extractdiag", mxcu_view_forward<mxci_view_extract_diagonal>,
               mxcu_view_backward_part<mxci_view_extract_diagonal>},
              {"_linalg_makediag", put<mxci_view_make_diagonal>, mxcu_view_backward_once<mxci_view_make_diagonal>})

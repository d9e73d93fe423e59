/* SPDX-License-Identifier: Apache-2.0 */
/* adam_update, _adamw_update and _mp_adamw_update. rescale_grad of the latter two is an array, the last auxiliary
 * state, read by the kernel. */
#include "cuda/operator/update/update.h"

template <int has_copy> static mxc_status adamw(const mxc_op_call *call) {
    mxci_update u = *static_cast<const mxci_update *>(call->params);
    u.rescale_grad = 1;
    mxcu_update_plan p = {&u, nullptr, nullptr, nullptr, has_copy, {}, 0};
    p.late.rescale = mxcu_pointer<const float>(call->aux[call->n_aux - 1].data);
    return mxcu_update_run(call, MXCI_RULE_adamw, p);
}

MXCU_OP_IMPLS(adam, {"adam_update", mxcu_update_forward<MXCI_RULE_adam>}, {"_adamw_update", adamw<0>},
              {"_mp_adamw_update", adamw<1>})

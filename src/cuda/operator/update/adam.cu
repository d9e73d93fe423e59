/* SPDX-License-Identifier: Apache-2.0 */
/* adam_update and _adamw_update. The latter's rescale_grad is an array (auxiliary state 2), read by the kernel. */
#include "cuda/operator/update/update.h"

static mxc_status adamw(const mxc_op_call *call) {
    mxci_update u = *static_cast<const mxci_update *>(call->params);
    u.rescale_grad = 1;
    mxcu_update_plan p = {&u, nullptr, nullptr, nullptr, 0, {}};
    p.late.rescale = mxcu_pointer<const float>(call->aux[2].data);
    return mxcu_update_run(call, MXCI_RULE_adamw, p);
}

MXCU_OP_IMPLS(adam, {"adam_update", mxcu_update_forward<MXCI_RULE_adam>}, {"_adamw_update", adamw})

/* SPDX-License-Identifier: Apache-2.0 */
/* ftml_update. What depends on the number of the update is computed on the host. */
#include "cuda/operator/update/update.h"

static mxc_status ftml(const mxc_op_call *call) {
    const mxci_update u = mxci_ftml_factors(static_cast<const mxci_ftml_params *>(call->params));
    return mxcu_update_run(call, MXCI_RULE_ftml, {&u, nullptr, nullptr, nullptr, 0, {}, 0});
}

MXCU_OP_IMPLS(ftml, {"ftml_update", ftml})

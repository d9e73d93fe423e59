/* SPDX-License-Identifier: Apache-2.0 */
/* lamb_update_phase1 and lamb_update_phase2. Bias corrections are computed on the host; the norms of phase 2 are
 * arrays, read by the kernel. */
#include "cuda/operator/update/update.h"

#include <cmath>

static mxc_status lamb_phase1(const mxc_op_call *call) {
    const mxci_lamb1_params *p = static_cast<const mxci_lamb1_params *>(call->params);
    mxci_update u = p->factors;
    u.mean_scale = p->bias_correction ? 1 / (1 - std::pow(u.beta1, (double)p->t)) : 1;
    u.var_scale = p->bias_correction ? 1 / (1 - std::pow(u.beta2, (double)p->t)) : 1;
    return mxcu_update_run(call, MXCI_RULE_lamb, {&u, nullptr, nullptr, nullptr, 0, {}});
}

static mxc_status lamb_phase2(const mxc_op_call *call) {
    const mxci_lamb2_params *p = static_cast<const mxci_lamb2_params *>(call->params);
    mxci_update u = {};
    u.lr = p->lr;
    u.rescale_grad = 1;
    u.clip_gradient = -1;
    return mxcu_update_run(
        call, MXCI_RULE_sgd,
        {&u,
         nullptr,
         nullptr,
         nullptr,
         0,
         {nullptr, mxcu_any_data(&call->in[2]), mxcu_any_data(&call->in[3]), p->lower_bound, p->upper_bound}});
}

MXCU_OP_IMPLS(lamb, {"lamb_update_phase1", lamb_phase1}, {"lamb_update_phase2", lamb_phase2})

/* SPDX-License-Identifier: Apache-2.0 */
/* _multi_update: any rule, for several weights; and those of adamw under MXNet's names. */
#include "cuda/operator/update/update.h"

static mxc_status forward(const mxc_op_call *call) {
    const mxci_rule_params *m = static_cast<const mxci_rule_params *>(call->params);
    mxcu_update_plan p = {&m->factors, &m->lrs, &m->wds, &m->etas, m->multi_precision, {}, 0};
    if (m->scaled)
        p.late.rescale = mxcu_pointer<const float>(call->aux[call->n_aux - 1].data);
    return mxcu_update_run(call, (mxci_rule)m->rule, p);
}

MXCU_OP_IMPLS(rule_update, {"_multi_update", forward}, {"_multi_adamw_update", forward},
              {"_multi_mp_adamw_update", forward})

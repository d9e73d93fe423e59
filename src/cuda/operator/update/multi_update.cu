/* SPDX-License-Identifier: Apache-2.0 */
/* mp_sgd_*, mp_nag_mom_update, multi_sgd_*, multi_mp_sgd_*, preloaded_multi_*: steps for several weights, and with
 * float32 copies of 16-bit weights. */
#include "cuda/operator/update/update.h"

template <mxci_rule rule> static mxc_status forward_copied(const mxc_op_call *call) {
    return mxcu_update_run(call, rule,
                           {static_cast<const mxci_update *>(call->params), nullptr, nullptr, nullptr, 1, {}, 0});
}

template <mxci_rule rule, int has_copy> static mxc_status forward_many(const mxc_op_call *call) {
    const mxci_multi_params *m = static_cast<const mxci_multi_params *>(call->params);
    return mxcu_update_run(call, rule, {&m->factors, &m->lrs, &m->wds, nullptr, has_copy, {}, 0});
}

/* The rates are the last two arguments. */
template <mxci_rule rule, int has_copy> static mxc_status forward_preloaded(const mxc_op_call *call) {
    const mxci_multi_params *m = static_cast<const mxci_multi_params *>(call->params);
    mxcu_update_plan p = {&m->factors, nullptr, nullptr, nullptr, has_copy, {}, 0};
    p.late.lrs = mxcu_pointer<const float>(call->in[2 * call->n_out].data);
    p.late.wds = mxcu_pointer<const float>(call->in[2 * call->n_out + 1].data);
    return mxcu_update_run(call, rule, p);
}

MXCU_OP_IMPLS(multi_update, {"mp_sgd_update", forward_copied<MXCI_RULE_sgd>},
              {"mp_sgd_mom_update", forward_copied<MXCI_RULE_sgd_mom>},
              {"mp_nag_mom_update", forward_copied<MXCI_RULE_nag_mom>},
              {"multi_sgd_update", forward_many<MXCI_RULE_sgd, 0>},
              {"multi_sgd_mom_update", forward_many<MXCI_RULE_sgd_mom, 0>},
              {"multi_mp_sgd_update", forward_many<MXCI_RULE_sgd, 1>},
              {"multi_mp_sgd_mom_update", forward_many<MXCI_RULE_sgd_mom, 1>},
              {"preloaded_multi_sgd_update", forward_preloaded<MXCI_RULE_sgd, 0>},
              {"preloaded_multi_sgd_mom_update", forward_preloaded<MXCI_RULE_sgd_mom, 0>},
              {"preloaded_multi_mp_sgd_update", forward_preloaded<MXCI_RULE_sgd, 1>},
              {"preloaded_multi_mp_sgd_mom_update", forward_preloaded<MXCI_RULE_sgd_mom, 1>})

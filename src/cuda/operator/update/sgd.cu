/* SPDX-License-Identifier: Apache-2.0 */
/* sgd_update, sgd_mom_update, nag_mom_update, signsgd_update, signum_update. */
#include "cuda/operator/update/update.h"

MXCU_OP_IMPLS(sgd, {"sgd_update", mxcu_update_forward<MXCI_RULE_sgd>},
              {"sgd_mom_update", mxcu_update_forward<MXCI_RULE_sgd_mom>},
              {"nag_mom_update", mxcu_update_forward<MXCI_RULE_nag_mom>},
              {"signsgd_update", mxcu_update_forward<MXCI_RULE_signsgd>},
              {"signum_update", mxcu_update_forward<MXCI_RULE_signum>})

/* SPDX-License-Identifier: Apache-2.0 */
/* rmsprop_update and rmspropalex_update. */
#include "cuda/operator/update/update.h"

MXCU_OP_IMPLS(rmsprop, {"rmsprop_update", mxcu_update_forward<MXCI_RULE_rmsprop>},
              {"rmspropalex_update", mxcu_update_forward<MXCI_RULE_rmspropalex>})

/* SPDX-License-Identifier: Apache-2.0 */
/* ftrl_update. */
#include "cuda/operator/update/update.h"

MXCU_OP_IMPLS(ftrl, {"ftrl_update", mxcu_update_forward<MXCI_RULE_ftrl>})

/* SPDX-License-Identifier: Apache-2.0 */
/* The table of update rules. */
#ifndef MXCI_OPTIMIZER_OPTIMIZER_RULES_H
#define MXCI_OPTIMIZER_OPTIMIZER_RULES_H

#include "optimizer/optimizer.h"

/* Built-in rules first, then those of the program in order of registration; NULL past the end. Thread-safe. */
const mxci_optimizer_rule *mxci_optimizer_rule_at(int index);
/* MXC_ENOTFOUND lists the names. Thread-safe. */
mxc_status mxci_optimizer_find_rule(const char *name, const mxci_optimizer_rule **out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Update rules that queue operators for one weight; the table in optimizer_rules.c names them. The functions are those
 * of mxc_optimizer_def, with the settings as params. */
#ifndef MXCI_OPTIMIZER_ARRAY_UPDATES_H
#define MXCI_OPTIMIZER_ARRAY_UPDATES_H

#include <mxc/optimizer.h>

mxc_status mxci_array_update_ftml(const mxc_optimizer_call *call);
mxc_status mxci_array_update_lamb(const mxc_optimizer_call *call);
mxc_status mxci_array_update_sgld(const mxc_optimizer_call *call);
mxc_status mxci_array_update_groupadagrad(const mxc_optimizer_call *call);
mxc_status mxci_array_update_adafactor(const mxc_optimizer_call *call);
mxc_status mxci_array_update_muon(const mxc_optimizer_call *call);

mxc_status mxci_array_init_groupadagrad(const mxc_optimizer_call *call, int i, mxc_ndarray **out);
mxc_status mxci_array_init_adafactor(const mxc_optimizer_call *call, int i, mxc_ndarray **out);
mxc_status mxci_array_init_muon(const mxc_optimizer_call *call, int i, mxc_ndarray **out);

int mxci_array_is_matrix(mxc_ndarray *weight); /* 2 axes: muon's own rule applies */

#endif

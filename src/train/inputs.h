/* SPDX-License-Identifier: Apache-2.0 */
/* Which arguments of a network its iterator must provide. */
#ifndef MXCI_TRAIN_INPUTS_H
#define MXCI_TRAIN_INPUTS_H

#include "train/feed.h"

/* Fail if an argument that options.train does not provide cannot be a parameter: it is the label of a loss, its shape
 * depends on the batch size, or its shape does not follow from what the iterator provides. The message names the
 * argument and the iterator's arrays. spec: of options.train for one context. MXC_ENOTFOUND, MXC_ENOMEM; statuses of
 * mxc_symbol_infer. */
mxc_status mxci_inputs_check(const mxc_fit_options *options, const mxci_feed_spec *spec);
/* Fail unless options.valid provides every argument of the network that options.train provides. MXC_ENOTFOUND. */
mxc_status mxci_inputs_check_valid(const mxc_fit_options *options, const mxci_feed_spec *spec);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a training as a list of named arrays. */
#ifndef MXCI_TRAIN_TRAINING_STATE_H
#define MXCI_TRAIN_TRAINING_STATE_H

#include "train/trainer.h"

/* Everything that the next step depends on; the caller releases it. MXC_ENOMEM. */
mxc_status mxci_training_state_collect(const mxci_trainer *trainer, mxc_ndarray_list *out);
/* Put the trainer there. path appears in messages. MXC_EFORMAT, MXC_ENOTFOUND (an array that the network needs),
 * MXC_ESHAPE, MXC_EINVAL, MXC_ENOMEM; the trainer is of no use then. */
mxc_status mxci_training_state_restore(mxci_trainer *trainer, const char *path, const mxc_ndarray_list *list);

#endif

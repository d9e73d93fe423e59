/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisers for the training loop. */
#ifndef MXCI_TRAIN_INITIALIZER_H
#define MXCI_TRAIN_INITIALIZER_H

#include <mxc/train.h>

/* Queue filling an array by a rule's name, or by JSON as MXNet writes it: ["xavier", {"magnitude": 3}]. The array's
 * name does not matter; it is for messages. MXC_EINVAL, and the statuses of mxc_init_array. */
mxc_status mxci_init_by_text(const char *text, const char *name, mxc_ndarray *array);

#endif

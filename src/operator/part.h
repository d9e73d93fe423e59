/* SPDX-License-Identifier: Apache-2.0 */
/* Implementations of operators that were registered apart from their descriptors (mxc_op_register_part). */
#ifndef MXCI_OPERATOR_PART_H
#define MXCI_OPERATOR_PART_H

#include <mxc/op.h>

/* The part of an operator for a kind of device; NULL if there is none. Takes no lock. */
const mxc_op_part *mxci_part_find(const mxc_op_def *def, mxc_device device);

#endif

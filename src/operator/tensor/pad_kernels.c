/* SPDX-License-Identifier: Apache-2.0 */
/* Padding and its gradient for each floating dtype. */
#include "operator/tensor/pad_kernels.h"

enum { COLUMNS = 512 }; /* of a row of the gradient that are added up at a time */

#define BODY "operator/tensor/pad_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

const mxci_pad_fn mxci_pad_forward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(forward);
const mxci_pad_fn mxci_pad_backward[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(backward);

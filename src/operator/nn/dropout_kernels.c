/* SPDX-License-Identifier: Apache-2.0 */
/* Masks of dropout and their application, for each floating dtype. */
#include "operator/nn/dropout_kernels.h"

#include "math/loop.h"

#define BODY "operator/nn/dropout_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

const mxci_dropout_mask_fn mxci_dropout_mask[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(mask);
const mxci_dropout_apply_fn mxci_dropout_apply[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(apply);

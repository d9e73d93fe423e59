/* SPDX-License-Identifier: Apache-2.0 */
/* Rotation of pairs for each floating dtype. */
#include "operator/nn/rotary_embedding_kernels.h"

#include "math/fastmath.h"

#define BODY "operator/nn/rotary_embedding_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

const mxci_rotary_fn mxci_rotary_rotate[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(rotate);

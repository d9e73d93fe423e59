/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of LayerNorm and RMSNorm, for each floating dtype. */
#include "operator/nn/layer_norm_kernels.h"

#include "math/loop.h"

enum { LANES = 16 };

#define BODY "operator/nn/layer_norm_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

const mxci_norm_affine_fn mxci_norm_affine[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(affine);
const mxci_norm_sums_fn mxci_norm_sums[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(sums);
const mxci_norm_combine_fn mxci_norm_combine[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(combine);
const mxci_norm_columns_fn mxci_norm_columns[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(columns);

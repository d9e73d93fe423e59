/* SPDX-License-Identifier: Apache-2.0 */
/* The channel kernels of BatchNorm, GroupNorm, LayerNorm and others, for each floating dtype. */
#include "operator/nn/batch_norm_kernels.h"

#include "math/loop.h"

enum { LANES = 32, RUN = 4096 }; /* partial sums side by side; elements summed into them before they go to double */

#define BODY "operator/nn/batch_norm_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

const mxci_bn_moments_fn mxci_bn_moments[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(moments);
const mxci_bn_affine_fn mxci_bn_affine[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(affine);
const mxci_bn_sums_fn mxci_bn_sums[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(sums);
const mxci_bn_combine_fn mxci_bn_combine[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(combine);

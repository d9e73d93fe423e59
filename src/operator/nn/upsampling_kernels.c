/* SPDX-License-Identifier: Apache-2.0 */
/* Nearest-neighbour upsampling for each floating dtype. */
#include "operator/nn/upsampling_kernels.h"

enum { COLUMNS = 512 }; /* of a row of out that are added up at a time */

#define BODY "operator/nn/upsampling_kernels.inc"
#define FOR_FLOATS
#include "math/for_types.inc"

const mxci_upsample_fn mxci_upsample[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(upsample);
const mxci_upsample_grad_fn mxci_upsample_grad[MXC_DTYPE_LIMIT] = MXCI_FLOAT_TABLE(upsample_grad);

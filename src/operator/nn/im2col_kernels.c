/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of im2col_kernels.inc by dtype. */
#include "operator/nn/im2col_kernels.h"

#define BODY "operator/nn/im2col_kernels.inc"
#define FOR_REALS
#include "math/for_types.inc"

const mxci_im2col_fn mxci_im2col[MXC_F64 + 1] = MXCI_REAL_TABLE(im2col);
const mxci_col2im_fn mxci_col2im[MXC_F64 + 1] = MXCI_REAL_TABLE(col2im);

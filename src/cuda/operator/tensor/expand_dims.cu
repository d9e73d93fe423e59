/* SPDX-License-Identifier: Apache-2.0 */
/* expand_dims: another shape for the same elements. */
#include "cuda/operator/tensor/reshape.h"

MXCU_OP_IMPLS(expand_dims, {"expand_dims", mxcu_reshape_forward, mxcu_reshape_backward})

/* SPDX-License-Identifier: Apache-2.0 */
/* reshape_like: the first argument in the shape of the second. */
#include "cuda/operator/tensor/reshape.h"

MXCU_OP_IMPLS(reshape_like, {"reshape_like", mxcu_reshape_forward, mxcu_reshape_backward})

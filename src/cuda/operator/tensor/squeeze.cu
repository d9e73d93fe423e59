/* SPDX-License-Identifier: Apache-2.0 */
/* squeeze: another shape for the same elements. */
#include "cuda/operator/tensor/reshape.h"

MXCU_OP_IMPLS(squeeze, {"squeeze", mxcu_reshape_forward, mxcu_reshape_backward})

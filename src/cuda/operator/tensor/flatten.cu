/* SPDX-License-Identifier: Apache-2.0 */
/* Flatten: another shape for the same elements. */
#include "cuda/operator/tensor/reshape.h"

MXCU_OP_IMPLS(flatten, {"Flatten", mxcu_reshape_forward, mxcu_reshape_backward})

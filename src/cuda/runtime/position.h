/* SPDX-License-Identifier: Apache-2.0 */
/* Positions in three spatial axes, for kernels. */
#ifndef MXCI_CUDA_RUNTIME_POSITION_H
#define MXCI_CUDA_RUNTIME_POSITION_H

#include "cuda/runtime/kernel.h"

struct mxcu_position {
    int64_t at[3];
};

/* The position of element i of a C-order array whose three axes have these sizes. */
MXCU_DEVICE mxcu_position mxcu_position_of(int64_t i, const int64_t *size) {
    int64_t row = mxcu_divide(i, size[2]), plane = mxcu_divide(row, size[1]);
    return {{plane, row - plane * size[1], i - row * size[2]}};
}

#endif

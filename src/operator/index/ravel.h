/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of _ravel_multi_index and _unravel_index, and one step of the former, for C and GPU kernels. */
#ifndef MXCI_OPERATOR_INDEX_RAVEL_H
#define MXCI_OPERATOR_INDEX_RAVEL_H

#include <mxc/param.h>

#include "math/loop.h"

typedef struct mxci_ravel_params {
    mxc_tuple shape;
} mxci_ravel_params;

/* Numbers that are too large wrap. */
MXCI_SCALAR int64_t mxci_ravel_step(int64_t number, int64_t dim, int64_t position) {
    return (int64_t)((uint64_t)number * (uint64_t)dim + (uint64_t)position);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between a dense array and strided elements of another, as requests say. Every dtype. */
#ifndef MXCI_MATH_STRIDED_COPY_H
#define MXCI_MATH_STRIDED_COPY_H

#include "math/assign.h"
#include "math/strided_kernels.h"

/* to[i] = from[first + strides(i)] for every element i of to. */
void mxci_assign_from_strided(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from,
                              int64_t first, const mxci_strided *strides);
/* to[first + strides(i)] = from[i] for every element i of from; no two i share an element. Where req is not add, the
 * rest of to becomes 0. */
void mxci_assign_to_strided(const mxc_run *run, mxc_req req, const mxc_tensor *to, int64_t first,
                            const mxci_strided *strides, const mxc_tensor *from);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Moving elements between a dense array and a strided walk through another, as requests say. Every dtype. */
#ifndef MXCI_MATH_STRIDED_COPY_H
#define MXCI_MATH_STRIDED_COPY_H

#include "math/assign.h"
#include "math/strided_kernels.h"

/* to[i] = from[first + walk(i)] for every element i of to. */
void mxci_put_from_walk(const mxc_run *run, mxc_req req, const mxc_tensor *to, const mxc_tensor *from, int64_t first,
                        const mxci_strided *walk);
/* to[first + walk(i)] = from[i] for every element i of from; no two i stand on one element. Where req is not add, the
 * rest of to becomes 0. */
void mxci_put_to_walk(const mxc_run *run, mxc_req req, const mxc_tensor *to, int64_t first, const mxci_strided *walk,
                      const mxc_tensor *from);

#endif

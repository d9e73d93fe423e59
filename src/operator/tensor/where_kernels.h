/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise selection between two rows, for elements of any type. */
#ifndef MXCI_OPERATOR_TENSOR_WHERE_KERNELS_H
#define MXCI_OPERATOR_TENSOR_WHERE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* to[i] = which[i] ? yes[i] : no[i] for n elements of 1, 2, 4 or 8 bytes. to may be yes or no. */
void mxci_choose(size_t element, int64_t n, const uint8_t *which, const void *yes, const void *no, void *to);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Dropout, tables by dtype (the floating ones). */
#ifndef MXCI_OPERATOR_NN_DROPOUT_KERNELS_H
#define MXCI_OPERATOR_NN_DROPOUT_KERNELS_H

#include <stdint.h>

#include <mxc/types.h>

enum { MXCI_DROPOUT_TILE = 1024 };

/* n at most MXCI_DROPOUT_TILE. mask = 1 / keep where the random number is below keep in [0, 1], else 0. */
typedef void (*mxci_dropout_mask_fn)(int64_t n, const uint32_t *bits, double keep, void *mask);
extern const mxci_dropout_mask_fn mxci_dropout_mask[MXC_DTYPE_LIMIT];

/* y = or += x mask; y may be x. */
typedef void (*mxci_dropout_apply_fn)(int add, int64_t n, const void *x, const void *mask, void *y);
extern const mxci_dropout_apply_fn mxci_dropout_apply[MXC_DTYPE_LIMIT];

#endif

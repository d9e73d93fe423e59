/* SPDX-License-Identifier: Apache-2.0 */
/* Nearest-neighbour upsampling of planes by integer factors: each element becomes a square of scale x scale. */
#ifndef MXCI_OPERATOR_NN_UPSAMPLING_KERNELS_H
#define MXCI_OPERATOR_NN_UPSAMPLING_KERNELS_H

#include <stdint.h>

#include <mxc/types.h>

/* One row of out, n elements: the sum of n_in rows, each enlarged by its scale; added to what is there where add. */
typedef void (*mxci_upsample_fn)(int n_in, const void *const *in, const int64_t *scale, int add, void *out, int64_t n);
/* One row of n elements: the sums of the squares of scale x scale of g, whose rows are step apart. */
typedef void (*mxci_upsample_grad_fn)(const void *g, int64_t scale, int64_t step, int add, void *dx, int64_t n);

extern const mxci_upsample_fn mxci_upsample[MXC_DTYPE_LIMIT];
extern const mxci_upsample_grad_fn mxci_upsample_grad[MXC_DTYPE_LIMIT];

#endif

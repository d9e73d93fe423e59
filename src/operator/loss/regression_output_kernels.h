/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of regressions and their gradients, tables by dtype (the floating ones). */
#ifndef MXCI_OPERATOR_LOSS_REGRESSION_OUTPUT_KERNELS_H
#define MXCI_OPERATOR_LOSS_REGRESSION_OUTPUT_KERNELS_H

#include <stdint.h>

#include <mxc/types.h>

/* y = or += 1 / (1 + exp(-x)); y may be x. */
typedef void (*mxci_logistic_fn)(int add, int64_t n, const void *x, void *y);
extern const mxci_logistic_fn mxci_logistic[MXC_DTYPE_LIMIT];

/* dx = or += scale d, where d is y - label, or its sign; dx may be y. */
typedef void (*mxci_difference_fn)(int add, int sign, double scale, int64_t n, const void *y, const void *label,
                                   void *dx);
extern const mxci_difference_fn mxci_difference[MXC_DTYPE_LIMIT];

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalisation of one row of n elements, step apart, with a factor gamma for each of them. Tables by dtype of the data
 * and gamma (the floating ones). Sums are made in double.
 */
#ifndef MXCI_OPERATOR_NN_LAYER_NORM_KERNELS_H
#define MXCI_OPERATOR_NN_LAYER_NORM_KERNELS_H

#include <stdint.h>

#include <mxc/types.h>

typedef struct mxci_norm_row {
    int64_t n, step;
    double mean, scale; /* scale: 1 / std */
    const void *x, *gamma;
} mxci_norm_row;

/* y = or += gamma (x - mean) scale + beta; beta NULL: 0. y may be x. */
typedef void (*mxci_norm_affine_fn)(const mxci_norm_row *r, int add, const void *beta, void *y);
extern const mxci_norm_affine_fn mxci_norm_affine[MXC_DTYPE_LIMIT];

/* Sums of gamma dy, and of gamma dy (x - mean). */
typedef void (*mxci_norm_sums_fn)(const mxci_norm_row *r, const void *dy, double *sum, double *product);
extern const mxci_norm_sums_fn mxci_norm_sums[MXC_DTYPE_LIMIT];

/* dx = or += scale gamma dy + b (x - mean) + c; dx may be dy. */
typedef void (*mxci_norm_combine_fn)(const mxci_norm_row *r, int add, double b, double c, const void *dy, void *dx);
extern const mxci_norm_combine_fn mxci_norm_combine[MXC_DTYPE_LIMIT];

/* gamma_grad[i] += dy (x - mean) scale, beta_grad[i] += dy. */
typedef void (*mxci_norm_columns_fn)(const mxci_norm_row *r, const void *dy, double *gamma_grad, double *beta_grad);
extern const mxci_norm_columns_fn mxci_norm_columns[MXC_DTYPE_LIMIT];

#endif

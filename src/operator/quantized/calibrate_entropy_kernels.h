/* SPDX-License-Identifier: Apache-2.0 */
/* The information that a histogram loses when it is clipped and quantized. */
#ifndef MXCI_OPERATOR_QUANTIZED_CALIBRATE_ENTROPY_KERNELS_H
#define MXCI_OPERATOR_QUANTIZED_CALIBRATE_ENTROPY_KERNELS_H

#include <stdint.h>

/* The Kullback-Leibler divergence between the middle 2 half + 1 of n bins, n odd, and their quantized form of `levels`
 * bins, which are at most as many. What is outside counts in the outermost bins. INFINITY where it is undefined. p, q:
 * scratch, 2 half + 1 each. */
double mxci_entropy_divergence(int64_t n, const float *histogram, int64_t half, int64_t levels, double *p, double *q);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How much is lost of a histogram that is cut at a threshold and told in fewer bins. */
#ifndef MXCI_OPERATOR_QUANTIZED_CALIBRATE_ENTROPY_KERNELS_H
#define MXCI_OPERATOR_QUANTIZED_CALIBRATE_ENTROPY_KERNELS_H

#include <stdint.h>

/*
 * The divergence (Kullback and Leibler's) of the middle 2 half + 1 of n bins, n odd, from themselves told in levels
 * bins, which are at most as many. What is outside counts in the outermost bins. INFINITY where there is nothing to
 * tell. p, q: scratch, 2 half + 1 each.
 */
double mxci_entropy_divergence(int64_t n, const float *histogram, int64_t half, int64_t levels, double *p, double *q);

#endif

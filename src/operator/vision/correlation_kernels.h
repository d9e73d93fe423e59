/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing patches of two planes of one size, f32 and f64. */
#ifndef MXCI_OPERATOR_VISION_CORRELATION_KERNELS_H
#define MXCI_OPERATOR_VISION_CORRELATION_KERNELS_H

#include <stdint.h>

typedef struct mxci_correlation_shape {
    int64_t channels, in[2]; /* of a sample, padded: height and width */
    int64_t kernel, stride;  /* size of a patch; elements between patches */
    int multiply;            /* sum of products; else of absolute differences */
} mxci_correlation_shape;

/* What a pair of elements, p of a and q of b, contributes; and its derivative by p (second: by q) times g. */
#define MXCI_CORRELATION_TERM(multiply, p, q) ((multiply) ? (p) * (q) : (p) > (q) ? (p) - (q) : (q) - (p))
#define MXCI_CORRELATION_DERIVATIVE(multiply, second, g, p, q) \
    ((multiply) ? (g) * ((second) ? (p) : (q)) : ((p) >= (q)) != (second) ? (g) : -(g))

/* a and b point to the first elements of two patches, in channel 0; n pairs of patches along the row.
 * forward: y (n) = the sums over patches and channels.
 * backward: d, which points in one channel to where a (second: b) does, += g (n) times the derivatives; a and b in
 * that channel. */
#define MXCI_CORRELATION_KERNELS(T, suffix)                                                                            \
    void mxci_correlate_##suffix(const mxci_correlation_shape *s, const T *a, const T *b, int64_t n, T *y);            \
    void mxci_correlate_grad_##suffix(const mxci_correlation_shape *s, int second, const T *g, const T *a, const T *b, \
                                      int64_t n, T *d);
MXCI_CORRELATION_KERNELS(float, f32)
MXCI_CORRELATION_KERNELS(double, f64)
#undef MXCI_CORRELATION_KERNELS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of random numbers in bulk. Every result is a function of seed, stream and its own number, never of how a range
 * is cut, so the parts of a fill may run in any order on any thread.
 *
 * A float element i uses number first + i; a double element uses two, first + 2 i and the next. Normal elements come in
 * pairs by the Box-Muller transform: 2 p and 2 p + 1 from the numbers of both.
 */
#ifndef MXCI_MATH_RANDOM_KERNELS_H
#define MXCI_MATH_RANDOM_KERNELS_H

#include <stdint.h>

/* out[i] = number first + i of the stream, for n numbers. */
void mxci_random_words(uint64_t seed, uint64_t stream, uint64_t first, int64_t n, uint32_t *out);

/* Elements begin to end-1 of a fill that starts at number first: out[i - begin] = low + u (high - low), below high. */
void mxci_random_uniform_f32(uint64_t seed, uint64_t stream, uint64_t first, int64_t begin, int64_t end, float low,
                             float high, float *out);
void mxci_random_uniform_f64(uint64_t seed, uint64_t stream, uint64_t first, int64_t begin, int64_t end, double low,
                             double high, double *out);
/* The same with mean + deviation * standard normal. */
void mxci_random_normal_f32(uint64_t seed, uint64_t stream, uint64_t first, int64_t begin, int64_t end, float mean,
                            float deviation, float *out);
void mxci_random_normal_f64(uint64_t seed, uint64_t stream, uint64_t first, int64_t begin, int64_t end, double mean,
                            double deviation, double *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* See quantized/calibrate_entropy_kernels.h. Details, such as rounding counts down and smoothing by 1e-4, are MXNet's,
 * so that thresholds agree. */
#include "operator/quantized/calibrate_entropy_kernels.h"

#include <math.h>

/* q = the counts, in `levels` runs of equal length, each count replaced by the run's mean over its counts that are not
 * 0; 0 where p is 0. The last run takes the remainder. */
static void quantize_histogram(int64_t size, int64_t levels, const double *p, double *q) {
    int64_t run = size / levels;
    for (int64_t level = 0; level < levels; level++) {
        int64_t begin = level * run, end = level == levels - 1 ? size : begin + run, nonzero = 0;
        double mean = 0;
        for (int64_t i = begin; i < end; i++) {
            mean += q[i];
            nonzero += q[i] != 0;
        }
        mean = nonzero ? mean / (double)nonzero : 0;
        for (int64_t i = begin; i < end; i++)
            q[i] = p[i] != 0 ? mean : 0;
    }
}

/* Add epsilon to each 0 and subtract it from the others, then normalize. Returns 0 where that is not possible. */
static int smooth(int64_t size, double *x) {
    const double epsilon = 1e-4;
    double total = 0, taken;
    int64_t zeros = 0;
    for (int64_t i = 0; i < size; i++)
        zeros += x[i] == 0;
    taken = zeros < size ? epsilon * (double)zeros / (double)(size - zeros) : 1;
    if (taken >= 1)
        return 0;
    for (int64_t i = 0; i < size; i++)
        x[i] += x[i] == 0 ? epsilon : -taken;
    for (int64_t i = 0; i < size; i++)
        total += x[i];
    for (int64_t i = 0; i < size; i++)
        x[i] /= total;
    return 1;
}

double mxci_entropy_divergence(int64_t n, const float *histogram, int64_t half, int64_t levels, double *p, double *q) {
    int64_t size = 2 * half + 1, begin = n / 2 - half, end = begin + size;
    double divergence = 0;
    for (int64_t i = 0; i < size; i++)
        p[i] = q[i] = floor((double)histogram[begin + i]);
    for (int64_t i = 0; i < begin; i++)
        p[0] += (double)histogram[i];
    for (int64_t i = end; i < n; i++)
        p[size - 1] += (double)histogram[i];
    q[0] = 0; /* as MXNet has it: the first bin counts for what is outside only */
    quantize_histogram(size, levels, p, q);
    if (!smooth(size, p) || !smooth(size, q))
        return INFINITY;
    for (int64_t i = 0; i < size; i++)
        if (p[i] > 0 && q[i] > 0)
            divergence += p[i] * log(p[i] / q[i]);
    return divergence;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/quantized/calibrate_entropy_kernels.h"

#include <math.h>

static double sum(const double *x, int64_t n) {
    double s = 0;
    for (int64_t i = 0; i < n; i++)
        s += x[i];
    return s;
}

/* q = the counts, each of levels runs of them replaced by its mean over those that are not 0; where p is 0, 0. The last
 * run takes what is left over. */
static void tell(int64_t size, int64_t levels, const double *p, double *q) {
    int64_t run = size / levels;
    for (int64_t level = 0; level < levels; level++) {
        int64_t begin = level * run, end = level == levels - 1 ? size : begin + run, some = 0;
        double mean = 0;
        for (int64_t i = begin; i < end; i++) {
            mean += q[i];
            some += q[i] != 0;
        }
        mean = some ? mean / (double)some : 0;
        for (int64_t i = begin; i < end; i++)
            q[i] = p[i] != 0 ? mean : 0;
    }
}

/* Give each 0 a little, and take it from the others; then have the sum be 1. Returns 0 where that cannot be. */
static int smooth(int64_t size, double *x) {
    const double little = 1e-4;
    double total, taken;
    int64_t zeros = 0;
    for (int64_t i = 0; i < size; i++)
        zeros += x[i] == 0;
    taken = zeros < size ? little * (double)zeros / (double)(size - zeros) : 1;
    if (taken >= 1)
        return 0;
    for (int64_t i = 0; i < size; i++)
        x[i] += x[i] == 0 ? little : -taken;
    total = sum(x, size);
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
    tell(size, levels, p, q);
    if (!smooth(size, p) || !smooth(size, q))
        return INFINITY;
    for (int64_t i = 0; i < size; i++)
        if (p[i] > 0 && q[i] > 0)
            divergence += p[i] * log(p[i] / q[i]);
    return divergence;
}

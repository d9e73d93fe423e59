/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_calibrate_entropy. */
#include <math.h>
#include <stdlib.h>

#include "operator/cases.h"

static double sum_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* As documented: zeros get 0.0001, which the others give; INFINITY if they cannot. */
static double divergence(double *p, double *q, int64_t n) {
    double *both[2] = {p, q}, found = 0;
    for (int k = 0; k < 2; k++) {
        double *x = both[k], zeros = 0, total;
        for (int64_t i = 0; i < n; i++)
            zeros += x[i] == 0;
        if (zeros == (double)n || 1e-4 * zeros / ((double)n - zeros) >= 1)
            return INFINITY;
        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] == 0 ? 1e-4 : x[i] - 1e-4 * zeros / ((double)n - zeros);
        total = sum_of(x, n);
        for (int64_t i = 0; i < n; i++)
            x[i] /= total;
    }
    for (int64_t i = 0; i < n; i++)
        found += p[i] > 0 && q[i] > 0 ? p[i] * log(p[i] / q[i]) : 0;
    return found;
}

static double try_threshold(const op_run *r, int64_t half, int64_t levels) {
    int64_t bins = case_size(&r->in_shape[0]), n = 2 * half + 1, begin = bins / 2 - half, each = n / levels;
    double *p = calloc((size_t)n, sizeof *p), *q = calloc((size_t)n, sizeof *q), found;
    for (int64_t i = 0; i < bins; i++)
        p[i < begin ? 0 : i >= begin + n ? n - 1 : i - begin] += r->in[0][i];
    for (int64_t level = 0; level < levels; level++) {
        int64_t end = level == levels - 1 ? n : (level + 1) * each;
        double sum = 0, some = 0;
        for (int64_t i = level * each; i < end; i++) {
            sum += i ? r->in[0][begin + i] : 0;
            some += i && r->in[0][begin + i] != 0;
        }
        for (int64_t i = level * each; i < end; i++)
            q[i] = some > 0 && p[i] != 0 ? sum / some : 0;
    }
    found = divergence(p, q, n);
    free(p);
    free(q);
    return found;
}

static void ref_entropy(const op_run *r) {
    int64_t bins = case_size(&r->in_shape[0]), levels = (int64_t)case_number(r, "num_quantized_bins", 255);
    double least = INFINITY;
    for (int64_t half = levels / 2; half <= bins / 2; half++) {
        double found = try_threshold(r, half, levels);
        if (found < least || half == levels / 2) {
            least = found;
            r->out[0][0] = r->in[1][bins / 2 + half + 1];
            r->out[1][0] = found;
        }
    }
}

/* A hill of whole numbers with flanks of zeros, and ascending edges. */
static void prepare_histogram(const op_run *r) {
    int64_t bins = case_size(&r->in_shape[0]);
    for (int64_t i = 0; i < bins; i++) {
        double x = ((double)i - (double)(bins / 2)) / (double)(bins / 6 + 1);
        r->in[0][i] = floor(1000 * exp(-x * x) * (1 + 0.2 * r->in[0][i]));
    }
    for (int64_t i = 0; i <= bins; i++)
        r->in[1][i] = -3 + 6 * (double)i / (double)bins;
}

static const op_case cases[] = {
    {.op = "_contrib_calibrate_entropy",
     .params = "num_quantized_bins=15;num_quantized_bins=7;num_quantized_bins=31",
     .in = "33 34; 61 62; 101 102; 51 52; 201 202; 99 100; 31 32",
     .reference = ref_entropy,
     .prepare = prepare_histogram,
     .gradient = case_zero_gradient},
    {.op = "_contrib_calibrate_entropy",
     .in = "255 256; 601 602; 301 302",
     .reference = ref_entropy,
     .prepare = prepare_histogram,
     .gradient = case_zero_gradient},
    FAILS("_contrib_calibrate_entropy", "num_quantized_bins=3", "4 5", MXC_ESHAPE, "expected an odd number"),
    FAILS("_contrib_calibrate_entropy", "num_quantized_bins=9", "5 6", MXC_ESHAPE, "at least num_quantized_bins 9"),
    FAILS("_contrib_calibrate_entropy", "num_quantized_bins=3", "5 5", MXC_ESHAPE, "hist"),
    INFERS("_contrib_calibrate_entropy", "num_quantized_bins=3", "5,? -> ?,? => 5,6 -> 1,1"),
    INFERS("_contrib_calibrate_entropy", "num_quantized_bins=3", "?,6 -> ?,? => 5,6 -> 1,1"),
};

MXC_CASES(quantized_calibrate_entropy_cases, cases);

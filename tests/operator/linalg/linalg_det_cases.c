/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _linalg_det, _linalg_slogdet and _linalg_inverse. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "operator/linalg/linalg_reference.h"

/* Gauss-Jordan elimination with the largest pivots: a (n,n) becomes the identity and inverse, which begins as such, the
 * inverse, unless it is NULL. Returns the determinant. */
static double eliminate(int64_t n, double *a, double *inverse) {
    double det = 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            best = fabs(a[i * n + k]) > fabs(a[best * n + k]) ? i : best;
        det *= best == k ? a[best * n + k] : -a[best * n + k];
        if (a[best * n + k] == 0)
            return 0;
        for (int64_t j = 0; j < n; j++) {
            double swap = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = swap;
            if (inverse) {
                swap = inverse[k * n + j];
                inverse[k * n + j] = inverse[best * n + j];
                inverse[best * n + j] = swap;
            }
        }
        for (int64_t i = 0; i < n; i++) {
            const double factor = a[i * n + k] / a[k * n + k];
            for (int64_t j = 0; j < n && i != k; j++) {
                a[i * n + j] -= factor * a[k * n + j];
                if (inverse)
                    inverse[i * n + j] -= factor * inverse[k * n + j];
            }
        }
    }
    for (int64_t i = 0; i < n * n && inverse; i++)
        inverse[i] /= a[i / n * (n + 1)];
    return det;
}

static double determinant(int64_t n, const double *a) {
    double *copy = calloc((size_t)(n * n) + 1, sizeof *copy), det;
    memcpy(copy, a, (size_t)(n * n) * sizeof *copy);
    det = eliminate(n, copy, NULL);
    free(copy);
    return det;
}

static void ref_det(const op_run *r) {
    const int64_t n = case_rows(&r->in_shape[0]);
    for (int64_t m = 0; m < case_batch(&r->in_shape[0]); m++)
        r->out[0][m] = determinant(n, r->in[0] + m * n * n);
}

static void ref_slogdet(const op_run *r) {
    const int64_t n = case_rows(&r->in_shape[0]);
    for (int64_t m = 0; m < case_batch(&r->in_shape[0]); m++) {
        const double det = determinant(n, r->in[0] + m * n * n);
        r->out[0][m] = det > 0 ? 1 : det < 0 ? -1 : 0;
        r->out[1][m] = log(fabs(det));
    }
}

static void ref_inverse(const op_run *r) {
    const int64_t n = case_rows(&r->in_shape[0]);
    double *copy = calloc((size_t)(n * n) + 1, sizeof *copy);
    for (int64_t m = 0; m < case_batch(&r->in_shape[0]); m++) {
        memcpy(copy, r->in[0] + m * n * n, (size_t)(n * n) * sizeof *copy);
        for (int64_t i = 0; i < n * n; i++)
            r->out[0][m * n * n + i] = i / n == i % n;
        eliminate(n, copy, r->out[0] + m * n * n);
    }
    free(copy);
}

/* Well conditioned, with a determinant of either sign that neither overflows nor vanishes: the rows of a matrix with a
 * strong diagonal in another order. */
static void make_regular(const op_run *r) {
    const int64_t n = case_rows(&r->in_shape[0]);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        const int64_t row = i / n % n, column = i % n;
        r->in[0][i] *= 0.5 / (double)n;
        r->in[0][i] += column == (row + 1) % n ? 1 : 0;
    }
}

/* Every second matrix is 0. */
static void make_singular(const op_run *r) {
    const int64_t n = case_rows(&r->in_shape[0]);
    make_regular(r);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->in[0][i] *= i / (n * n) % 2 ? 0 : 1;
}

#define DET(shape) FITTED("_linalg_det", "", shape, ref_det, make_regular)
#define SLOGDET(shape) FITTED("_linalg_slogdet", "", shape, ref_slogdet, make_regular)
#define INVERSE(shape) FITTED("_linalg_inverse", "", shape, ref_inverse, make_regular)
#define MATRICES                                                                                                 \
    "3x3; 2x2; 5x5; 7x7; 17x17; 1x1; 1x1x1; 3x1x1; 1x4x4; 2x1x3x2x2; 33x33; 0x0; 4x2x2; 2x3x5x5; 0x2x2; 2x0x0; " \
    "40x40; "                                                                                                    \
    "9x7x7; 65x2x2; 70x70; 6x6"

static const op_case cases[] = {
    DET(MATRICES),
    {.op = "_linalg_det",
     .in = "6x3x3",
     .reference = ref_det,
     .prepare = make_singular,
     .flags = CASE_NO_GRADIENT,
     .tolerance = 20},
    FAILS("_linalg_det", "", "3x4", MXC_ESHAPE, "expected shape (3,3), found (3,4)"),
    FAILS("_linalg_det", "", "3", MXC_ESHAPE, "expected at least 2"),
    INFERS("_linalg_det", "", "2x?x3 -> ? => 2x3x3 -> 2"),

    SLOGDET(MATRICES),
    {.op = "_linalg_slogdet",
     .in = "6x3x3",
     .reference = ref_slogdet,
     .prepare = make_singular,
     .flags = CASE_NO_GRADIENT,
     .tolerance = 20},
    FAILS("_linalg_slogdet", "", "3x4", MXC_ESHAPE, "expected shape (3,3), found (3,4)"),
    INFERS("_linalg_slogdet", "", "2x?x3 -> ?,? => 2x3x3 -> 2,2"),

    INVERSE(MATRICES),
    FAILS("_linalg_inverse", "", "3x4", MXC_ESHAPE, "expected shape (3,3), found (3,4)"),
    INFERS("_linalg_inverse", "", "? -> 2x?x3 => 2x3x3 -> 2x3x3"),
};

MXC_CASES(linalg_linalg_det_cases, cases);

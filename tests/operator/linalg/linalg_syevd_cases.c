/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _linalg_syevd. */
#include <math.h>
#include <stdlib.h>

#include "operator/linalg/linalg_reference.h"

/* Jacobi's method: rotations that clear an element of the symmetric a (n,n) each, until it is diagonal; u (n,n)
 * collects them, with the eigenvectors as rows. */
static void diagonalise(int64_t n, double *a, double *u) {
    for (int64_t i = 0; i < n * n; i++)
        u[i] = i / n == i % n;
    for (int sweep = 0; sweep < 30; sweep++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) {
                double theta, t, c, s;
                if (fabs(a[p * n + q]) < 1e-300)
                    continue;
                theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                c = 1 / sqrt(t * t + 1), s = t * c;
                for (int64_t k = 0; k < n; k++) {
                    const double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y, a[k * n + q] = s * x + c * y;
                }
                for (int64_t k = 0; k < n; k++) {
                    const double x = a[p * n + k], y = a[q * n + k], v = u[p * n + k], w = u[q * n + k];
                    a[p * n + k] = c * x - s * y, a[q * n + k] = s * x + c * y;
                    u[p * n + k] = c * v - s * w, u[q * n + k] = s * v + c * w;
                }
            }
}

/* Eigenvalue number i in ascending order is that of row order[i]. */
static void sort(int64_t n, const double *a, int64_t *order) {
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i;
        for (; at > 0 && a[order[at - 1] * (n + 1)] > a[i * (n + 1)]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Of the symmetric part of A; the largest element of each row of U is positive. */
static void ref_syevd(const op_run *r) {
    const int64_t n = case_rows(&r->in_shape[0]);
    double *a = calloc((size_t)(n * n) + 1, sizeof *a), *u = calloc((size_t)(n * n) + 1, sizeof *u);
    int64_t *order = calloc((size_t)n + 1, sizeof *order);
    for (int64_t b = 0; b < case_batch(&r->in_shape[0]); b++) {
        const double *in = r->in[0] + b * n * n;
        for (int64_t i = 0; i < n * n; i++)
            a[i] = (in[i] + in[i % n * n + i / n]) / 2;
        diagonalise(n, a, u);
        sort(n, a, order);
        for (int64_t i = 0; i < n; i++) {
            const double *row = u + order[i] * n;
            double most = 0;
            for (int64_t j = 0; j < n; j++)
                most = fabs(row[j]) > fabs(most) ? row[j] : most;
            for (int64_t j = 0; j < n; j++)
                r->out[0][(b * n + i) * n + j] = most < 0 ? -row[j] : row[j];
            r->out[1][b * n + i] = a[order[i] * (n + 1)];
        }
    }
    free(a);
    free(u);
    free(order);
}

/* Symmetric, with eigenvalues that are far from each other. */
static void make_symmetric(const op_run *r) {
    const int64_t n = case_rows(&r->in_shape[0]);
    for (int64_t m = 0; m < case_batch(&r->in_shape[0]); m++) {
        double *a = r->in[0] + m * n * n;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < i; j++)
                a[i * n + j] = a[j * n + i] *= 0.3;
            a[i * n + i] = 1.5 * (double)(n / 2 - i) + 0.2 * a[i * n + i];
        }
    }
}

static const op_case cases[] = {
    FITTED("_linalg_syevd", "",
           "3x3; 2x2; 5x5; 7x7; 17x17; 1x1; 1x1x1; 3x1x1; 1x4x4; 2x1x3x2x2; 20x20; 0x0; 4x2x2; 2x3x5x5; 0x2x2; 2x0x0; "
           "9x7x7; 65x2x2; 6x6; 4x4; 8x8",
           ref_syevd, make_symmetric),
    FAILS("_linalg_syevd", "", "3x4", MXC_ESHAPE, "expected shape (3,3), found (3,4)"),
    FAILS("_linalg_syevd", "", "3", MXC_ESHAPE, "expected at least 2"),
    INFERS("_linalg_syevd", "", "? -> ?,2x3 => 2x3x3 -> 2x3x3,2x3"),
};

MXC_CASES(linalg_linalg_syevd_cases, cases);

/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _linalg_gelqf. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "operator/linalg/linalg_reference.h"

/* A (m,n) becomes L (m columns, lower triangular; the rest is 0) by a reflection for each row, as Householder's. A row
 * that has its last element only is left as it is, with its sign. */
static void reflect(int64_t m, int64_t n, double *a) {
    for (int64_t k = 0; k < m; k++) {
        double *x = a + k * n, tail = 0, norm, square;
        for (int64_t j = k + 1; j < n; j++)
            tail += x[j] * x[j];
        if (tail == 0)
            continue;
        norm = sqrt(tail + x[k] * x[k]);
        x[k] += x[k] < 0 ? -norm : norm; /* now the vector of the reflection */
        square = tail + x[k] * x[k];
        for (int64_t i = k + 1; i < m; i++) {
            double product = 0;
            for (int64_t j = k; j < n; j++)
                product += a[i * n + j] * x[j];
            for (int64_t j = k; j < n; j++)
                a[i * n + j] -= 2 * product / square * x[j];
        }
        x[k] = x[k] < 0 ? norm : -norm;
        for (int64_t j = k + 1; j < n; j++)
            x[j] = 0;
    }
}

/* Q by substitution: row i of A is the sum of L_ij Q_j. */
static void ref_gelqf(const op_run *r) {
    const int64_t m = case_rows(&r->in_shape[0]), n = case_last_dim(&r->in_shape[0]);
    double *l = calloc((size_t)(m * n) + 1, sizeof *l);
    for (int64_t b = 0; b < case_batch(&r->in_shape[0]); b++) {
        const double *a = r->in[0] + b * m * n;
        double *q = r->out[0] + b * m * n;
        memcpy(l, a, (size_t)(m * n) * sizeof *l);
        reflect(m, n, l);
        for (int64_t i = 0; i < m; i++) {
            for (int64_t j = 0; j < m; j++)
                r->out[1][(b * m + i) * m + j] = j <= i ? l[i * n + j] : 0;
            for (int64_t c = 0; c < n; c++) {
                double rest = a[i * n + c];
                for (int64_t j = 0; j < i; j++)
                    rest -= l[i * n + j] * q[j * n + c];
                q[i * n + c] = rest / l[i * n + i];
            }
        }
    }
    free(l);
}

/* Rows that are far from dependent. */
static void make_independent(const op_run *r) {
    const int64_t m = case_rows(&r->in_shape[0]), n = case_last_dim(&r->in_shape[0]);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        r->in[0][i] /= (double)n;
        r->in[0][i] += i % n == (i / n % m + 1) % n ? 1 : 0;
    }
}

static const op_case cases[] = {
    FITTED("_linalg_gelqf", "",
           "2x3; 3x3; 1x1; 1x5; 2x2; 5x9; 7x7; 17x19; 1x1x1; 3x1x4; 1x4x4; 2x1x3x2x3; 33x33; 4x2x5; 2x3x5x7; 0x2x3; "
           "2x0x3; "
           "0x0; 40x41; 9x3x4; 65x2x3; 6x30",
           ref_gelqf, make_independent),
    FAILS("_linalg_gelqf", "", "4x3", MXC_ESHAPE, "have 4 rows, expected at most the 3 columns"),
    FAILS("_linalg_gelqf", "", "3", MXC_ESHAPE, "expected at least 2"),
    INFERS("_linalg_gelqf", "", "2x?x5 -> ?,2x3x? => 2x3x5 -> 2x3x5,2x3x3"),
};

MXC_CASES(linalg_linalg_gelqf_cases, cases);

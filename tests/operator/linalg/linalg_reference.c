/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/linalg/linalg_reference.h"

#include <math.h>

int64_t case_rows(const mxc_shape *s) {
    return s->dim[s->ndim - 2];
}

int64_t case_batch(const mxc_shape *s) {
    int64_t n = 1;
    for (int i = 0; i < s->ndim - 2; i++)
        n *= s->dim[i];
    return n;
}

double case_triangle_at(const double *a, int64_t n, int64_t i, int64_t j, int lower) {
    return (lower ? i >= j : i <= j) ? a[i * n + j] : 0;
}

void case_substitute(int64_t n, const double *a, int lower, int transposed, const double *b, double *x) {
    int forwards = lower != transposed;
    for (int64_t step = 0; step < n; step++) {
        int64_t i = forwards ? step : n - 1 - step;
        x[i] = b[i];
        for (int64_t j = forwards ? 0 : i + 1; j < (forwards ? i : n); j++)
            x[i] -= (transposed ? a[j * n + i] : a[i * n + j]) * x[j];
        x[i] /= a[i * n + i];
    }
}

void case_strengthen_diagonal(const op_run *r) {
    int64_t n = case_rows(&r->in_shape[0]);
    for (int64_t i = 0; i < case_batch(&r->in_shape[0]) * n; i++) {
        double *diagonal = &r->in[0][i / n * n * n + i % n * (n + 1)];
        *diagonal = 1.5 + fabs(*diagonal);
    }
}

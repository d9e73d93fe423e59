/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _linalg_potrf, _linalg_potri and _linalg_sumlogdiag. Matrices are prepared so that they can be factored. */
#include <math.h>
#include <stdlib.h>

#include "operator/linalg/linalg_reference.h"

/* L (n,n), lower, of the symmetric part of A: A = L L'. */
static void factor(int64_t n, const double *a, double *l) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = (a[i * n + j] + a[j * n + i]) / 2;
            for (int64_t k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
}

static void ref_potrf(const op_run *r) {
    int64_t n = case_rows(&r->in_shape[0]);
    int lower = (int)case_number(r, "lower", 1);
    double *l = calloc((size_t)(n * n) + 1, sizeof *l);
    for (int64_t m = 0; m < case_batch(&r->in_shape[0]); m++) {
        factor(n, r->in[0] + m * n * n, l);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                r->out[0][(m * n + i) * n + j] =
                    lower ? case_triangle_at(l, n, i, j, 1) : case_triangle_at(l, n, j, i, 1);
    }
    free(l);
}

/* Columns of (L L')^-1, or (U' U)^-1: L L' x = e. */
static void ref_potri(const op_run *r) {
    int64_t n = case_rows(&r->in_shape[0]);
    int lower = (int)case_number(r, "lower", 1);
    double *e = calloc((size_t)n + 1, sizeof *e), *half = calloc((size_t)n + 1, sizeof *half);
    double *x = calloc((size_t)n + 1, sizeof *x);
    for (int64_t m = 0; m < case_batch(&r->in_shape[0]); m++)
        for (int64_t j = 0; j < n; j++) {
            const double *a = r->in[0] + m * n * n;
            for (int64_t i = 0; i < n; i++)
                e[i] = i == j;
            case_substitute(n, a, lower, !lower, e, half);
            case_substitute(n, a, lower, lower, half, x);
            for (int64_t i = 0; i < n; i++)
                r->out[0][(m * n + i) * n + j] = x[i];
        }
    free(e);
    free(half);
    free(x);
}

static void ref_sumlogdiag(const op_run *r) {
    int64_t n = case_rows(&r->in_shape[0]);
    for (int64_t m = 0; m < case_batch(&r->in_shape[0]); m++)
        for (int64_t i = 0; i < n; i++)
            r->out[0][m] += log(r->in[0][m * n * n + i * (n + 1)]);
}

/* Symmetric, with diagonals that outweigh the rest. */
static void make_definite(const op_run *r) {
    int64_t n = case_rows(&r->in_shape[0]);
    for (int64_t m = 0; m < case_batch(&r->in_shape[0]); m++)
        for (int64_t i = 0; i < n; i++) {
            double *a = r->in[0] + m * n * n;
            for (int64_t j = 0; j < i; j++)
                a[i * n + j] = a[j * n + i] /= (double)n;
            a[i * n + i] = 1.5 + fabs(a[i * n + i]);
        }
}

#define POTRF(given, shape) FITTED("_linalg_potrf", given, shape, ref_potrf, make_definite)
#define POTRI(given, shape) FITTED("_linalg_potri", given, shape, ref_potri, case_strengthen_diagonal)
#define SUMLOG(shape) FITTED("_linalg_sumlogdiag", "", shape, ref_sumlogdiag, case_strengthen_diagonal)

static const op_case cases[] = {
    POTRF("", "3x3; 2x2; 5x5; 7x7; 17x17; 1x1x1; 3x1x1; 1x4x4; 2x1x3x2x2; 33x33; 0x0"),
    POTRF("lower=false", "3x3"),
    POTRF("", "1x1"),
    POTRF("", "4x2x2"),
    POTRF("lower=false", "2x3x5x5"),
    POTRF("", "0x2x2"),
    POTRF("", "2x0x0"),
    POTRF("", "40x40"),
    POTRF("", "9x7x7"),
    POTRF("lower=0", "70x70"),
    FAILS("_linalg_potrf", "", "3x4", MXC_ESHAPE, "expected shape (3,3), found (3,4)"),
    FAILS("_linalg_potrf", "", "3", MXC_ESHAPE, "expected at least 2"),
    INFERS("_linalg_potrf", "", "?x?x3 -> 2x?x? => 2x3x3 -> 2x3x3"),

    POTRI("", "3x3; 2x2; 5x5; 7x7; 1x1x1; 3x1x1; 1x4x4; 2x1x3x2x2; 0x0; 4x4; 9x1x1; 65x2x2"),
    POTRI("lower=false", "3x3"),
    POTRI("", "1x1"),
    POTRI("", "4x2x2"),
    POTRI("lower=false", "2x3x5x5"),
    POTRI("", "0x2x2"),
    POTRI("", "2x0x0"),
    POTRI("", "9x6x6"),
    POTRI("lower=0", "8x8"),
    FAILS("_linalg_potri", "", "3x4", MXC_ESHAPE, "expected shape (3,3), found (3,4)"),
    INFERS("_linalg_potri", "", "? -> 2x?x3 => 2x3x3 -> 2x3x3"),

    SUMLOG("3x3; 2x2; 5x5; 7x7; 17x17; 1x1x1; 3x1x1; 1x4x4; 2x1x3x2x2; 0x0; 33x33; 65x2x2; 9x9"),
    SUMLOG("1x1"),
    SUMLOG("4x2x2"),
    SUMLOG("2x3x5x5"),
    SUMLOG("0x2x2"),
    SUMLOG("2x0x0"),
    SUMLOG("40x40"),
    SUMLOG("700x3x3"),
    FAILS("_linalg_sumlogdiag", "", "3x4", MXC_ESHAPE, "expected shape (3,3), found (3,4)"),
    INFERS("_linalg_sumlogdiag", "", "2x?x3 -> ? => 2x3x3 -> 2"),
};

MXC_CASES(linalg_linalg_potrf_cases, cases);

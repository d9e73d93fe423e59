/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _linalg_trmm and _linalg_trsm. Triangles are prepared so that systems with them can be solved. */
#include <stdlib.h>

#include "operator/linalg/linalg_reference.h"

static void ref_trmm(const op_run *r) {
    const mxc_shape *b = &r->in_shape[1];
    int64_t n = case_rows(&r->in_shape[0]), rows = case_rows(b), columns = case_last_dim(b);
    int t = (int)case_number(r, "transpose", 0), right = (int)case_number(r, "rightside", 0);
    int lower = (int)case_number(r, "lower", 1);
    for (int64_t m = 0; m < case_batch(b); m++)
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) {
                const double *x = r->in[0] + m * n * n, *y = r->in[1] + m * rows * columns;
                double sum = 0;
                for (int64_t k = 0; k < n; k++) {
                    int64_t p = right ? k : i, q = right ? j : k; /* of op(A) */
                    double a = t ? case_triangle_at(x, n, q, p, lower) : case_triangle_at(x, n, p, q, lower);
                    sum += a * (right ? y[i * columns + k] : y[k * columns + j]);
                }
                r->out[0][(m * rows + i) * columns + j] = case_number(r, "alpha", 1) * sum;
            }
}

/* Each column of X (or row, on the right, where the triangle is transposed) by substitution. */
static void ref_trsm(const op_run *r) {
    const mxc_shape *shape = &r->in_shape[1];
    int64_t n = case_rows(&r->in_shape[0]), rows = case_rows(shape), columns = case_last_dim(shape);
    int t = (int)case_number(r, "transpose", 0), right = (int)case_number(r, "rightside", 0);
    int64_t others = right ? rows : columns, step = right ? 1 : columns, next = right ? columns : 1;
    double *b = calloc((size_t)n + 1, sizeof *b), *x = calloc((size_t)n + 1, sizeof *x);
    for (int64_t m = 0; m < case_batch(shape); m++)
        for (int64_t k = 0; k < others; k++) {
            int64_t first = m * rows * columns + k * next;
            for (int64_t i = 0; i < n; i++)
                b[i] = case_number(r, "alpha", 1) * r->in[1][first + i * step];
            case_substitute(n, r->in[0] + m * n * n, (int)case_number(r, "lower", 1), t != right, b, x);
            for (int64_t i = 0; i < n; i++)
                r->out[0][first + i * step] = x[i];
        }
    free(b);
    free(x);
}

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 20 }
#define TRMM(given, shapes) ROUGH("_linalg_trmm", given, shapes, ref_trmm)
#define TRSM(given, shapes) FITTED("_linalg_trsm", given, shapes, ref_trsm, case_strengthen_diagonal)

static const op_case cases[] = {
    TRMM("", "3x3 3x4; 1x1 1x7; 7x7 7x1; 17x17 17x3; 2x1x2x2 2x1x2x5; 1x5x5 1x5x5; 65x65 65x2"),
    TRMM("transpose=true", "3x3 3x4"),
    TRMM("rightside=true", "4x4 3x4"),
    TRMM("rightside=true transpose=true alpha=2", "4x4 3x4"),
    TRMM("lower=false", "5x2x2 5x2x3"),
    TRMM("lower=false transpose=true", "3x3 3x4"),
    TRMM("lower=false rightside=true", "2x2x4x4 2x2x3x4"),
    TRMM("lower=0 rightside=1 transpose=1 alpha=-0.5", "4x4 1x4"),
    TRMM("", "1x1 1x1"),
    TRMM("", "0x0 0x4"),
    TRMM("", "3x3 3x0"),
    TRMM("", "0x2x2 0x2x2"),
    TRMM("alpha=0", "3x3 3x2"),
    TRMM("", "60x60 60x50"),
    FAILS("_linalg_trmm", "", "3x3 4x3", MXC_ESHAPE, "argument 'A': expected shape (?,4), found (3,3)"),
    FAILS("_linalg_trmm", "rightside=true", "3x3 3x4", MXC_ESHAPE, "argument 'A': expected shape (?,4), found (3,3)"),
    INFERS("_linalg_trmm", "rightside=true", "?,2x3x4 -> ? => 2x4x4,2x3x4 -> 2x3x4"),

    TRSM("", "3x3 3x4; 1x1 1x7; 7x7 7x1; 9x9 9x3; 2x1x2x2 2x1x2x5; 1x5x5 1x5x5; 2x2 2x65"),
    TRSM("transpose=true", "3x3 3x4"),
    TRSM("rightside=true", "4x4 3x4"),
    TRSM("rightside=true transpose=true alpha=2", "4x4 3x4"),
    TRSM("lower=false", "5x2x2 5x2x3"),
    TRSM("lower=false transpose=true", "3x3 3x4"),
    TRSM("lower=false rightside=true", "2x2x4x4 2x2x3x4"),
    TRSM("lower=0 rightside=1 transpose=1 alpha=-0.5", "4x4 1x4"),
    TRSM("", "1x1 1x1"),
    TRSM("", "0x0 0x4"),
    TRSM("", "3x3 3x0"),
    TRSM("", "0x2x2 0x2x2"),
    TRSM("alpha=0", "3x3 3x2"),
    TRSM("", "8x8 8x50"),
    FAILS("_linalg_trsm", "", "3x4 3x4", MXC_ESHAPE, "argument 'A': expected shape (?,3), found (3,4)"),
    FAILS("linalg_trsm", "", "3x3 2x3x4", MXC_ESHAPE, "expected shape"),
    INFERS("_linalg_trsm", "", "5x2x2,? -> 5x?x3 => 5x2x2,5x2x3 -> 5x2x3"),
};

MXC_CASES(linalg_linalg_trsm_cases, cases);

/* Cases of operators on matrices: _linalg_gemm, gemm2, syrk, potrf, potri, sumlogdiag, trmm, trsm. Matrices are
 * prepared so that they can be factored or solved with. */
#include <math.h>
#include <stdlib.h>

#include "operator/cases.h"

/* ---- matrices of a batch ----------------------------------------------------------------------------------------- */

static int64_t rows_of(const mxc_shape *s) {
    return s->dim[s->ndim - 2];
}

static int64_t columns_of(const mxc_shape *s) {
    return s->dim[s->ndim - 1];
}

static int64_t batch_of(const mxc_shape *s) {
    int64_t n = 1;
    for (int i = 0; i < s->ndim - 2; i++)
        n *= s->dim[i];
    return n;
}

/* Element of a matrix or of its transpose; of a triangle 0 outside. */
static double at(const double *a, int64_t columns, int64_t i, int64_t j, int transposed) {
    return transposed ? a[j * columns + i] : a[i * columns + j];
}

static double triangle_at(const double *a, int64_t n, int64_t i, int64_t j, int lower) {
    return (lower ? i >= j : i <= j) ? a[i * n + j] : 0;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* The matrices' places in arrays whose rows stand along an axis: (outer, rows, between, columns). */
typedef struct layout {
    int64_t outer, rows, between, columns;
} layout;

static layout layout_of(const op_run *r, const mxc_shape *s) {
    int axis = (int)case_number(r, "axis", -2);
    layout l = {1, 1, 1, columns_of(s)};
    axis += axis < 0 ? s->ndim : 0;
    for (int i = 0; i < s->ndim - 1; i++)
        *(i < axis ? &l.outer : i == axis ? &l.rows : &l.between) *= s->dim[i];
    return l;
}

static int64_t place(layout l, int64_t outer, int64_t between, int64_t i, int64_t j, int transposed) {
    int64_t row = transposed ? j : i, column = transposed ? i : j;
    return ((outer * l.rows + row) * l.between + between) * l.columns + column;
}

static void ref_gemm(const op_run *r) {
    layout a = layout_of(r, &r->in_shape[0]), b = layout_of(r, &r->in_shape[1]), c = layout_of(r, &r->out_shape[0]);
    int ta = (int)case_number(r, "transpose_a", 0), tb = (int)case_number(r, "transpose_b", 0);
    double alpha = case_number(r, "alpha", 1), beta = case_number(r, "beta", 1);
    int64_t inner = ta ? a.rows : a.columns;
    for (int64_t o = 0; o < c.outer; o++)
        for (int64_t w = 0; w < c.between; w++)
            for (int64_t i = 0; i < c.rows; i++)
                for (int64_t j = 0; j < c.columns; j++) {
                    int64_t to = place(c, o, w, i, j, 0);
                    double sum = 0;
                    for (int64_t k = 0; k < inner; k++)
                        sum += r->in[0][place(a, o, w, i, k, ta)] * r->in[1][place(b, o, w, k, j, tb)];
                    r->out[0][to] = alpha * sum + (r->n_in > 2 ? beta * r->in[2][to] : 0);
                }
}

static void ref_syrk(const op_run *r) {
    const mxc_shape *a = &r->in_shape[0];
    int t = (int)case_number(r, "transpose", 0);
    int64_t n = rows_of(&r->out_shape[0]), inner = t ? rows_of(a) : columns_of(a), size = rows_of(a) * columns_of(a);
    for (int64_t m = 0; m < batch_of(a); m++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                const double *x = r->in[0] + m * size;
                double sum = 0;
                for (int64_t k = 0; k < inner; k++)
                    sum += at(x, columns_of(a), i, k, t) * at(x, columns_of(a), j, k, t);
                r->out[0][(m * n + i) * n + j] = case_number(r, "alpha", 1) * sum;
            }
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

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
    int64_t n = rows_of(&r->in_shape[0]);
    int lower = (int)case_number(r, "lower", 1);
    double *l = calloc((size_t)(n * n) + 1, sizeof *l);
    for (int64_t m = 0; m < batch_of(&r->in_shape[0]); m++) {
        factor(n, r->in[0] + m * n * n, l);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                r->out[0][(m * n + i) * n + j] = lower ? triangle_at(l, n, i, j, 1) : triangle_at(l, n, j, i, 1);
    }
    free(l);
}

/* x (n) = the solution of T x = b by substitution, T the triangle of a matrix or its transpose. */
static void substitute(int64_t n, const double *a, int lower, int transposed, const double *b, double *x) {
    int forwards = lower != transposed;
    for (int64_t step = 0; step < n; step++) {
        int64_t i = forwards ? step : n - 1 - step;
        x[i] = b[i];
        for (int64_t j = forwards ? 0 : i + 1; j < (forwards ? i : n); j++)
            x[i] -= (transposed ? a[j * n + i] : a[i * n + j]) * x[j];
        x[i] /= a[i * n + i];
    }
}

/* Columns of (L L')^-1, or (U' U)^-1: L L' x = e. */
static void ref_potri(const op_run *r) {
    int64_t n = rows_of(&r->in_shape[0]);
    int lower = (int)case_number(r, "lower", 1);
    double *e = calloc((size_t)n + 1, sizeof *e), *half = calloc((size_t)n + 1, sizeof *half);
    double *x = calloc((size_t)n + 1, sizeof *x);
    for (int64_t m = 0; m < batch_of(&r->in_shape[0]); m++)
        for (int64_t j = 0; j < n; j++) {
            const double *a = r->in[0] + m * n * n;
            for (int64_t i = 0; i < n; i++)
                e[i] = i == j;
            substitute(n, a, lower, !lower, e, half);
            substitute(n, a, lower, lower, half, x);
            for (int64_t i = 0; i < n; i++)
                r->out[0][(m * n + i) * n + j] = x[i];
        }
    free(e);
    free(half);
    free(x);
}

static void ref_sumlogdiag(const op_run *r) {
    int64_t n = rows_of(&r->in_shape[0]);
    for (int64_t m = 0; m < batch_of(&r->in_shape[0]); m++)
        for (int64_t i = 0; i < n; i++)
            r->out[0][m] += log(r->in[0][m * n * n + i * (n + 1)]);
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

static void ref_trmm(const op_run *r) {
    const mxc_shape *b = &r->in_shape[1];
    int64_t n = rows_of(&r->in_shape[0]), rows = rows_of(b), columns = columns_of(b);
    int t = (int)case_number(r, "transpose", 0), right = (int)case_number(r, "rightside", 0);
    int lower = (int)case_number(r, "lower", 1);
    for (int64_t m = 0; m < batch_of(b); m++)
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) {
                const double *x = r->in[0] + m * n * n, *y = r->in[1] + m * rows * columns;
                double sum = 0;
                for (int64_t k = 0; k < n; k++) {
                    int64_t p = right ? k : i, q = right ? j : k; /* of op(A) */
                    double a = t ? triangle_at(x, n, q, p, lower) : triangle_at(x, n, p, q, lower);
                    sum += a * (right ? y[i * columns + k] : y[k * columns + j]);
                }
                r->out[0][(m * rows + i) * columns + j] = case_number(r, "alpha", 1) * sum;
            }
}

/* Each column of X (or row, on the right, where the triangle is transposed) by substitution. */
static void ref_trsm(const op_run *r) {
    const mxc_shape *shape = &r->in_shape[1];
    int64_t n = rows_of(&r->in_shape[0]), rows = rows_of(shape), columns = columns_of(shape);
    int t = (int)case_number(r, "transpose", 0), right = (int)case_number(r, "rightside", 0);
    int64_t others = right ? rows : columns, step = right ? 1 : columns, next = right ? columns : 1;
    double *b = calloc((size_t)n + 1, sizeof *b), *x = calloc((size_t)n + 1, sizeof *x);
    for (int64_t m = 0; m < batch_of(shape); m++)
        for (int64_t k = 0; k < others; k++) {
            int64_t first = m * rows * columns + k * next;
            for (int64_t i = 0; i < n; i++)
                b[i] = case_number(r, "alpha", 1) * r->in[1][first + i * step];
            substitute(n, r->in[0] + m * n * n, (int)case_number(r, "lower", 1), t != right, b, x);
            for (int64_t i = 0; i < n; i++)
                r->out[0][first + i * step] = x[i];
        }
    free(b);
    free(x);
}

/* ---- inputs that fit --------------------------------------------------------------------------------------------- */

/* Diagonals of at least 1.5: of triangles that are solved with. */
static void strengthen(const op_run *r) {
    int64_t n = rows_of(&r->in_shape[0]);
    for (int64_t i = 0; i < batch_of(&r->in_shape[0]) * n; i++) {
        double *diagonal = &r->in[0][i / n * n * n + i % n * (n + 1)];
        *diagonal = 1.5 + fabs(*diagonal);
    }
}

/* Symmetric, with diagonals that outweigh the rest. */
static void make_definite(const op_run *r) {
    int64_t n = rows_of(&r->in_shape[0]);
    for (int64_t m = 0; m < batch_of(&r->in_shape[0]); m++)
        for (int64_t i = 0; i < n; i++) {
            double *a = r->in[0] + m * n * n;
            for (int64_t j = 0; j < i; j++)
                a[i * n + j] = a[j * n + i] /= (double)n;
            a[i * n + i] = 1.5 + fabs(a[i * n + i]);
        }
}

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 20 }
#define GEMM(given, shapes) ROUGH("_linalg_gemm", given, shapes, ref_gemm)
#define GEMM2(given, shapes) ROUGH("_linalg_gemm2", given, shapes, ref_gemm)
#define SYRK(given, shape) ROUGH("_linalg_syrk", given, shape, ref_syrk)
#define FITTED(name, given, shapes, ref, fit) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .prepare = fit, .tolerance = 20 }
#define POTRF(given, shape) FITTED("_linalg_potrf", given, shape, ref_potrf, make_definite)
#define POTRI(given, shape) FITTED("_linalg_potri", given, shape, ref_potri, strengthen)
#define SUMLOG(shape) FITTED("_linalg_sumlogdiag", "", shape, ref_sumlogdiag, strengthen)
#define TRMM(given, shapes) ROUGH("_linalg_trmm", given, shapes, ref_trmm)
#define TRSM(given, shapes) FITTED("_linalg_trsm", given, shapes, ref_trsm, strengthen)

static const op_case cases[] = {
    GEMM("", "2x3 3x4 2x4; 7x1 1x7 7x7; 1x9 9x1 1x1; 1x2x3 1x3x4 1x2x4; 2x1x3x2x3 2x1x3x3x1 2x1x3x2x1; 65x3 3x2 65x2; "
             "33x17 17x5 33x5"),
    GEMM("alpha=2 beta=-0.5", "2x3 3x4 2x4"),
    GEMM("transpose_a=true", "3x2 3x4 2x4"),
    GEMM("transpose_b=true beta=0", "5x2x3 5x4x3 5x2x4"),
    GEMM("transpose_a=1 transpose_b=1", "2x2x3x2 2x2x4x3 2x2x2x4"),
    GEMM("axis=1", "2x3x5x4 2x4x5x6 2x3x5x6"),
    GEMM("axis=0 transpose_a=true alpha=0.5", "4x3x2 4x3x5 2x3x5"),
    GEMM("axis=-3 transpose_b=true", "2x3x4 5x3x4 2x3x5"),
    GEMM("", "1x1 1x1 1x1"),
    GEMM("", "0x3 3x4 0x4"),
    GEMM("", "2x0 0x4 2x4"),
    GEMM("alpha=0", "2x3 3x4 2x4"),
    GEMM("", "0x2x3 0x3x4 0x2x4"),
    GEMM("alpha=1.5", "40x50 50x33 40x33"),
    GEMM("", "3x17x19 3x19x23 3x17x23"),
    FAILS("_linalg_gemm", "", "2x3 4x4 2x4", MXC_ESHAPE, "argument 'B': expected shape (3,4), found (4,4)"),
    FAILS("_linalg_gemm", "", "2x3 3x4 2x5", MXC_ESHAPE, "expected shape (2,4), found (2,5)"),
    FAILS("linalg_gemm", "", "3 3 3", MXC_ESHAPE, "argument 'A' has 1 axes, expected at least 2"),
    FAILS("_linalg_gemm", "axis=-1", "2x3 3x4 2x4", MXC_ESHAPE, "axis 1 is that of the columns"),
    FAILS("_linalg_gemm", "", "2x3 2x3x4 2x4", MXC_ESHAPE, "expected shape"),
    INFERS("_linalg_gemm", "transpose_b=true", "5x2x?,?x4x3,? -> ? => 5x2x3,5x4x3,5x2x4 -> 5x2x4"),
    INFERS("_linalg_gemm", "", "2x3,?,? -> 2x4 => 2x3,3x4,2x4 -> 2x4"),

    GEMM2("", "2x3 3x4; 7x1 1x7; 1x9 9x1; 0x3 3x4; 3x4 4x0; 1x2x3 1x3x4; 2x1x3x2x3 2x1x3x3x1; 65x3 3x2; 33x17 17x5; "
              "0x2x3 0x3x4; 2x3@-1:1n 3x4"),
    GEMM2("alpha=2", "2x3 3x4"),
    GEMM2("transpose_a=true", "3x2 3x4"),
    GEMM2("transpose_b=true", "5x2x3 5x4x3"),
    GEMM2("transpose_a=1 transpose_b=1 alpha=-1", "2x2x3x2 2x2x4x3"),
    GEMM2("axis=1", "2x3x5x4 2x4x5x6"),
    GEMM2("axis=0 transpose_b=true", "3x2x4 5x2x4"),
    GEMM2("", "1x1 1x1"),
    GEMM2("", "2x0 0x4"),
    GEMM2("", "70x130 130x90"),
    GEMM2("", "1x7x5 1x5x1"),
    FAILS("_linalg_gemm2", "", "5x2x3 4x3x4", MXC_ESHAPE, "argument 'B': expected shape (5,3,4), found (4,3,4)"),
    FAILS("_linalg_gemm2", "axis=2", "2x3 3x4", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    INFERS("_linalg_gemm2", "axis=0", "?x3x4,4x?x5 -> 2x?x? => 2x3x4,4x3x5 -> 2x3x5"),

    SYRK("", "2x3; 7x1; 1x7; 65x2; 3x1x4; 2x1x3x2x2; 17x33; 1x1x1; 5x5; 0x4; 3x3x3; 33x3"),
    SYRK("transpose=true", "2x3"),
    SYRK("alpha=-2", "4x3x2"),
    SYRK("transpose=1 alpha=0.5", "2x2x3x5"),
    SYRK("", "1x1"),
    SYRK("", "0x3x2"),
    SYRK("", "3x0"),
    SYRK("transpose=true", "90x40"),
    SYRK("", "2x33x70"),
    FAILS("_linalg_syrk", "", "3", MXC_ESHAPE, "argument 'A' has 1 axes, expected at least 2"),
    INFERS("_linalg_syrk", "", "2x?x5 -> ?x?x3 => 2x3x5 -> 2x3x3"),

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

MXC_CASES(linalg_cases, cases);

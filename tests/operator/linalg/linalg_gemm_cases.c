/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _linalg_gemm, _linalg_gemm2 and _linalg_syrk. */
#include "operator/linalg/linalg_reference.h"

/* ---- matrices of a batch ----------------------------------------------------------------------------------------- */

/* Element of a matrix or of its transpose; of a triangle 0 outside. */
static double at(const double *a, int64_t columns, int64_t i, int64_t j, int transposed) {
    return transposed ? a[j * columns + i] : a[i * columns + j];
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* The matrices' places in arrays whose rows stand along an axis: (outer, rows, between, columns). */
typedef struct layout {
    int64_t outer, rows, between, columns;
} layout;

static layout layout_of(const op_run *r, const mxc_shape *s) {
    int axis = (int)case_number(r, "axis", -2);
    layout l = {1, 1, 1, case_last_dim(s)};
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
    int64_t n = case_rows(&r->out_shape[0]), inner = t ? case_rows(a) : case_last_dim(a),
            size = case_rows(a) * case_last_dim(a);
    for (int64_t m = 0; m < case_batch(a); m++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                const double *x = r->in[0] + m * size;
                double sum = 0;
                for (int64_t k = 0; k < inner; k++)
                    sum += at(x, case_last_dim(a), i, k, t) * at(x, case_last_dim(a), j, k, t);
                r->out[0][(m * n + i) * n + j] = case_number(r, "alpha", 1) * sum;
            }
}

/* ---- inputs that fit --------------------------------------------------------------------------------------------- */

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 20 }
#define GEMM(given, shapes) ROUGH("_linalg_gemm", given, shapes, ref_gemm)
#define GEMM2(given, shapes) ROUGH("_linalg_gemm2", given, shapes, ref_gemm)
#define SYRK(given, shape) ROUGH("_linalg_syrk", given, shape, ref_syrk)

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
};

MXC_CASES(linalg_linalg_gemm_cases, cases);

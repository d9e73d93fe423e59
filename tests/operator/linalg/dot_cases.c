/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of dot and batch_dot. */
#include "operator/cases.h"

/* One operand as matrices: rows x columns, of which columns of lhs and rows of rhs are summed over. */
typedef struct matrix {
    const double *data;
    int64_t rows, columns;
    int transposed; /* given as columns x rows */
} matrix;

static double entry(matrix m, int64_t row, int64_t column) {
    return m.transposed ? m.data[column * m.rows + row] : m.data[row * m.columns + column];
}

static void multiply(matrix a, matrix b, double *out) {
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j < b.columns; j++) {
            out[i * b.columns + j] = 0;
            for (int64_t k = 0; k < a.columns; k++)
                out[i * b.columns + j] += entry(a, i, k) * entry(b, k, j);
        }
}

static void ref_dot(const op_run *r) {
    const mxc_shape *l = &r->in_shape[0], *s = &r->in_shape[1];
    int ta = case_is(r, "transpose_a", "True"), tb = case_is(r, "transpose_b", "True");
    int64_t inner = l->dim[ta ? 0 : l->ndim - 1], m = 1, n = 1;
    for (int i = 0; i < l->ndim; i++)
        m *= i == (ta ? 0 : l->ndim - 1) ? 1 : l->dim[i];
    for (int i = 0; i < s->ndim; i++)
        n *= i == (tb ? s->ndim - 1 : 0) ? 1 : s->dim[i];
    multiply((matrix){r->in[0], m, inner, ta}, (matrix){r->in[1], inner, n, tb}, r->out[0]);
}

static void ref_batch_dot(const op_run *r) {
    const mxc_shape *l = &r->in_shape[0], *s = &r->in_shape[1], *o = &r->out_shape[0];
    int ta = case_is(r, "transpose_a", "True"), tb = case_is(r, "transpose_b", "True");
    int64_t inner = l->dim[ta ? 1 : 2], m = o->dim[1], n = o->dim[2];
    for (int64_t b = 0; b < o->dim[0]; b++)
        multiply((matrix){r->in[0] + b * l->dim[1] * l->dim[2], m, inner, ta},
                 (matrix){r->in[1] + b * s->dim[1] * s->dim[2], inner, n, tb}, r->out[0] + b * m * n);
}

#define DOT(given, shapes) \
    { .op = "dot", .params = given, .in = shapes, .reference = ref_dot, .tolerance = 2 }
#define BATCH(given, shapes) \
    { .op = "batch_dot", .params = given, .in = shapes, .reference = ref_batch_dot, .tolerance = 2 }

static const op_case cases[] = {
    DOT("", "1 1"),
    DOT("", "7 7"),
    DOT("transpose_a=True transpose_b=True", "7 7"),
    DOT("", "3x4 4x5; 3x4@-1:1n 4x5"),
    DOT("transpose_a=True", "4x3 4x5"),
    DOT("transpose_b=True", "3x4 5x4"),
    DOT("transpose_a=True transpose_b=True", "4x3 5x4"),
    DOT("", "3x3 3x3"),
    DOT("", "1x1 1x1"),
    DOT("", "1x9 9x1"),
    DOT("", "9x1 1x9"),
    DOT("", "4 4x5"),
    DOT("", "3x4 4"),
    DOT("transpose_b=True", "4 5x4"),
    DOT("transpose_a=True", "4x3 4"),
    DOT("", "2x3x4 4x5"),
    DOT("", "2x3x4 4x5x2"),
    DOT("", "3x4 4x2x5"),
    DOT("transpose_a=True", "4x2x3 4x5"),
    DOT("transpose_b=True", "3x4 2x5x4"),
    DOT("transpose_a=True transpose_b=True", "4x2x3 2x5x4"),
    DOT("", "2x1x3x4 4x2"),
    DOT("", "0x4 4x5"),
    DOT("", "3x4 4x0"),
    DOT("", "3x0 0x5"),
    DOT("", "33x17 17x65"),
    DOT("transpose_a=True", "17x33 17x65"),
    DOT("transpose_b=True", "33x17 65x17"),
    DOT("", "130x131 131x33"),
    DOT("", "1x300 300x200"),
    DOT("forward_stype=None; forward_stype=default", "3x4 4x2"),
    FAILS("dot", "forward_stype=csr", "3x4 4x5", MXC_EINVAL, "dot: forward_stype=\"csr\""),
    FAILS("dot", "", "3x4 5x6", MXC_ESHAPE,
          "argument 'rhs': expected 4 in axis 0, as axis 1 of 'lhs' (3,4) has, found (5,6)"),
    FAILS("dot", "transpose_b=True", "3x4 5x6", MXC_ESHAPE, "expected 4 in axis 1"),
    FAILS("dot", "", "s 3", MXC_ESHAPE, "argument 'lhs' has no axes"),
    FAILS("dot", "", "1x1x1x1x1x2 2x1x1x1x1", MXC_ESHAPE, "out would have 9 axes"),
    FAILS("dot", "transpose_a=maybe", "3x4 4x5", MXC_EINVAL, "transpose_a"),
    INFERS("dot", "", "2x?,?x5 -> ? => 2x?,?x5 -> 2x5"),
    INFERS("dot", "transpose_a=True", "4x2,4x5 -> ? => 4x2,4x5 -> 2x5"),

    BATCH("", "1x1x1 1x1x1"),
    BATCH("", "2x3x4 2x4x5; 7x1x1 7x1x1; 1x1x7 1x7x1; 1x3x4 1x4x5; 3x1x4 3x4x1; 65x2x2 65x2x2; 2x33x3 2x3x2; "
              "2x2x65 2x65x2; 1x17x1 1x1x17; 3x2x3 3x3x0; 2x3x4@-1:1n 2x4x5"),
    BATCH("transpose_a=True", "2x4x3 2x4x5"),
    BATCH("transpose_b=True", "2x3x4 2x5x4"),
    BATCH("transpose_a=True transpose_b=True", "2x4x3 2x5x4"),
    BATCH("", "5x1x7 5x7x1"),
    BATCH("", "2x3x3 2x3x3"),
    BATCH("", "0x3x4 0x4x5"),
    BATCH("", "2x3x0 2x0x5"),
    BATCH("", "9x17x33 9x33x19"),
    BATCH("transpose_b=True", "40x2x3 40x2x3"),
    FAILS("batch_dot", "", "3x4 4x5", MXC_ESHAPE, "argument 'lhs'"),
    FAILS("batch_dot", "", "2x3x4 3x4x5", MXC_ESHAPE, "expected shape (2,"),
    FAILS("batch_dot", "", "2x3x4 2x5x6", MXC_ESHAPE, "expected 4 in axis 1"),
    INFERS("batch_dot", "", "2x3x4,? -> 2x3x5 => 2x3x4,2x4x5 -> 2x3x5"),
    INFERS("batch_dot", "transpose_a=True transpose_b=True", "?x4x3,2x5x? -> ? => 2x4x3,2x5x4 -> 2x3x5"),
};

MXC_CASES(linalg_dot_cases, cases);

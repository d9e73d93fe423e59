/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _linalg_extracttrian and _linalg_maketrian. */
#include "operator/linalg/linalg_reference.h"

/* Copies between matrices and their triangles: for each row i and column j <= i of the triangle, the lower one's
 * element (i, j) or the upper one's (j, i), shifted by the offset. */
static void move_triangles(const op_run *r, const mxc_shape *matrices, double *matrix, double *packed, int to_matrix) {
    const int64_t n = case_rows(matrices), given = (int64_t)case_number(r, "offset", 0);
    const int64_t shift = given < 0 ? -given : given;
    const int lower = given ? given < 0 : !case_is(r, "lower", "False");
    for (int64_t b = 0; b < case_batch(matrices); b++)
        for (int64_t i = 0; i < n - shift; i++)
            for (int64_t j = 0; j <= i; j++, packed++) {
                double *at = &matrix[b * n * n + (lower ? (i + shift) * n + j : j * n + i + shift)];
                *(to_matrix ? at : packed) = *(to_matrix ? packed : at);
            }
}

static void ref_extract(const op_run *r) {
    move_triangles(r, &r->in_shape[0], r->in[0], r->out[0], 0);
}

static void ref_make(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = 0;
    move_triangles(r, &r->out_shape[0], r->out[0], r->in[0], 1);
}

static const op_case cases[] = {
    RUN("_linalg_extracttrian", "; lower=False; offset=1; offset=-1; offset=2 lower=False; offset=-7",
        "3x3; 1x1; 7x7; 2x4x4; 2x3x5x5; 0x3x3; 65x2x2; 33x33; 0x0", ref_extract),
    FAILS("_linalg_extracttrian", "", "3x4", MXC_ESHAPE, "expected shape (3,3), found (3,4)"),
    INFERS("_linalg_extracttrian", "offset=-2", "? -> 2x6 => 2x5x5 -> 2x6"),
    INFERS("_linalg_extracttrian", "", "2x?x3 -> ? => 2x3x3 -> 2x6"),

    RUN("_linalg_maketrian", "; lower=False; offset=1; offset=-2", "6; 1; 28; 2x10; 2x3x15; 0x3; 65x3; 561; 0",
        ref_make),
    FAILS("_linalg_maketrian", "", "5", MXC_ESHAPE, "has 5 elements, expected m (m + 1) / 2"),
    INFERS("_linalg_maketrian", "offset=1", "? -> 2x?x4 => 2x6 -> 2x4x4"),
    INFERS("_linalg_maketrian", "offset=-1", "2x0 -> ? => 2x0 -> 2x1x1"),
};

MXC_CASES(linalg_linalg_trian_cases, cases);

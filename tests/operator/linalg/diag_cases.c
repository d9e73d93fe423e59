/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of diag, _linalg_extractdiag and _linalg_makediag. */
#include <stdlib.h>

#include "operator/linalg/linalg_reference.h"

/* Of one axis, out is a matrix; else element i of out is at a place of a diagonal of data. */
static void ref_diag(const op_run *r) {
    const mxc_shape *data = &r->in_shape[0], *out = &r->out_shape[0];
    const int64_t k = (int64_t)case_number(r, "k", 0);
    int axis1 = (int)case_number(r, "axis1", 0), axis2 = (int)case_number(r, "axis2", 1);
    int64_t at[MXC_MAX_NDIM], index[MXC_MAX_NDIM];
    if (data->ndim == 1) {
        for (int64_t i = 0; i < case_size(out); i++)
            r->out[0][i] = 0;
        for (int64_t i = 0; i < data->dim[0]; i++)
            r->out[0][(i + (k < 0 ? -k : 0)) * out->dim[1] + i + (k > 0 ? k : 0)] = r->in[0][i];
        return;
    }
    axis1 += axis1 < 0 ? data->ndim : 0, axis2 += axis2 < 0 ? data->ndim : 0;
    for (int64_t i = 0; i < case_size(out); i++) {
        case_indices(out, i, at);
        for (int a = 0, n = 0; a < data->ndim; a++)
            if (a != axis1 && a != axis2)
                index[a] = at[n++];
        index[axis1] = at[out->ndim - 1] + (k < 0 ? -k : 0);
        index[axis2] = at[out->ndim - 1] + (k > 0 ? k : 0);
        r->out[0][i] = r->in[0][case_element(data, index)];
    }
}

/* Copies between matrices and their diagonals. */
static void move_diagonals(const mxc_shape *matrices, int64_t offset, int64_t m, double *matrix, double *diagonal,
                           int to_matrix) {
    const int64_t n = case_rows(matrices);
    for (int64_t b = 0; b < case_batch(matrices); b++)
        for (int64_t i = 0; i < m; i++) {
            double *at = &matrix[(b * n + i + (offset < 0 ? -offset : 0)) * n + i + (offset > 0 ? offset : 0)];
            *(to_matrix ? at : &diagonal[b * m + i]) = *(to_matrix ? &diagonal[b * m + i] : at);
        }
}

static void ref_extract(const op_run *r) {
    move_diagonals(&r->in_shape[0], (int64_t)case_number(r, "offset", 0), case_last_dim(&r->out_shape[0]), r->in[0],
                   r->out[0], 0);
}

static void ref_make(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = 0;
    move_diagonals(&r->out_shape[0], (int64_t)case_number(r, "offset", 0), case_last_dim(&r->in_shape[0]), r->out[0],
                   r->in[0], 1);
}

static const op_case cases[] = {
    RUN("diag", "k=1", "2x3; 1x1; 7x7; 3x1; 1x5; 65x33; 0x3; 3x0; 2x3x4; 7; 1; 33; 0; 3x129; 4x4@-1:1nf", ref_diag),
    RUN("diag", "; k=-2; k=3", "2x3; 5x4; 6; 2x3x4; 1x1; 4x3x2x5; 0", ref_diag),
    RUN("diag", "axis1=1 axis2=2; axis1=2 axis2=0 k=-1; axis1=-1 axis2=-2; axis1=0 axis2=-1 k=2",
        "2x3x4; 3x3x3x2; 5x1x4", ref_diag),
    RUN("diag", "", "150x301", ref_diag),
    FAILS("diag", "axis1=1 axis2=-1", "2x3", MXC_ESHAPE, "both axis 1"),
    FAILS("diag", "axis1=2", "2x3", MXC_ESHAPE, "axis 2"),
    FAILS("diag", "", "s", MXC_ESHAPE, "no axes"),
    INFERS("diag", "k=-1", "? -> ? => ? -> ?"),
    INFERS("diag", "k=-1", "3 -> ? => 3 -> 4x4"),
    INFERS("diag", "k=1", "?x? -> 5 => ?x? -> 5"),
    INFERS("diag", "", "4x4x? -> 2x? => 4x4x2 -> 2x4"),

    RUN("_linalg_extractdiag", "; offset=1; offset=-2; offset=5",
        "3x3; 1x1; 7x7; 0x0; 2x4x4; 2x3x5x5; 0x3x3; 65x2x2; 33x33", ref_extract),
    FAILS("_linalg_extractdiag", "", "3x4", MXC_ESHAPE, "expected shape (3,3), found (3,4)"),
    FAILS("_linalg_extractdiag", "", "3", MXC_ESHAPE, "expected 2 to"),
    INFERS("_linalg_extractdiag", "offset=-2", "? -> 2x3 => 2x5x5 -> 2x3"),
    INFERS("_linalg_extractdiag", "", "2x?x3 -> ? => 2x3x3 -> 2x3"),

    RUN("_linalg_makediag", "; offset=1; offset=-2", "3; 1; 7; 0; 2x4; 2x3x5; 0x3; 65x2; 33", ref_make),
    FAILS("_linalg_makediag", "", "s", MXC_ESHAPE, "expected 2 to"),
    INFERS("_linalg_makediag", "offset=1", "? -> 2x?x4 => 2x3 -> 2x4x4"),
    INFERS("_linalg_makediag", "offset=-1", "2x0 -> ? => 2x0 -> 2x1x1"),
};

MXC_CASES(linalg_diag_cases, cases);

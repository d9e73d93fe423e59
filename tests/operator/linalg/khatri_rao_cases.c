/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of khatri_rao. */
#include "operator/cases.h"

/* Row by row of out, the first argument's row counting slowest. */
static void ref_khatri_rao(const op_run *r) {
    const int64_t columns = r->out_shape[0].dim[1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        int64_t rows = r->out_shape[0].dim[0], row = i / columns;
        r->out[0][i] = 1;
        for (int a = 0; a < r->n_in; a++) {
            rows /= r->in_shape[a].dim[0];
            r->out[0][i] *= r->in[a][row / rows * columns + i % columns];
            row %= rows;
        }
    }
}

static const op_case cases[] = {
    RUN("khatri_rao", "num_args=2",
        "2x3 4x3; 1x1 1x1; 1x7 3x7; 3x1 2x1; 0x3 2x3; 2x0 3x0; 17x9 5x9; 2x600 3x600; 5x4@-1:1nf 2x4@-1:1nf; 33x2 65x2",
        ref_khatri_rao),
    RUN("khatri_rao", "num_args=1", "2x3; 1x1; 0x3; 7x65", ref_khatri_rao),
    RUN("khatri_rao", "num_args=3", "2x3 4x3 5x3; 1x2 2x2 1x2; 3x1 2x1 7x1; 2x3 0x3 2x3; 9x17 2x17 3x17",
        ref_khatri_rao),
    RUN("khatri_rao", "num_args=4", "2x2 3x2 2x2 4x2; 1x5 1x5 1x5 1x5", ref_khatri_rao),
    FAILS("khatri_rao", "num_args=2", "2x3 4x2", MXC_ESHAPE, "expected shape (?,3), found (4,2)"),
    FAILS("khatri_rao", "num_args=2", "2x3 4", MXC_ESHAPE, "arg1"),
    INFERS("khatri_rao", "num_args=2", "2x?,4x3 -> ? => 2x3,4x3 -> 8x3"),
    INFERS("khatri_rao", "num_args=2", "?,4x? -> ?x5 => ?x5,4x5 -> ?x5"),
};

MXC_CASES(linalg_khatri_rao_cases, cases);

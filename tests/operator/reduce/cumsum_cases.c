/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of cumsum. */
#include "operator/cases.h"

static void ref_cumsum(const op_run *r) {
    const mxc_shape *data = &r->in_shape[0];
    const double none = -100;
    const double given = case_number(r, "axis", none);
    int64_t n = case_size(data), inner = 1;
    if (given > none) {
        const int axis = (int)given < 0 ? (int)given + data->ndim : (int)given;
        n = data->dim[axis];
        for (int i = axis + 1; i < data->ndim; i++)
            inner *= data->dim[i];
    }
    for (int64_t i = 0; i < case_size(data); i++)
        r->out[0][i] = r->in[0][i] + (i / inner % n ? r->out[0][i - inner] : 0);
}

static const op_case cases[] = {
    RUN("cumsum", "axis=0; axis=-1", "5@-2:2.3; 1; 3x4; 600x3; 3x600; 2x3x4; 0x3; 3x0; 2x1x5x2", ref_cumsum),
    RUN("cumsum", "axis=1", "2x3x4; 2x70x300; 3x1x2", ref_cumsum),
    RUN("cumsum", "", "7; 3x4; 2x3x129; 0x2", ref_cumsum),
    FAILS("cumsum", "axis=2", "2x3", MXC_ESHAPE, "axis 2"),
    FAILS("cumsum", "dtype=bool", "2x3", MXC_EDTYPE, "dtype bool is not supported"),
    INFERS("cumsum", "axis=1", "2x? -> ?x3 => 2x3 -> 2x3"),
    INFERS("cumsum", "", "2x3 -> ? => 2x3 -> 6"),
};

MXC_CASES(reduce_cumsum_cases, cases);

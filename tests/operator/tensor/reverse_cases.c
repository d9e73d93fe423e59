/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of reverse. */
#include "operator/cases.h"

static void ref_reverse(const op_run *r) {
    const mxc_shape *data = &r->in_shape[0];
    mxc_tuple axes = case_tuple(r, "axis");
    int64_t index[MXC_MAX_NDIM];
    for (int64_t i = 0; i < case_size(data); i++) {
        case_indices(data, i, index);
        for (int k = 0; k < axes.n; k++) {
            int64_t axis = axes.value[k] < 0 ? axes.value[k] + data->ndim : axes.value[k];
            index[axis] = data->dim[axis] - 1 - index[axis];
        }
        r->out[0][i] = r->in[0][case_element(data, index)];
    }
}

static const op_case cases[] = {
    RUN("reverse", "axis=0", "5; 2; 65; 1x1; 7x1; 1x7; 2x3x4; 2x1x3x1x2; 129x3; 17x2; 5x9@-1:1nf", ref_reverse),
    RUN("reverse", "axis=0", "3x4", ref_reverse),
    RUN("reverse", "axis=1", "3x4", ref_reverse),
    RUN("reverse", "axis=(0,1)", "3x4", ref_reverse),
    RUN("reverse", "axis=(-1,0)", "2x3x4", ref_reverse),
    RUN("reverse", "axis=1", "2x3x4", ref_reverse),
    RUN("reverse", "axis=()", "2x3", ref_reverse),
    RUN("reverse", "axis=0", "1", ref_reverse),
    RUN("reverse", "axis=1", "0x4", ref_reverse),
    RUN("reverse", "axis=0", "0x4", ref_reverse),
    RUN("flip", "axis=1", "70x301", ref_reverse),
    FAILS("reverse", "", "3", MXC_EINVAL, "\"axis\" is missing"),
    FAILS("reverse", "axis=1", "3", MXC_ESHAPE, "axis 1 is not in [-1, 1)"),
    FAILS("reverse", "axis=(0,-1)", "3", MXC_ESHAPE, "axis 0 is named twice"),
};

MXC_CASES(tensor_reverse_cases, cases);

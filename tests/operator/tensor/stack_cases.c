/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of stack. */
#include "operator/cases.h"

static void ref_stack(const op_run *r) {
    const mxc_shape *out = &r->out_shape[0];
    int axis = (int)case_number(r, "axis", 0);
    int64_t index[MXC_MAX_NDIM];
    axis = axis < 0 ? axis + out->ndim : axis;
    for (int64_t i = 0; i < case_size(out); i++) {
        case_indices(out, i, index);
        int64_t piece = index[axis];
        for (int k = axis; k < out->ndim - 1; k++)
            index[k] = index[k + 1];
        r->out[0][i] = r->in[piece][case_element(&r->in_shape[piece], index)];
    }
}

static const op_case cases[] = {
    RUN("stack", "num_args=1", "3", ref_stack),
    RUN("stack", "num_args=2",
        "3x4 3x4; 1 1; 7 7; 0 0; 1x1 1x1; 7x1 7x1; 65 65; 2x3x4 2x3x4; 3x0x2 3x0x2; "
        "2x1x3x1x2 2x1x3x1x2; 129x3 129x3; 5x9@-1:1nf 5x9@-1:1nf",
        ref_stack),
    RUN("stack", "num_args=3 axis=1", "3x4 3x4 3x4", ref_stack),
    RUN("stack", "num_args=2 axis=2", "3x4 3x4", ref_stack),
    RUN("stack", "num_args=2 axis=-1", "3x4 3x4", ref_stack),
    RUN("stack", "num_args=3 axis=-3", "2x3 2x3 2x3", ref_stack),
    RUN("stack", "num_args=2", "s s", ref_stack),
    RUN("stack", "num_args=2 axis=1", "70x301 70x301", ref_stack),
    RUN("stack", "num_args=2 axis=1", "0x3 0x3", ref_stack),
    FAILS("stack", "num_args=2", "3x4 3x5", MXC_ESHAPE, "argument 'arg1': expected shape (3,4), found (3,5)"),
    FAILS("stack", "num_args=2 axis=3", "3x4 3x4", MXC_ESHAPE, "axis 3 is not in [-3, 3)"),
    FAILS("stack", "num_args=1", "1x1x1x1x1x1x1x1", MXC_ESHAPE, "out would have 9 axes"),
    INFERS("stack", "num_args=2 axis=1", "3x?,?x4 -> ? => 3x4,3x4 -> 3x2x4"),
    INFERS("stack", "num_args=2 axis=1", "?,? -> 3x?x4 => 3x4,3x4 -> 3x2x4"),
};

MXC_CASES(tensor_stack_cases, cases);

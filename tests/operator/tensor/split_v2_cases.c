/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _split_v2. */
#include "operator/cases.h"

/* Each output takes the elements whose index along the axis is in its part, in order. */
static void ref_split_v2(const op_run *r) {
    const mxc_shape *data = &r->in_shape[0];
    const int64_t sections = (int64_t)case_number(r, "sections", 0);
    const mxc_tuple begins = case_tuple(r, "indices");
    int64_t index[MXC_MAX_NDIM], at[CASE_SLOTS] = {0};
    int axis = (int)case_number(r, "axis", 1);
    axis = axis < 0 ? axis + data->ndim : axis;
    for (int64_t i = 0; i < case_size(data); i++) {
        int64_t rows = data->dim[axis], part = 0, end = 0;
        case_indices(data, i, index);
        for (; part < r->n_out; part++) {
            if (sections)
                end += rows / sections + (part < rows % sections);
            else
                end = part + 1 < begins.n ? begins.value[part + 1] : rows;
            if (index[axis] < end)
                break;
        }
        r->out[part][at[part]++] = r->in[0][i];
    }
}

static const op_case cases[] = {
    RUN("_split_v2", "indices=(0,1)", "2x3; 1x1; 7x2; 0x3; 65x9; 2x3x4; 2x6x1x5; 2x3x1x2x1; 129x6; 5x9@-1:1nf",
        ref_split_v2),
    RUN("_split_v2", "indices=() sections=3", "2x6; 1x3; 7x5; 3x2; 0x4; 2x7x3; 9x1; 3x0", ref_split_v2),
    RUN("_split_v2", "indices=(0,2,2,5) axis=0", "7x3; 5x2x2; 9", ref_split_v2),
    RUN("_split_v2", "indices=(0,) axis=-1; indices=[0] axis=2", "3x2x4", ref_split_v2),
    RUN("_split_v2", "indices=() sections=3 squeeze_axis=True", "2x3x4; 5x3", ref_split_v2),
    RUN("_split_v2", "indices=(0,1,2) squeeze_axis=1 axis=0", "3x4; 3; 3x2x2", ref_split_v2),
    RUN("_split_v2", "indices=(0,100)", "40x300x7", ref_split_v2),
    RUN("_split_v2", "indices=(0,1) sections=2", "3x4", ref_split_v2),
    FAILS("_split_v2", "indices=(1,2)", "2x6", MXC_EINVAL,
          "indices must begin with 0, unless sections is given; found 1"),
    FAILS("_split_v2", "indices=()", "2x6", MXC_EINVAL, "indices must begin with 0"),
    FAILS("_split_v2", "indices=(0,3,2)", "2x6", MXC_EINVAL, "found 2 after 3"),
    FAILS("_split_v2", "indices=(0,7)", "2x6", MXC_ESHAPE, "axis 1 has 6 rows, fewer than the 7"),
    FAILS("_split_v2", "indices=(0,1) squeeze_axis=True", "2x6", MXC_ESHAPE, "expected shape (?,2), found (2,6)"),
    FAILS("_split_v2", "indices=(0,1) axis=2", "2x6", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    INFERS("_split_v2", "indices=(0,2)", "?x6 -> 4x?,? => 4x6 -> 4x2,4x4"),
    INFERS("_split_v2", "indices=(0,2)", "? -> ?,4x3 => 4x5 -> 4x2,4x3"),
    INFERS("_split_v2", "indices=() sections=2", "? -> 4x3,4x2 => 4x5 -> 4x3,4x2"),
    INFERS("_split_v2", "indices=(0,1) squeeze_axis=True", "? -> ?,4x3 => 4x2x3 -> 4x3,4x3"),
};

MXC_CASES(tensor_split_v2_cases, cases);

/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of SliceChannel. */
#include "operator/cases.h"

static void ref_split(const op_run *r) {
    const mxc_shape *data = &r->in_shape[0];
    int axis = (int)case_number(r, "axis", 1);
    int64_t index[MXC_MAX_NDIM], rows, at[8] = {0};
    axis = axis < 0 ? axis + data->ndim : axis;
    rows = data->dim[axis] / r->n_out;
    for (int64_t i = 0; i < case_size(data); i++) { /* each output takes its elements in order */
        case_indices(data, i, index);
        int64_t piece = index[axis] / rows;
        r->out[piece][at[piece]++] = r->in[0][i];
    }
}

static const op_case cases[] = {
    RUN("SliceChannel", "num_outputs=1", "2x3; 1x1; 7x1", ref_split),
    RUN("SliceChannel", "num_outputs=3",
        "2x6; 1x3; 7x3; 0x3; 3x0; 65x3; 2x3x4; 2x6x1x5; 1x33; 17x9; 2x3x1x2x1; "
        "129x6; 5x9@-1:1nf",
        ref_split),
    RUN("SliceChannel", "num_outputs=2 axis=0", "4x3x2", ref_split),
    RUN("SliceChannel", "num_outputs=2 axis=-1", "3x2x4", ref_split),
    RUN("SliceChannel", "num_outputs=3 squeeze_axis=True", "2x3x4", ref_split),
    RUN("SliceChannel", "num_outputs=4 axis=0 squeeze_axis=1", "4x3", ref_split),
    RUN("split", "num_outputs=2 axis=2 squeeze_axis=True", "3x4x2", ref_split),
    RUN("SliceChannel", "num_outputs=2", "40x300x7", ref_split),
    RUN("SliceChannel", "num_outputs=2", "0x4", ref_split),
    FAILS("SliceChannel", "num_outputs=4", "2x6", MXC_ESHAPE, "axis 1 has 6 rows, expected a multiple of 4"),
    FAILS("SliceChannel", "num_outputs=3 squeeze_axis=True", "2x6", MXC_ESHAPE, "axis 1 has 6 rows, expected 3"),
    FAILS("SliceChannel", "num_outputs=0", "2x6", MXC_EINVAL, "num_outputs"),
    FAILS("SliceChannel", "num_outputs=2 axis=2", "2x6", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    INFERS("SliceChannel", "num_outputs=2", "?x6 -> 4x?,? => 4x6 -> 4x3,4x3"),
    INFERS("SliceChannel", "num_outputs=2", "? -> ?,4x3 => 4x6 -> 4x3,4x3"),
    INFERS("SliceChannel", "num_outputs=2 squeeze_axis=True", "? -> ?,4x3 => 4x2x3 -> 4x3,4x3"),
};

MXC_CASES(tensor_slice_channel_cases, cases);

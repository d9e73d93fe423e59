/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of tile and repeat. */
#include "operator/cases.h"

static void ref_tile(const op_run *r) {
    const mxc_shape *data = &r->in_shape[0], *out = &r->out_shape[0];
    int64_t index[MXC_MAX_NDIM];
    for (int64_t i = 0; i < case_size(out); i++) {
        case_indices(out, i, index);
        for (int axis = 0; axis < data->ndim; axis++)
            index[axis] = index[axis + out->ndim - data->ndim] % data->dim[axis];
        r->out[0][i] = r->in[0][case_element(data, index)];
    }
}

static void ref_repeat(const op_run *r) {
    const mxc_shape *data = &r->in_shape[0];
    int64_t repeats = (int64_t)case_number(r, "repeats", 1), index[MXC_MAX_NDIM];
    int axis = (int)case_number(r, "axis", 100);
    axis = axis < 0 ? axis + data->ndim : axis;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        case_indices(&r->out_shape[0], i, index);
        if (axis < MXC_MAX_NDIM)
            index[axis] /= repeats;
        r->out[0][i] = r->in[0][axis < MXC_MAX_NDIM ? case_element(data, index) : i / repeats];
    }
}

static const op_case cases[] = {
    RUN("tile", "reps=(3,)", "4", ref_tile),
    RUN("tile", "reps=(2,3)", "4x5; 1x1; 1x7; 7x1; 0x3; 65x2; 3x33; 17x1; 2x64; 5x9@-1:1nf", ref_tile),
    RUN("tile", "reps=(2,)", "3x4", ref_tile),
    RUN("tile", "reps=(2,1,3)", "4x5", ref_tile),
    RUN("tile", "reps=(1,1)", "3x4", ref_tile),
    RUN("tile", "reps=()", "3x4", ref_tile),
    RUN("tile", "reps=(2,2,2,2,2)", "2x1x2x3x2", ref_tile),
    RUN("tile", "reps=(2,2,2,2,2,1,2,2)", "2x2x2x2x1x2x2x2@-1:1", ref_tile), /* no two axes merge */
    RUN("tile", "reps=(40,3)", "7x130", ref_tile),
    RUN("tile", "reps=(2,2)", "s", ref_tile),
    RUN("tile", "reps=(0,2)", "3x4", ref_tile),
    RUN("tile", "reps=(2,2)", "0x4", ref_tile),
    FAILS("tile", "", "3", MXC_EINVAL, "\"reps\" is missing"),
    FAILS("tile", "reps=(-1,)", "3", MXC_EINVAL, "reps"),
    FAILS("tile", "reps=(1,1,1,1,1,1,1,1,1)", "3", MXC_ESHAPE, "reps names 9 axes"),
    FAILS("tile", "reps=(8000000000000000,)", "3000", MXC_ESHAPE, "larger than memory"),
    INFERS("tile", "reps=(2,3)", "4x? -> ?x6 => 4x? -> 8x6"),

    RUN("repeat", "repeats=3", "4; 1; 0; 65; 1x1; 3x2; 0x3; 2x3x4; 2x1x3x1x2; 129; 5x9@-1:1nf", ref_repeat),
    RUN("repeat", "repeats=3", "2x4", ref_repeat),
    RUN("repeat", "repeats=2 axis=0", "3x4", ref_repeat),
    RUN("repeat", "repeats=2 axis=1", "3x4x2", ref_repeat),
    RUN("repeat", "repeats=4 axis=-1", "3x4x2", ref_repeat),
    RUN("repeat", "repeats=1 axis=1", "3x4", ref_repeat),
    RUN("repeat", "repeats=0 axis=1", "3x4", ref_repeat),
    RUN("repeat", "repeats=700", "1x1", ref_repeat),
    RUN("repeat", "repeats=60 axis=0", "3x301", ref_repeat),
    RUN("repeat", "repeats=2", "0x4", ref_repeat),
    RUN("repeat", "repeats=2 axis=1", "0x4", ref_repeat),
    FAILS("repeat", "axis=1", "3x4", MXC_EINVAL, "\"repeats\" is missing"),
    FAILS("repeat", "repeats=2 axis=2", "3x4", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("repeat", "repeats=8000000000000000", "3000", MXC_ESHAPE, "larger than memory"),
    INFERS("repeat", "repeats=2 axis=0", "4x? -> ?x6 => 4x? -> 8x6"),
};

MXC_CASES(tensor_tile_cases, cases);

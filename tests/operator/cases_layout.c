/* Cases of operators that copy, turn and rearrange whole arrays: tile, repeat, reverse, squeeze, stack,
 * _identity_with_attr_like_rhs, depth_to_space, space_to_depth. */
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

static void ref_copy(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
}

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

/* The element of data where element i of the wide array is found in the deep one, whose shapes these are. */
static int64_t deep_of(const op_run *r, const mxc_shape *deep, const mxc_shape *wide, int64_t i) {
    int64_t b = (int64_t)case_number(r, "block_size", 1), index[MXC_MAX_NDIM];
    case_indices(wide, i, index);
    index[1] += (index[2] % b * b + index[3] % b) * wide->dim[1];
    index[2] /= b;
    index[3] /= b;
    return case_element(deep, index);
}

static void ref_to_space(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[0][deep_of(r, &r->in_shape[0], &r->out_shape[0], i)];
}

static void ref_to_depth(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][deep_of(r, &r->out_shape[0], &r->in_shape[0], i)] = r->in[0][i];
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

    RUN("squeeze", "", "1x3x1x2; 7; 2x1; 1x7; 1x1x1x1; 3x1x0; 65x1; 1x2x1x3x1x2x1x2; 2x3x4; 129x1x3; 1; 5x1x9@-1:1nf",
        ref_copy),
    RUN("squeeze", "axis=0", "1x3x1", ref_copy),
    RUN("squeeze", "axis=(0,-1)", "1x3x1", ref_copy),
    RUN("squeeze", "axis=1", "70x1x301", ref_copy),
    RUN("squeeze", "", "3x4", ref_copy),
    RUN("squeeze", "", "1x1", ref_copy),
    RUN("squeeze", "axis=(0,1)", "1x1", ref_copy),
    RUN("squeeze", "", "s", ref_copy),
    RUN("squeeze", "", "0x1", ref_copy),
    FAILS("squeeze", "axis=1", "1x3", MXC_ESHAPE, "argument 'data': expected shape (?,1), found (1,3)"),
    FAILS("squeeze", "axis=2", "1x3", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("squeeze", "axis=(0,-2)", "1x3", MXC_ESHAPE, "axis 0 is named twice"),
    INFERS("squeeze", "axis=1", "2x?x? -> ?x5 => 2x1x5 -> 2x5"),
    INFERS("squeeze", "", "1x? -> ? => 1x? -> ?"),

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

    RUN("_identity_with_attr_like_rhs", "", "3 3" CASE_EACH(CASE_TWO) "; 5x9@-1:1nf 5x9", ref_copy),
    RUN("_identity_with_attr_like_rhs", "", "3x4 3x4", ref_copy),
    RUN("_identity_with_attr_like_rhs", "", "1 1", ref_copy),
    RUN("_identity_with_attr_like_rhs", "", "s s", ref_copy),
    RUN("_identity_with_attr_like_rhs", "", "2x3x4x5 2x3x4x5", ref_copy),
    RUN("_identity_with_attr_like_rhs", "", "7x1 7x1", ref_copy),
    RUN("_identity_with_attr_like_rhs", "", "70x301 70x301", ref_copy),
    RUN("_identity_with_attr_like_rhs", "", "0x3 0x3", ref_copy),
    FAILS("_identity_with_attr_like_rhs", "", "3 4", MXC_ESHAPE, "argument 'rhs': expected shape (3,), found (4,)"),
    INFERS("_identity_with_attr_like_rhs", "", "?,2x3 -> ? => 2x3,2x3 -> 2x3"),

    RUN("reshape_like", "",
        "6x4 2x3x4; 1 1; 7 7; 7 1x7; 65 5x13; 0 0x3; 0x3 3x0; 12 3x4; 3x4 12; 1x17 17; 2x3x4 24; "
        "1031 1031x1; 3x129 387; 2x3x2x5 6x10; 1x1x1x1 1; 5x9@-1:1nf 45; 2x2 4; 2x1x3x1x2 12; "
        "8 2x2x2",
        ref_copy),
    RUN("reshape_like", "lhs_begin=0 lhs_end=1 rhs_begin=0 rhs_end=2", "30x7 15x2x4", ref_copy),
    RUN("reshape_like", "lhs_end=2 rhs_begin=1 rhs_end=2", "3x5 1x15x4", ref_copy),
    RUN("reshape_like", "lhs_begin=-1 lhs_end=None rhs_begin=1 rhs_end=None", "30x12 4x2x2x3", ref_copy),
    FAILS("reshape_like", "", "6 7", MXC_ESHAPE, "argument 'lhs': shape (6,) has not as many elements as (7,)"),
    FAILS("reshape_like", "rhs_begin=3", "6 6", MXC_ESHAPE, "argument 'rhs': axes 3 to 1 of 1 axes"),
    INFERS("reshape_like", "", "?,2x3 -> ? => ?,2x3 -> 2x3"),
    INFERS("reshape_like", "", "6,? -> ? => 6,? -> ?"),

    RUN("depth_to_space", "block_size=2",
        "1x4x1x1; 1x4x7x1; 1x4x1x7; 2x4x2x2; 3x8x1x1; 1x20x2x3; 1x4x33x2; 1x4x0x3; "
        "0x8x1x1; 1x0x2x2; 5x4x3x3; 1x16x2x2; 2x12x5x1; 1x4x3x5@-1:1nf",
        ref_to_space),
    RUN("depth_to_space", "block_size=2", "2x8x3x5", ref_to_space),
    RUN("depth_to_space", "block_size=3", "1x9x2x2", ref_to_space),
    RUN("depth_to_space", "block_size=1", "2x3x2x2; 1x1x1x1; 1x1x65x3", ref_to_space),
    RUN("depth_to_space", "block_size=2", "1x12x1x7", ref_to_space),
    RUN("depth_to_space", "block_size=4", "1x16x40x33", ref_to_space),
    RUN("depth_to_space", "block_size=2", "3x4x7x1", ref_to_space),
    RUN("depth_to_space", "block_size=2", "0x4x2x2", ref_to_space),
    FAILS("depth_to_space", "block_size=2", "1x6x2x2", MXC_ESHAPE, "do not divide into blocks of 2"),
    FAILS("depth_to_space", "block_size=2", "4x2x2", MXC_ESHAPE, "argument 'data': expected shape"),
    FAILS("depth_to_space", "block_size=0", "1x4x2x2", MXC_EINVAL, "block_size"),
    INFERS("depth_to_space", "block_size=2", "1x?x3x? -> ?x2x?x8 => 1x8x3x4 -> 1x2x6x8"),

    RUN("space_to_depth", "block_size=2",
        "1x1x2x2; 1x1x14x2; 1x1x2x14; 2x1x4x4; 3x2x2x2; 1x5x4x6; 1x1x66x4; 1x1x0x4; "
        "0x2x2x2; 1x0x4x4; 5x1x6x6; 1x4x4x4; 2x3x10x2; 1x1x6x10@-1:1nf",
        ref_to_depth),
    RUN("space_to_depth", "block_size=2", "2x3x4x6", ref_to_depth),
    RUN("space_to_depth", "block_size=3", "1x2x3x9", ref_to_depth),
    RUN("space_to_depth", "block_size=1", "2x3x2x2; 1x1x1x1; 1x1x65x3", ref_to_depth),
    RUN("space_to_depth", "block_size=2", "1x5x2x14", ref_to_depth),
    RUN("space_to_depth", "block_size=4", "1x1x160x132", ref_to_depth),
    RUN("space_to_depth", "block_size=2", "3x1x14x2", ref_to_depth),
    RUN("space_to_depth", "block_size=2", "0x4x2x2", ref_to_depth),
    FAILS("space_to_depth", "block_size=2", "1x2x3x2", MXC_ESHAPE, "do not divide into blocks of 2"),
    INFERS("space_to_depth", "block_size=2", "1x?x6x? -> ?x8x?x4 => 1x2x6x8 -> 1x8x3x4"),
};

MXC_CASES(layout_cases, cases);

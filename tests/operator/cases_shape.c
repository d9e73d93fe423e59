/* Cases of operators that stretch, cut, turn or convert one array: broadcast_axis, broadcast_to, broadcast_like,
 * _broadcast, expand_dims, slice, slice_axis, transpose, SwapAxis, SliceChannel, Cast. */
#include <math.h>

#include "operator/cases.h"

static void ref_copy(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
}

static void ref_broadcast(const op_run *r) {
    int64_t index[MXC_MAX_NDIM];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        case_indices(&r->out_shape[0], i, index);
        for (int axis = 0; axis < r->out_shape[0].ndim; axis++)
            index[axis] = r->in_shape[0].dim[axis] == 1 ? 0 : index[axis];
        r->out[0][i] = r->in[0][case_element(&r->in_shape[0], index)];
    }
}

/* Where a begin of slice is. */
static int64_t begin_of(int64_t begin, int64_t dim) {
    if (begin == MXC_PARAM_UNSET)
        return 0;
    return begin < 0 ? begin + dim : begin;
}

static void copy_box(const op_run *r, const int64_t *begin) {
    int64_t index[MXC_MAX_NDIM];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        case_indices(&r->out_shape[0], i, index);
        for (int axis = 0; axis < r->out_shape[0].ndim; axis++)
            index[axis] += begin[axis];
        r->out[0][i] = r->in[0][case_element(&r->in_shape[0], index)];
    }
}

static void ref_slice(const op_run *r) {
    mxc_tuple given = case_tuple(r, "begin");
    int64_t begin[MXC_MAX_NDIM] = {0};
    for (int i = 0; i < given.n; i++)
        begin[i] = begin_of(given.value[i], r->in_shape[0].dim[i]);
    copy_box(r, begin);
}

static void ref_slice_axis(const op_run *r) {
    int64_t begin[MXC_MAX_NDIM] = {0};
    int axis = (int)case_number(r, "axis", 0);
    axis = axis < 0 ? axis + r->in_shape[0].ndim : axis;
    begin[axis] = begin_of((int64_t)case_number(r, "begin", 0), r->in_shape[0].dim[axis]);
    copy_box(r, begin);
}

static void ref_transpose(const op_run *r) {
    int64_t index[MXC_MAX_NDIM], source[MXC_MAX_NDIM];
    int ndim = r->out_shape[0].ndim;
    mxc_tuple axes = case_tuple(r, "axes");
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        case_indices(&r->out_shape[0], i, index);
        for (int k = 0; k < ndim; k++) {
            int64_t axis = axes.n ? axes.value[k] : ndim - 1 - k;
            source[axis < 0 ? axis + ndim : axis] = index[k];
        }
        r->out[0][i] = r->in[0][case_element(&r->in_shape[0], source)];
    }
}

static void ref_swap(const op_run *r) {
    int64_t index[MXC_MAX_NDIM], kept;
    int ndim = r->out_shape[0].ndim, a = (int)case_number(r, "dim1", 0), b = (int)case_number(r, "dim2", 0);
    a = a < 0 ? a + ndim : a;
    b = b < 0 ? b + ndim : b;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        case_indices(&r->out_shape[0], i, index);
        kept = index[a];
        index[a] = index[b];
        index[b] = kept;
        r->out[0][i] = r->in[0][case_element(&r->in_shape[0], index)];
    }
}

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

/* Conversion to an integer: towards 0, cut to the range. */
static void to_integer(const op_run *r, double low, double high) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = fmin(fmax(trunc(r->in[0][i]), low), high);
}

static void ref_cast_u8(const op_run *r) {
    to_integer(r, 0, 255);
}

static void ref_cast_i8(const op_run *r) {
    to_integer(r, -128, 127);
}

static void ref_cast_i32(const op_run *r) {
    to_integer(r, -2147483648.0, 2147483647.0);
}

/* The gradient goes through as if the conversion were exact. */
static void grad_cast(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->in_grad[0][i] = r->out_grad[0][i];
}

#define CAST(given, shapes, ref) \
    { .op = "Cast", .params = given, .in = shapes, .reference = ref, .gradient = grad_cast }

#define LIKE(given, shapes) \
    { .op = "broadcast_like", .params = given, .in = shapes, .constant = 2, .reference = ref_broadcast }

static const op_case cases[] = {
    RUN("broadcast_axis", "axis=0 size=4", "1", ref_broadcast),
    RUN("broadcast_axis", "axis=0 size=4",
        "1x3; 1x1; 1x65; 1x0; 1x2x3x4; 1x17; 1x1x1; 1x7x1; 1x2x1x3x1x2; 1x129; "
        "1x33x2; 1x5x3; 1x9@-1:1nf",
        ref_broadcast),
    RUN("broadcast_axis", "axis=-1 size=5", "2x3x1", ref_broadcast),
    RUN("broadcast_axis", "axis=(0,2) size=(2,3)", "1x5x1", ref_broadcast),
    RUN("broadcast_axis", "axis=(2,0) size=(3,2)", "1x5x1x2", ref_broadcast),
    RUN("broadcast_axis", "axis=1 size=0", "2x1", ref_broadcast), /* 0: as it is */
    RUN("broadcast_axis", "axis=1 size=1300", "3x1", ref_broadcast),
    RUN("broadcast_axis", "axis=0 size=1300", "1x17", ref_broadcast),
    RUN("broadcast_axis", "", "2x3", ref_broadcast),
    RUN("broadcast_axes", "axis=0 size=2", "1x0", ref_broadcast),
    FAILS("broadcast_axis", "axis=0 size=4", "2x3", MXC_ESHAPE, "axis 0 has size 2, expected 1 or 4"),
    FAILS("broadcast_axis", "axis=2 size=4", "2x3", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("broadcast_axis", "axis=(0,1) size=4", "1x1", MXC_EINVAL, "axis names 2 axes and size 1"),
    FAILS("broadcast_axis", "axis=0 size=-4", "1x1", MXC_EINVAL, "size"),
    INFERS("broadcast_axis", "axis=0 size=4", "1x? -> ?x3 => 1x? -> 4x3"),

    RUN("broadcast_to", "shape=(4,)", "1", ref_broadcast),
    RUN("broadcast_to", "shape=(4,3)", "1x3", ref_broadcast),
    RUN("broadcast_to", "shape=(2,5,3)", "2x1x3", ref_broadcast),
    RUN("broadcast_to", "shape=(0,5,0)",
        "2x1x3; 1x1x1; 7x1x1; 1x1x7; 0x1x3; 3x1x0; 2x5x3; 1x5x1; 17x1x3; 1x1x65; "
        "2x1x33; 9x1x2; 33x1x1; 3x1x9@-1:1nf",
        ref_broadcast),
    RUN("broadcast_to", "shape=(4,2,3,2)", "1x2x1x2", ref_broadcast),
    RUN("broadcast_to", "shape=(70,700)", "70x1", ref_broadcast),
    RUN("broadcast_to", "shape=(70,700)", "1x700", ref_broadcast),
    RUN("broadcast_to", "shape=(200,300)", "1x1", ref_broadcast),
    FAILS("broadcast_to", "shape=(4,3)", "2x3", MXC_ESHAPE, "axis 0 has size 2, expected 1 or 4"),
    FAILS("broadcast_to", "shape=(4,3)", "3", MXC_ESHAPE, "shape has 2 axes, expected the 1 of data"),
    FAILS("broadcast_to", "shape=(-1,3)", "1x3", MXC_EINVAL, "shape"),
    INFERS("broadcast_to", "shape=(4,0)", "1x? -> ?x3 => 1x? -> 4x3"),

    RUN("_broadcast", "axis=0 size=4", "1", ref_broadcast),
    RUN("_broadcast", "axis=0 size=4",
        "1x3; 1x1; 1x65; 1x0; 1x2x3x4; 1x17; 1x1x1; 1x7x1; 1x2x1x3x1x2; 1x129; 1x33x2; "
        "1x5x3; 1x9@-1:1nf",
        ref_broadcast),
    RUN("_broadcast", "axis=-1 size=5", "2x3x1", ref_broadcast),
    RUN("_broadcast", "axis=1 size=0", "2x1", ref_broadcast),
    RUN("_broadcast", "axis=1 size=1300", "3x1", ref_broadcast),
    RUN("_broadcast", "axis=1 size=4", "2x4", ref_broadcast),
    RUN("_broadcast", "axis=1 size=3", "0x1", ref_broadcast),
    RUN("_broadcast", "axis=0 size=1", "1", ref_broadcast),
    FAILS("_broadcast", "axis=0 size=4", "2x3", MXC_ESHAPE, "argument 'src': axis 0 has size 2, expected 1 or 4"),
    FAILS("_broadcast", "axis=0", "1x3", MXC_EINVAL, "\"size\" is missing"),
    INFERS("_broadcast", "axis=0 size=4", "?x3 -> ? => ?x3 -> 4x3"),

    LIKE("", "1 4"),
    LIKE("", "1x3 4x3; 1x1 1x1; 7x1 7x9; 1 65; 1x1x3 2x5x3; 0x1 0x4; 1x0 3x0; 2x1x3x1 2x4x3x5; 1x129 3x129; "
             "17x1 17x1; s s; 1x3@-1:1nf 5x3"),
    LIKE("", "2x1x3 2x5x3"),
    LIKE("", "3x4 3x4"),
    LIKE("", "1x1 200x300"),
    LIKE("lhs_axes=(0,) rhs_axes=(-1,)", "1x3 7x4"),
    LIKE("lhs_axes=(2,0) rhs_axes=(0,1)", "1x5x1 3x2"),
    LIKE("", "3x1 3x0"),
    LIKE("", "70x1 70x700"),
    LIKE("lhs_axes=(1,) rhs_axes=(0,)", "2x4 4"),
    FAILS("broadcast_like", "", "2x3 4x3", MXC_ESHAPE, "argument 'lhs': axis 0 has size 2, expected 1 or 4"),
    FAILS("broadcast_like", "", "1x3 3", MXC_ESHAPE, "argument 'lhs' has 2 axes, expected the 1 of rhs"),
    FAILS("broadcast_like", "lhs_axes=(0,)", "1x3 2x3", MXC_EINVAL, "must name as many axes"),
    FAILS("broadcast_like", "lhs_axes=(2,) rhs_axes=(0,)", "1x3 2x3", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    INFERS("broadcast_like", "", "1x?,4x3 -> ? => 1x?,4x3 -> 4x3"),
    INFERS("broadcast_like", "", "1x5,4x? -> ? => 1x5,4x? -> 4x5"),

    RUN("expand_dims", "axis=0", "3", ref_copy),
    RUN("expand_dims", "axis=1",
        "3x4; 1; 7; 1x1; 7x1; 1x7; 65x2; 2x3x4; 3x0x2; 2x1x3x1x2; 129x3; 33; 1x2x1x3x1x2x1; "
        "5x9@-1:1nf",
        ref_copy),
    RUN("expand_dims", "axis=2", "3x4", ref_copy),
    RUN("expand_dims", "axis=-1", "3x4", ref_copy),
    RUN("expand_dims", "axis=-3", "3x4", ref_copy),
    RUN("expand_dims", "axis=0", "s", ref_copy),
    RUN("expand_dims", "axis=1", "0x4", ref_copy),
    FAILS("expand_dims", "", "2x3", MXC_EINVAL, "\"axis\" is missing"),
    FAILS("expand_dims", "axis=3", "2x3", MXC_ESHAPE, "axis 3 is not in [-3, 3)"),
    FAILS("expand_dims", "axis=0", "1x1x1x1x1x1x1x1", MXC_ESHAPE, "out would have 9 axes"),
    INFERS("expand_dims", "axis=1", "2x? -> ? => 2x? -> 2x1x?"),
    INFERS("expand_dims", "axis=1", "? -> 2x1x3 => 2x3 -> 2x1x3"),

    RUN("slice_axis", "axis=0 begin=1 end=3", "5", ref_slice_axis),
    RUN("slice_axis", "axis=0 begin=1 end=3", "5x4; 3; 7x1; 4x0; 3x2x3; 65x2; 4x1x3x1x2; 129; 33x3; 3x1; 5x9@-1:1nf",
        ref_slice_axis),
    RUN("slice_axis", "axis=1 begin=0 end=1", "3x4x2; 1x1; 1x1x1; 7x1; 3x65", ref_slice_axis),
    RUN("slice_axis", "axis=-1 begin=-3 end=-1", "2x3x5", ref_slice_axis),
    RUN("slice_axis", "axis=1 begin=2 end=None", "3x4", ref_slice_axis),
    RUN("slice_axis", "axis=0 begin=0 end=3", "3x4", ref_slice_axis),
    RUN("slice_axis", "axis=1 begin=2 end=100", "3x4", ref_slice_axis),
    RUN("slice_axis", "axis=1 begin=2 end=2", "3x4", ref_slice_axis),
    RUN("slice_axis", "axis=1 begin=1 end=3", "0x4", ref_slice_axis),
    RUN("slice_axis", "axis=1 begin=30 end=231", "150x301", ref_slice_axis),
    RUN("slice_axis", "axis=0 begin=3 end=140", "150x301", ref_slice_axis),
    FAILS("slice_axis", "axis=2 begin=0 end=1", "2x3", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("slice_axis", "begin=0 end=1", "2x3", MXC_EINVAL, "\"axis\" is missing"),
    INFERS("slice_axis", "axis=1 begin=1 end=3", "?x4 -> 2x? => 2x4 -> 2x2"),
    INFERS("slice_axis", "axis=1 begin=1 end=3", "2x? -> ? => 2x? -> 2x?"),

    RUN("slice", "begin=(1,) end=(4,)", "5", ref_slice),
    RUN("slice", "begin=(1,2) end=(3,5)", "4x6", ref_slice),
    RUN("slice", "begin=(0,1,2) end=(2,2,5)", "2x3x6", ref_slice),
    RUN("slice", "begin=(1,) end=(3,)", "4x6x2", ref_slice),
    RUN("slice", "begin=(-2,-4) end=(-1,-1)", "4x6", ref_slice),
    RUN("slice", "begin=(None,2) end=(3,None)", "4x6", ref_slice),
    RUN("slice", "begin=(0,0,0,1) end=(2,3,1,4)", "2x3x2x5", ref_slice),
    RUN("slice", "begin=(2,2) end=(2,4)", "4x6", ref_slice),
    RUN("crop", "begin=(10,20) end=(140,290)", "150x301", ref_slice),
    FAILS("slice", "begin=(0,0,0) end=(1,1,1)", "2x3", MXC_ESHAPE, "begin, end and step name 3, 3 and 0 axes"),
    FAILS("slice", "begin=(0,x) end=(1,1)", "2x3", MXC_EINVAL, "begin"),
    FAILS("slice", "end=(1,1)", "2x3", MXC_EINVAL, "\"begin\" is missing"),
    INFERS("slice", "begin=(1,None) end=(3,None)", "4x? -> ?x7 => 4x7 -> 2x7"),

    RUN("transpose", "", "5", ref_transpose),
    RUN("transpose", "", "3x4; 1x7; 7x1; 0; 65x3; 3x1x7; 2x1x2x3x1x2x1x2; 5x9@-1:1nf; s", ref_transpose),
    RUN("transpose", "", "2x3x4", ref_transpose),
    RUN("transpose", "axes=(0,2,1)", "2x3x4", ref_transpose),
    RUN("transpose", "axes=(1,2,0)", "2x3x4", ref_transpose),
    RUN("transpose", "axes=(2,0,1)", "2x3x4", ref_transpose),
    RUN("transpose", "axes=(0,1,2)", "2x3x4", ref_transpose),
    RUN("transpose", "axes=(-1,0,1)", "2x3x4", ref_transpose),
    RUN("transpose", "axes=(0,2,3,1)", "2x3x4x5", ref_transpose),
    RUN("transpose", "axes=(3,1,0,2)", "2x3x4x5", ref_transpose),
    RUN("transpose", "axes=(4,2,0,3,1)", "2x1x3x2x2", ref_transpose),
    RUN("transpose", "", "1x1", ref_transpose),
    RUN("transpose", "", "0x3", ref_transpose),
    RUN("transpose", "", "150x301", ref_transpose),
    RUN("transpose", "axes=(0,2,1)", "3x65x97", ref_transpose),
    RUN("transpose", "axes=(2,1,0)", "33x3x65", ref_transpose),
    FAILS("transpose", "axes=(0,1)", "2x3x4", MXC_ESHAPE, "axes names 2 axes, expected the 3 of data"),
    FAILS("transpose", "axes=(0,0,1)", "2x3x4", MXC_ESHAPE, "axes names axis 0 twice"),
    FAILS("transpose", "axes=(0,1,3)", "2x3x4", MXC_ESHAPE, "axis 3 is not in [-3, 3)"),
    INFERS("transpose", "", "2x? -> ?x2 => 2x? -> ?x2"),
    INFERS("transpose", "axes=(1,2,0)", "? -> 3x4x2 => 2x3x4 -> 3x4x2"),

    RUN("SwapAxis", "", "2x3", ref_swap),
    RUN("SwapAxis", "dim1=0 dim2=1",
        "3x4; 1x1; 7x1; 1x7; 65x3; 3x0; 2x3x4; 2x1x3x1x2; 33x65; 17x2; 3x0x2; 129x2; "
        "1x2x3x2; 5x9@-1:1nf; 2x2",
        ref_swap),
    RUN("SwapAxis", "dim1=2 dim2=0", "2x3x4", ref_swap),
    RUN("SwapAxis", "dim1=1 dim2=-1", "2x3x4x5", ref_swap),
    RUN("swapaxes", "dim1=0 dim2=1", "150x301", ref_swap),
    RUN("SwapAxis", "dim1=0 dim2=1", "0x3", ref_swap),
    FAILS("SwapAxis", "dim1=0 dim2=2", "2x3", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    INFERS("SwapAxis", "dim1=0 dim2=2", "2x3x? -> 5x?x? => 2x3x5 -> 5x3x2"),

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

    CAST("dtype=float64", "3x5@-2:2.3" CASE_EACH(CASE_ONE) "; 5x9@-2:2.3nf", ref_copy),
    CAST("dtype=float32", "3x5@-2:2.3", ref_copy),
    CAST("dtype=float16", "1031@-2:2.3; 5x9@-2:2.3nf", ref_copy),
    CAST("dtype=bfloat16", "3x5@-2:2.3", ref_copy),
    CAST("dtype=int32", "3x5@0:9", ref_cast_i32),
    CAST("dtype=int64", "3x5@0:9", ref_cast_i32),
    CAST("dtype=uint8", "3x5@0:9", ref_cast_u8),
    CAST("dtype=int8", "3x5@0:9", ref_cast_i8),
    {.op = "Cast",
     .params = "dtype=uint8",
     .in = "40@-300:300",
     .reference = ref_cast_u8,
     .gradient = grad_cast,
     .flags = CASE_FLOAT_ONLY},
    {.op = "Cast",
     .params = "dtype=int8",
     .in = "40@-300:300",
     .reference = ref_cast_i8,
     .gradient = grad_cast,
     .flags = CASE_FLOAT_ONLY},
    {.op = "cast",
     .params = "dtype=int32",
     .in = "9@-8e9:8e9",
     .reference = ref_cast_i32,
     .gradient = grad_cast,
     .flags = CASE_F64_ONLY},
    CAST("dtype=float32", "0x5", ref_copy),
    CAST("dtype=float64", "150x301@-2:2.3", ref_copy),
    FAILS("Cast", "", "2", MXC_EINVAL, "\"dtype\" is missing"),
    FAILS("Cast", "dtype=float31", "2", MXC_EINVAL, "float31"),
    INFERS("Cast", "dtype=float64", "? -> 2x3 => 2x3 -> 2x3"),
};

MXC_CASES(shape_cases, cases);

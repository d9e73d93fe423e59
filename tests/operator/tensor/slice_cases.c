/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of slice_axis, slice and slice_like. */
#include <stdlib.h>

#include "operator/tensor/tensor_reference.h"

/* A begin as an index of the axis. */
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

static void ref_slice_axis(const op_run *r) {
    int64_t begin[MXC_MAX_NDIM] = {0};
    int axis = (int)case_number(r, "axis", 0);
    axis = axis < 0 ? axis + r->in_shape[0].ndim : axis;
    begin[axis] = begin_of((int64_t)case_number(r, "begin", 0), r->in_shape[0].dim[axis]);
    copy_box(r, begin);
}

static void ref_slice(const op_run *r) {
    int64_t *element = malloc(((size_t)case_size(&r->in_shape[0]) + 1) * sizeof *element);
    int64_t n = case_slice_elements(r, &r->in_shape[0], element);
    for (int64_t i = 0; i < n; i++)
        r->out[0][i] = r->in[0][element[i]];
    free(element);
}

/* Element i of out stands at the same indices in data. */
static void ref_slice_like(const op_run *r) {
    const mxc_shape *data = &r->in_shape[0], *out = &r->out_shape[0];
    for (int64_t i = 0; i < case_size(out); i++) {
        int64_t rest = i, step = 1, element = 0;
        for (int axis = out->ndim - 1; axis >= 0; axis--) {
            element += rest % out->dim[axis] * step;
            rest /= out->dim[axis];
            step *= data->dim[axis];
        }
        r->out[0][i] = r->in[0][element];
    }
}

#define SLICE(given, shape) \
    { .op = "slice", .params = given, .in = shape, .reference = ref_slice }
#define LIKE(given, shapes) \
    { .op = "slice_like", .params = given, .in = shapes, .constant = 2, .reference = ref_slice_like }

static const op_case cases[] = {
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

    SLICE("begin=(0,) end=(1,)", "1; 7x1; 1x7; 1x1; 5x9@-1:1nf"),
    SLICE("begin=(1,) end=(9,) step=(2,)", "10"),
    SLICE("begin=(None,) end=(None,) step=(-1,)", "7"),
    SLICE("begin=(5,) end=(1,) step=(-2,)", "8x3"),
    SLICE("begin=(None,None) end=(None,None) step=(2,-3)", "5x10"),
    SLICE("begin=(0,1,2) end=(None,None,-1) step=(3,None,2)", "7x4x9"),
    SLICE("begin=(20,) end=(-20,) step=(-4,)", "10x2"),
    SLICE("begin=(1,2) end=(2,3) step=(50,-7)", "4x6"),
    SLICE("begin=(2,) end=(3,) step=(1000000000000,)", "4x2"),
    SLICE("begin=() end=() step=(2,2,2)", "30x40x50"),
    SLICE("begin=(3,) end=(0,) step=(1,)", "5x2"),
    SLICE("begin=(None,) end=(None,) step=(-2,)", "0x3"),
    FAILS("slice", "begin=(0,) end=(1,) step=(0,)", "2x3", MXC_EINVAL, "slice: entry 0 of step is 0"),
    FAILS("slice", "begin=() end=() step=(1,1,1)", "2x3", MXC_ESHAPE, "begin, end and step name 0, 0 and 3 axes"),
    INFERS("slice", "begin=(None,None) end=(None,None) step=(-1,2)", "?x6 -> 4x? => ?x6 -> 4x3"),

    LIKE("", "5 3"),
    LIKE("", "4x6 2x3; 7 7; 7x1 1x1; 1x7 1x3; 65x3 2x3; 3x129 3x5; 2x3x4 1x2x3; 2x1x3x1x2 1x1x2x1x1; 0x3 0x2; "
             "4x6@-1:1nf 3x5; 33 17"),
    LIKE("", "4x6 4x6"),
    LIKE("axes=(1,)", "4x6 9x2"),
    LIKE("", "3x4x5 2x4"),
    LIKE("axes=(-1,0)", "5x2x6 3x9x4"),
    LIKE("", "4x6 0x3"),
    LIKE("axes=(0,)", "70x300 41"),
    LIKE("", "1x1 1x1"),
    LIKE("", "60x70x3 50x66x2"),
    FAILS("slice_like", "", "4x6 5x3", MXC_ESHAPE, "'shape_like': axis 0 has 5 elements, expected at most the 4"),
    FAILS("slice_like", "", "4 2x2", MXC_ESHAPE, "argument 'shape_like' has 2 axes, expected at most the 1 of data"),
    FAILS("slice_like", "axes=(2,)", "4x6 2x3", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("slice_like", "axes=(1,)", "4x6 2", MXC_ESHAPE, "axis 1 is not in [-1, 1)"),
    INFERS("slice_like", "axes=(1,)", "4x?,?x3 -> ? => 4x?,?x3 -> 4x3"),
    INFERS("slice_like", "", "4x6,2x? -> ? => 4x6,2x? -> 2x?"),
};

MXC_CASES(tensor_slice_cases, cases);

/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of broadcast_axis, broadcast_to, _broadcast and broadcast_like. */
#include "operator/cases.h"

static void ref_broadcast(const op_run *r) {
    int64_t index[MXC_MAX_NDIM];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        case_indices(&r->out_shape[0], i, index);
        for (int axis = 0; axis < r->out_shape[0].ndim; axis++)
            index[axis] = r->in_shape[0].dim[axis] == 1 ? 0 : index[axis];
        r->out[0][i] = r->in[0][case_element(&r->in_shape[0], index)];
    }
}

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
};

MXC_CASES(reduce_broadcast_cases, cases);

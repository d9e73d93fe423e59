/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of gather_nd, scatter_nd and _scatter_set_nd. */
#include "operator/index/index_reference.h"

/* Where slice i of those that the columns of the last argument name begins in an array of this shape. */
static int64_t named_slice(const op_run *r, const mxc_shape *array, int64_t i) {
    const mxc_shape *indices = &r->in_shape[r->n_in - 1];
    int64_t m = indices->dim[0], n = case_size_from(indices, 1), place = 0;
    for (int axis = 0; axis < m; axis++) {
        int64_t index = (int64_t)r->in[r->n_in - 1][axis * n + i];
        place = place * array->dim[axis] + (index < 0 ? index + array->dim[axis] : index);
    }
    return place * case_size_from(array, (int)m);
}

static void ref_gather_nd(const op_run *r) {
    int64_t length = case_size_from(&r->in_shape[0], (int)r->in_shape[1].dim[0]);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->in[0][named_slice(r, &r->in_shape[0], i / length) + i % length];
}

/* Slices that are named twice add up. */
static void ref_scatter_nd(const op_run *r) {
    int64_t length = case_size_from(&r->out_shape[0], (int)r->in_shape[1].dim[0]);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][named_slice(r, &r->out_shape[0], i / length) + i % length] += r->in[0][i];
}

/* Slices that are named twice have the last value. */
static void ref_scatter_set_nd(const op_run *r) {
    int64_t length = case_size_from(&r->out_shape[0], (int)r->in_shape[2].dim[0]);
    case_copy(r);
    for (int64_t i = 0; i < case_size(&r->in_shape[1]); i++)
        r->out[0][named_slice(r, &r->out_shape[0], i / length) + i % length] = r->in[1][i];
}

static const op_case cases[] = {
    INDEXED("gather_nd", "", "5 1x4@0:4i", ref_gather_nd),
    INDEXED("gather_nd", "",
            "5x3 1x4@0:4i; 5 1x1; 5x1 1x7; 5x0 1x2; 65x3 1x5; 5x2x3 1x2x3; 5x2 1x0; 7x1x2x3 1x9; "
            "129x2 1x3; 5x3@-1:1nf 1x4",
            ref_gather_nd),
    INDEXED("gather_nd", "", "5x3 2x9@0:2i", ref_gather_nd),
    INDEXED("gather_nd", "", "4x3x5 2x2x3@-3:2i", ref_gather_nd),
    INDEXED("gather_nd", "", "4x3x5 3@0:2i", ref_gather_nd),
    INDEXED("gather_nd", "", "1x1 2x1@0:0.1", ref_gather_nd),
    INDEXED("gather_nd", "", "40x30x7 2x700@-30:29i", ref_gather_nd),
    INDEXED("gather_nd", "", "3x700 1x50@0:2i", ref_gather_nd),
    INDEXED("gather_nd", "", "5x3 2x0", ref_gather_nd),
    INDEXED("gather_nd", "", "5x0 1x3@0:4i", ref_gather_nd),
    INDEXED("gather_nd", "", "2x2x2x2 4x3x2@0:1i", ref_gather_nd),
    FAILS("gather_nd", "", "5x3 3x4", MXC_ESHAPE,
          "argument 'indices': has 3 positions in axis 0, expected at most the 2"),
    FAILS("gather_nd", "", "5x0 2x3", MXC_ESHAPE, "axis 1, which is indexed, has no elements"),
    FAILS("gather_nd", "", "5x3 s", MXC_ESHAPE, "argument 'indices' has no axes"),
    FAILS("gather_nd", "", "2x2x2x2x2x2x2x2 1x1x1", MXC_ESHAPE, "would have 9 axes"),
    INFERS("gather_nd", "", "?x3x?,1x4 -> ?x?x6 => ?x3x6,1x4 -> 4x3x6"),
    INFERS("gather_nd", "", "5x3x?,2x? -> 4x6 => 5x3x6,2x4 -> 4x6"),

    INDEXED("scatter_nd", "shape=(5,)", "4 1x4@0:4i", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(5,3)",
            "4x3 1x4@0:4i; 1x3 1x1; 7x3 1x7; 0x3 1x0; 2x3x3 1x2x3; 65x3 1x65; "
            "1x1x3 1x1x1; "
            "3 1; 17x3 1x17; 2x1x2x3 1x2x1x2; 33x3 1x33; 4x3@-1:1nf 1x4",
            ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(5,3)", "9 2x9@0:2i", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(4,3,5)", "2x3x5 2x2x3@-3:2i", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(4,3,5)", "s 3@0:2i", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(1,1)", "1 2x1@0:0.1", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(40,30,7)", "700x7 2x700@-30:29i", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(3,700)", "50x700 1x50@0:2i", ref_scatter_nd),
    INDEXED("scatter_nd", "shape=(5,3)", "0 2x0", ref_scatter_nd),
    FAILS("scatter_nd", "shape=(5,3)", "4x2 1x4", MXC_ESHAPE, "argument 'data': expected shape (4,3), found (4,2)"),
    FAILS("scatter_nd", "shape=(5,)", "4 2x4", MXC_ESHAPE, "argument 'indices': has 2 positions in axis 0"),
    FAILS("scatter_nd", "", "4 1x4", MXC_EINVAL, "\"shape\" is missing"),
    FAILS("scatter_nd", "shape=(1,1,1,1,1,1,1,1,1)", "4 1x4", MXC_ESHAPE, "9 axes"),
    INFERS("scatter_nd", "shape=(5,3)", "4x?,1x? -> ? => 4x3,1x4 -> 5x3"),

    RUN("_scatter_set_nd", "shape=(5,3)",
        "5x3 4x3 1x4@0:4i; 5x3 1x3 1x1; 5x3 7x3 1x7; 5x3 0x3 1x0; 5x3 2x3x3 1x2x3; 5x3 65x3 1x65; 5x3 1x1x3 1x1x1; 5x3 "
        "3 1; "
        "5x3 17x3 1x17; 5x3 33x3 1x33; 5x3@-1:1nf 4x3 1x4",
        ref_scatter_set_nd),
    RUN("_scatter_set_nd", "shape=(5,3)", "5x3 9 2x9@0:2i; 5x3 2x2 2x2x2; 5x3 s 2; 5x3 0 2x0; 5x3 40 2x40",
        ref_scatter_set_nd),
    RUN("_scatter_set_nd", "shape=(4,3,5)", "4x3x5 2x3x5 2x2x3@-3:2i; 4x3x5 s 3", ref_scatter_set_nd),
    RUN("_scatter_set_nd", "shape=(7,)", "7 4 1x4@0:6i; 7 s 1", ref_scatter_set_nd),
    RUN("_scatter_set_nd", "shape=(40,30,7)", "40x30x7 700x7 2x700@-30:29i", ref_scatter_set_nd),
    RUN("_scatter_set_nd", "shape=(3,700)", "3x700 50x700 1x50@0:2i", ref_scatter_set_nd),
    FAILS("_scatter_set_nd", "shape=(5,3)", "5x2 4x3 1x4", MXC_ESHAPE, "shape (5,2)"),
    FAILS("_scatter_set_nd", "shape=(5,3)", "5x3 4x2 1x4", MXC_ESHAPE, "argument 'rhs': expected shape (4,3)"),
    FAILS("_scatter_set_nd", "", "5x3 4x3 1x4", MXC_EINVAL, "\"shape\" is missing"),
    INFERS("_scatter_set_nd", "shape=(5,3)", "?,4x?,1x? -> ? => 5x3,4x3,1x4 -> 5x3"),
};

MXC_CASES(index_gather_nd_cases, cases);

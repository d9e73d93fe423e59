/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of pick and batch_take. */
#include "operator/index/index_reference.h"

static int64_t source_of_pick(const op_run *r, int64_t i) {
    const mxc_shape *a = &r->in_shape[0];
    int axis = case_axis(r, -1);
    int64_t inner = case_size_from(a, axis + 1), size = a->dim[axis];
    return (i / inner * size + case_index_position(r, r->in[1][i], size)) * inner + i % inner;
}

static void ref_pick(const op_run *r) {
    case_select(r, source_of_pick);
}

/* index with the axis */
#define PICK_KEPT(given, shapes) \
    { .op = "pick", .params = given, .in = shapes, .constant = 2, .reference = ref_pick, .flags = CASE_ONE_OF_FORMS }

static const op_case cases[] = {
    INDEXED("pick", "", "5 1@0:4", ref_pick),
    INDEXED("pick", "", "5x4 5@0:3i", ref_pick),
    PICK_KEPT("axis=1", "5x4 5x1@0:3i"),
    INDEXED("pick", "axis=0", "5x4 4@0:4i", ref_pick),
    INDEXED("pick", "axis=1 keepdims=true", "3x5x4 3x4@0:4i", ref_pick),
    PICK_KEPT("axis=-2", "3x5x4 3x1x4@0:4i"),
    INDEXED("pick", "",
            "6x4 6@-3:7i; 7x1 7; 1x7 1; 65x3 65; 2x3x4 2x3; 3x1x2x5 3x1x2; 3x129 3; 17x2 17; 5x9@-1:1nf 5; "
            "0x3 0",
            ref_pick),
    INDEXED("pick", "mode=wrap", "6x4 6@-9:9i", ref_pick),
    PICK_KEPT("axis=0 keepdims=true", "1x1 1x1@0:1"),
    INDEXED("pick", "axis=1", "60x3x50 60x50@0:2i", ref_pick),
    INDEXED("pick", "", "0x4 0", ref_pick),
    INDEXED("choose_element_0index", "", "7x9 7@0:8i", ref_pick),
    FAILS("pick", "axis=2", "5x3 5", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("pick", "", "5x3 4", MXC_ESHAPE, "argument 'index': expected shape (5,), found (4,)"),
    FAILS("pick", "", "5x0 5", MXC_ESHAPE, "argument 'data': axis 1 has no elements"),
    INFERS("pick", "axis=1", "2x3x?,? -> ?x5 => 2x3x5,2x5 -> 2x5"),
    INFERS("pick", "axis=1 keepdims=true", "?x3x?,2x5 -> ? => 2x3x5,2x5 -> 2x1x5"),

    INDEXED("batch_take", "",
            "5x4 5@0:3i; 7x1 7@0:0; 1x7 1; 65x3 65@0:2i; 129x2 129@0:1i; 3x129 3; 17x2 17@0:1i; "
            "33x5 33; 2x2 2@0:1i; 64x4 64; 5x9@-1:1nf 5; 0x3 0; 1x2 1@0:1i; 9x6 9@0:5i",
            ref_pick),
    INDEXED("batch_take", "", "1x1 1@0:0", ref_pick),
    INDEXED("batch_take", "", "1x9 1@4:5i", ref_pick),
    INDEXED("batch_take", "", "7x3 7@0:2i", ref_pick),
    INDEXED("batch_take", "", "3x700 3@0:699i", ref_pick),
    INDEXED("batch_take", "", "2000x3 2000@0:2i", ref_pick),
    INDEXED("batch_take", "", "0x4 0", ref_pick),
    FAILS("batch_take", "", "5 5", MXC_ESHAPE, "argument 'a': expected shape"),
    FAILS("batch_take", "", "5x4 4", MXC_ESHAPE, "argument 'indices': expected shape (5,), found (4,)"),
    INFERS("batch_take", "", "?x3,? -> 5 => 5x3,5 -> 5"),
};

MXC_CASES(index_pick_cases, cases);

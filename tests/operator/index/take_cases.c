/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of take. */
#include "operator/index/index_reference.h"

/* The element of in[0] that out's element i is. */
static int64_t source_of_take(const op_run *r, int64_t i) {
    const mxc_shape *a = &r->in_shape[0];
    int axis = case_axis(r, 0);
    int64_t inner = case_size_from(a, axis + 1), n = case_size(&r->in_shape[1]), size = a->dim[axis];
    return (i / inner / n * size + case_index_position(r, r->in[1][i / inner % n], size)) * inner + i % inner;
}

static void ref_take(const op_run *r) {
    case_select(r, source_of_take);
}

static const op_case cases[] = {
    INDEXED("take", "", "5 4@0:4i", ref_take),
    INDEXED("take", "", "5x3 2x3@0:4i; 5 7; 1x3 1; 5x1 7; 5x0 3; 5x2x3 2x1x2; 65x2 s; 5 0; 5x3@-1:1nf 4", ref_take),
    INDEXED("take", "", "5x3 s@3:3.5", ref_take),
    INDEXED("take", "", "4x7 9@-3:8i", ref_take), /* cut to the rows that there are */
    INDEXED("take", "mode=wrap", "4x7 12@-9:9i", ref_take),
    INDEXED("take", "mode=raise", "4x3 6@0:3i", ref_take),
    INDEXED("take", "axis=1", "3x5x2 4@0:4i", ref_take),
    INDEXED("take", "axis=-1", "3x5 2x2@0:4i", ref_take),
    INDEXED("take", "axis=1 mode=wrap", "2x3x2x2 7@-4:5i", ref_take),
    INDEXED("take", "axis=1", "1x1x1 1@0:0.5", ref_take),
    INDEXED("take", "", "30x130 3x50@0:29i", ref_take),
    INDEXED("take", "axis=1", "40x3x6 70@0:2i", ref_take),
    INDEXED("take", "", "3x600@-0.5:0.5 70@0:2i", ref_take),
    INDEXED("take", "", "5x3 0x2", ref_take),
    INDEXED("take", "axis=1", "0x3 4@0:2i", ref_take),
    FAILS("take", "axis=2", "5x3 4", MXC_ESHAPE, "axis 2 is not in [-2, 2)"),
    FAILS("take", "mode=none", "5x3 4", MXC_EINVAL, "mode"),
    FAILS("take", "", "0x3 2", MXC_ESHAPE, "argument 'a': axis 0 has no elements"),
    FAILS("take", "", "5x2x2x2x2x2x2x2 2x2", MXC_ESHAPE, "out would have 9 axes"),
    INFERS("take", "axis=1", "2x3x?,4x? -> ?x?x5x6 => 2x3x6,4x5 -> 2x4x5x6"),
};

MXC_CASES(index_take_cases, cases);

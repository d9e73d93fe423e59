/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of depth_to_space and space_to_depth. */
#include "operator/cases.h"

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

MXC_CASES(tensor_depth_to_space_cases, cases);

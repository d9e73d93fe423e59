/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of GridGenerator. */
#include <math.h>

#include "operator/vision/vision_reference.h"

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 4 }

static void ref_affine(const op_run *r) {
    const int64_t *out = r->out_shape[0].dim;
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        int64_t places = out[2] * out[3];
        r->out[0][o] =
            case_affine_coordinate(r->in[0] + o / places / 2 * 6, (int)(o / places % 2), o % places, out[2], out[3]);
    }
}

static void ref_warp(const op_run *r) {
    const int64_t *out = r->out_shape[0].dim;
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        int64_t places = out[2] * out[3], k = o / places % 2, n = out[3 - k];
        r->out[0][o] =
            case_grid_coordinate((int)k, o % places, out[2], out[3]) + r->in[0][o] * 2 / fmax(1, (double)(n - 1));
    }
}

#define AFFINE(shape, shapes) ROUGH("GridGenerator", "transform_type=affine target_shape=" shape, shapes, ref_affine)
#define WARP(shapes) ROUGH("GridGenerator", "transform_type=warp", shapes, ref_warp)

static const op_case cases[] = {
    AFFINE("(3,4)", "2x6; 1x6; 7x6; 65x6; 3x6@-9:9; 17x6; 2x6@-1:1n"),
    AFFINE("(1,1)", "1x6"),
    AFFINE("(1,5)", "3x6@-3:3"),
    AFFINE("(17,1)", "1x6"),
    AFFINE("(40,50)", "2x6"),
    AFFINE("(3,4)", "0x6"),
    FAILS("GridGenerator", "transform_type=affine", "1x6", MXC_EINVAL, "GridGenerator: expected a target_shape"),
    FAILS("GridGenerator", "transform_type=affine target_shape=(2,2,2)", "1x6", MXC_EINVAL, "target_shape"),
    FAILS("GridGenerator", "transform_type=affine target_shape=(2,2)", "1x7", MXC_ESHAPE, "argument 'data'"),
    INFERS("GridGenerator", "transform_type=affine target_shape=(2,3)", "? -> 4x?x?x? => 4x6 -> 4x2x2x3"),
    WARP("2x2x3x4; 1x2x7x1; 7x2x1x1; 1x2x2x2; 3x2x5x1; 1x2x65x2; 2x2x3x4@-1:1n"),
    WARP("1x2x1x1"),
    WARP("1x2x1x9@-3:3"),
    WARP("2x2x31x41@-5:5"),
    WARP("0x2x3x3"),
    FAILS("GridGenerator", "transform_type=warp", "1x3x2x2", MXC_ESHAPE, "argument 'data'"),
    INFERS("GridGenerator", "transform_type=warp", "1x?x3x4 -> ? => 1x2x3x4 -> 1x2x3x4"),
};

MXC_CASES(vision_grid_generator_cases, cases);

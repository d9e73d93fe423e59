/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Crop. */
#include "operator/cases.h"

static void ref_crop(const op_run *r) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim;
    mxc_tuple offset = case_tuple(r, "offset");
    int center = case_is(r, "center_crop", "True");
    int64_t y = center ? (in[2] - out[2]) / 2 : offset.n ? offset.value[0] : 0;
    int64_t x = center ? (in[3] - out[3]) / 2 : offset.n ? offset.value[1] : 0;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        int64_t plane = i / (out[2] * out[3]), row = i / out[3] % out[2] + y, column = i % out[3] + x;
        r->out[0][i] = r->in[0][(plane * in[2] + row) * in[3] + column];
    }
}

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 4 }

static const op_case cases[] = {
    ROUGH("Crop", "num_args=1 h_w=(2,3)",
          "2x3x4x5; 1x1x2x3; 7x1x2x4; 1x7x3x3; 1x1x2x65; 1x2x33x3; 2x0x4x5; 3x3x5x7; "
          "1x1x9x9; 17x1x2x3; 1x65x3x4; 2x2x2x3@-1:1nf",
          ref_crop),
    ROUGH("Crop", "num_args=1 h_w=(2,3) offset=(1,2)", "2x3x4x5", ref_crop),
    ROUGH("Crop", "num_args=1 h_w=(3,2) center_crop=True", "1x2x6x7", ref_crop),
    ROUGH("Crop", "num_args=1 h_w=(4,5)", "2x1x4x5", ref_crop),
    ROUGH("Crop", "num_args=1 h_w=(1,1) offset=(3,4)", "1x1x4x5", ref_crop),
    ROUGH("Crop", "num_args=2", "2x3x4x5 2x1x2x3", ref_crop),
    ROUGH("Crop", "num_args=2 center_crop=True", "2x3x9x8 1x1x4x4", ref_crop),
    ROUGH("Crop", "num_args=2 offset=(1,1)", "2x3x40x50 1x7x33x47", ref_crop),
    ROUGH("Crop", "num_args=1 h_w=(2,3)", "0x3x4x5", ref_crop),
    FAILS("Crop", "num_args=1 h_w=(5,3)", "2x3x4x5", MXC_ESHAPE, "axis 2 of data has 4 elements"),
    FAILS("Crop", "num_args=1 h_w=(2,3) offset=(0,3)", "2x3x4x5", MXC_ESHAPE, "axis 3 of data has 5 elements"),
    FAILS("Crop", "num_args=1", "2x3x4x5", MXC_EINVAL, "h_w is (0,0)"),
    FAILS("Crop", "num_args=1 h_w=(2)", "2x3x4x5", MXC_EINVAL, "expected 2 each"),
    FAILS("Crop", "num_args=3 h_w=(2,2)", "2x3x4x5", MXC_EINVAL, "num_args"),
    FAILS("Crop", "h_w=(2,2)", "2x3x4x5", MXC_EINVAL, "\"num_args\" is missing"),
    FAILS("Crop", "num_args=1 h_w=(2,2)", "3x4x5", MXC_ESHAPE, "argument 'data'"),
    INFERS("Crop", "num_args=2", "?x3x8x9,?x?x4x5 -> 2x?x?x? => 2x3x8x9,?x?x4x5 -> 2x3x4x5"),
};

MXC_CASES(vision_crop_cases, cases);

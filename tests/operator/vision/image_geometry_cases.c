/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _image_crop and of mirrored images. Where a coin decides, images are their own mirror image. */
#include "operator/cases.h"

static void ref_crop(const op_run *r) {
    const int first = r->in_shape[0].ndim - 3;
    const int64_t *in = r->in_shape[0].dim + first, *out = r->out_shape[0].dim + first;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        const int64_t c = i % in[2], x = i / in[2] % out[1] + (int64_t)case_number(r, "x", 0);
        const int64_t y = i / in[2] / out[1] % out[0] + (int64_t)case_number(r, "y", 0);
        r->out[0][i] = r->in[0][((i / in[2] / out[1] / out[0] * in[0] + y) * in[1] + x) * in[2] + c];
    }
}

static void flip(const op_run *r, int rows, int columns) {
    const int64_t *in = r->in_shape[0].dim;
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        const int64_t c = i % in[2], x = i / in[2] % in[1], y = i / in[2] / in[1];
        r->out[0][i] = r->in[0][((rows ? in[0] - 1 - y : y) * in[1] + (columns ? in[1] - 1 - x : x)) * in[2] + c];
    }
}

static void ref_left_right(const op_run *r) {
    flip(r, 0, 1);
}
static void ref_top_bottom(const op_run *r) {
    flip(r, 1, 0);
}

/* All pixels alike. */
static void make_even(const op_run *r) {
    const int64_t channels = case_last_dim(&r->in_shape[0]);
    for (int64_t i = channels; i < case_size(&r->in_shape[0]); i++)
        r->in[0][i] = r->in[0][i - channels];
}

/* out_grad as it is, whatever was drawn. */
static void grad_same(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->in_grad[0][i] = r->out_grad[0][i];
}

#define IMAGES                                                                                                       \
    "3x5x3@0:100i; 1x1x1; 7x4x1; 0x3x3; 3x0x3; 3x3x0; 2x1x4; 1x9x3; 9x1x3; 17x33x3; 40x30x3; 5x6x2; 2x2x3; 65x3x1; " \
    "3x65x1; 1x2x3; 2x1x3; 8x8x4; 4x5x6; 31x2x3; 6x6x1"
static const op_case cases[] = {
    RUN("_image_crop", "x=1 y=0 width=1 height=2; x=0 y=1 width=2 height=1; x=0 y=0 width=2 height=2",
        "2x2x3; 3x5x1; 4x2x2; 2x2x0; 2x3x3x3; 0x2x2x3; 1x9x9x1; 2x40x30x3", ref_crop),
    RUN("_image_crop", "x=3 y=2 width=20 height=30", "33x23x3; 2x32x40x1", ref_crop),
    INFERS("_image_crop", "x=1 y=2 width=3 height=4", "9x9x? -> ?x?x3 => 9x9x3 -> 4x3x3"),
    INFERS("_image_crop", "x=1 y=2 width=3 height=4", "? -> 2x?x?x3 => 2x?x?x3 -> 2x4x3x3"),
    FAILS("_image_crop", "x=1 y=0 width=2 height=2", "2x2x3", MXC_ESHAPE, "x is 1 and width 2, but data has 2 columns"),
    FAILS("_image_crop", "x=0 y=1 width=2 height=2", "2x2x3", MXC_ESHAPE, "y is 1 and height 2, but data has 2 rows"),
    FAILS("_image_crop", "x=-1 y=0 width=1 height=1", "2x2x3", MXC_EINVAL, "x"),
    FAILS("_image_crop", "x=0 y=0 width=0 height=1", "2x2x3", MXC_EINVAL, "width"),
    FAILS("_image_crop", "x=0 y=0 width=1 height=1", "2x2", MXC_ESHAPE, "data has 2 axes"),
    RUN("_image_flip_left_right", "", IMAGES, ref_left_right),
    RUN("_image_flip_top_bottom", "", IMAGES, ref_top_bottom),
    {.op = "_image_random_flip_left_right",
     .in = IMAGES,
     .reference = case_copy,
     .gradient = grad_same,
     .prepare = make_even},
    {.op = "_image_random_flip_left_right", .in = "3x5x3@0:100i", .flags = CASE_RANDOM, .gradient = grad_same},
    {.op = "_image_random_flip_top_bottom",
     .in = IMAGES,
     .reference = case_copy,
     .gradient = grad_same,
     .prepare = make_even},
    {.op = "_image_random_flip_top_bottom", .in = "3x5x3@0:100i", .flags = CASE_RANDOM, .gradient = grad_same},
    INFERS("_image_flip_left_right", "", "? -> 2x3x4 => 2x3x4 -> 2x3x4"),
    INFERS("_image_flip_top_bottom", "", "2x3x4 -> ? => 2x3x4 -> 2x3x4"),
    INFERS("_image_random_flip_left_right", "", "? -> ? => ?x?x? -> ?x?x?"),
    FAILS("_image_flip_left_right", "", "2x2x3x3", MXC_ESHAPE, "argument 'data'"),
    FAILS("_image_random_flip_top_bottom", "", "2x2", MXC_ESHAPE, "argument 'data'"),
};

MXC_CASES(vision_image_geometry_cases, cases);

/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _image_to_tensor and _image_normalize. */
#include <math.h>

#include "operator/cases.h"

static void ref_to_tensor(const op_run *r) {
    const int64_t *dim = r->in_shape[0].dim + r->in_shape[0].ndim - 3, pixels = dim[0] * dim[1], channels = dim[2];
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        const int64_t c = i % channels, pixel = i / channels % pixels, image = i / channels / pixels;
        r->out[0][(image * channels + c) * pixels + pixel] = r->in[0][i] / 255;
    }
}

static void ref_normalize(const op_run *r) {
    const int64_t *dim = r->in_shape[0].dim + r->in_shape[0].ndim - 3;
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++) {
        const int c = (int)(i / dim[1] / dim[2] % dim[0]);
        const double mean = case_entry(r, "mean", 1, NAN), std = case_entry(r, "std", 1, NAN);
        r->out[0][i] = r->in[0][i] - case_entry(r, "mean", isnan(mean) ? 0 : c, 0);
        r->out[0][i] /= case_entry(r, "std", isnan(std) ? 0 : c, 1);
    }
}

#define SHAPES "3x5x3@0:255i; 1x1x1; 2x7x4; 0x3x3; 3x0x3; 3x3x0; 2x3x5x3; 1x1x1x1; 0x3x4x3; 2x2x600x3; 3x700x1; 4x9x2"
static const op_case cases[] = {
    RUN("_image_to_tensor", "", SHAPES, ref_to_tensor),
    RUN("_image_to_tensor", "", "4x7x3@-1:1; 1x40x60x3; 1x7x3; 7x1x3; 5x5x1; 2x2x4; 3x3x3x1; 9x9x3; 1x2x3x4; 65x2x1",
        ref_to_tensor),
    INFERS("_image_to_tensor", "", "4x5x? -> 3x?x? => 4x5x3 -> 3x4x5"),
    INFERS("_image_to_tensor", "", "? -> 2x3x4x5 => 2x4x5x3 -> 2x3x4x5"),
    FAILS("_image_to_tensor", "", "4x5", MXC_ESHAPE, "data has 2 axes"),
    RUN("_image_normalize", "mean=(0.1,0.2,0.3) std=(0.5,0.6,0.7); mean=(0.5) std=(2)",
        "3x4x5; 1x1x1; 2x3x4; 3x0x5; 2x3x4x5; 0x3x2x2; 1x3x1x7; 3x40x30; 2x2x1x1; 3x1x1; 3x17x1; 1x1x65",
        ref_normalize),
    RUN("_image_normalize", "mean=(0.5); std=(0.5,2,4)", "3x4x5; 2x3x7x2", ref_normalize),
    INFERS("_image_normalize", "", "3x4x5 -> ? => 3x4x5 -> 3x4x5"),
    INFERS("_image_normalize", "", "? -> 3x4x5 => 3x4x5 -> 3x4x5"),
    FAILS("_image_normalize", "mean=(1,2)", "3x4x5", MXC_ESHAPE, "mean has 2 numbers"),
    FAILS("_image_normalize", "", "3x4", MXC_ESHAPE, "data has 2 axes"),
};

MXC_CASES(vision_image_tensor_cases, cases);

/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of BilinearSampler and SpatialTransformer. */
#include <math.h>

#include "operator/vision/vision_reference.h"

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 4 }

/* Each element counts by its distance to (x, y), up to 1 along both axes. */
static double read_at(const double *image, int64_t height, int64_t width, double x, double y) {
    double sum = 0;
    x = (x + 1) * (double)(width - 1) / 2;
    y = (y + 1) * (double)(height - 1) / 2;
    for (int64_t i = 0; i < height; i++)
        for (int64_t j = 0; j < width; j++)
            sum += image[i * width + j] * fmax(0, 1 - fabs(x - (double)j)) * fmax(0, 1 - fabs(y - (double)i));
    return sum;
}

static void sample(const op_run *r, int is_affine) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim, places = out[2] * out[3];
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        int64_t plane = o / places, n = plane / in[1], i = o % places;
        double at[2];
        for (int k = 0; k < 2; k++)
            at[k] = is_affine ? case_affine_coordinate(r->in[1] + n * 6, k, i, out[2], out[3])
                              : r->in[1][(n * 2 + k) * places + i];
        r->out[0][o] = read_at(r->in[0] + plane * in[2] * in[3], in[2], in[3], at[0], at[1]);
    }
}

static void ref_sampler(const op_run *r) {
    sample(r, 0);
}

static void ref_transformer(const op_run *r) {
    sample(r, 1);
}

#define SAMPLER(shapes) ROUGH("BilinearSampler", "", shapes, ref_sampler)
#define TRANSFORMER(shape, shapes)                                                                         \
    ROUGH("SpatialTransformer", "transform_type=affine sampler_type=bilinear target_shape=" shape, shapes, \
          ref_transformer)

static const op_case cases[] = {
    SAMPLER("2x3x4x5 2x2x3x4"),
    SAMPLER("2x3x4x5 2x2x6x7@-1.6:1.6"),
    SAMPLER("1x1x2x2 1x2x1x9@-0.9:0.9173; 7x1x3x3 7x2x2x2; 1x7x2x3 1x2x1x1; 1x1x1x5 1x2x3x1; 1x1x5x1 1x2x2x2; "
            "3x2x2x2 3x2x0x2; 1x1x17x3 1x2x3x3; 1x3x3x3 1x2x9x2; 2x1x4x4 2x2x1x7; 1x65x2x2 1x2x1x2"),
    SAMPLER("1x1x1x1 1x2x2x2@-0.5:0.5"),
    SAMPLER("1x2x1x6 1x2x3x3@-1.3:1.3"),
    SAMPLER("1x2x5x5 1x2x1x1@0.1:0.7"),
    SAMPLER("1x2x3x3 1x2x2x2@3:9"),
    SAMPLER("1x5x9x7 1x2x13x11@-1.2:1.2"),
    SAMPLER("0x2x3x3 0x2x2x2"),
    SAMPLER("1x0x3x3 1x2x2x2"),
    SAMPLER("1x2x0x3 1x2x2x2"),
    SAMPLER("1x2x3x3 1x2x0x2"),
    ROUGH("BilinearSampler", "cudnn_off=None; cudnn_off=True", "1x2x3x3 1x2x2x2", ref_sampler),
    FAILS("BilinearSampler", "", "1x2x3x3 1x3x2x2", MXC_ESHAPE, "argument 'grid'"),
    FAILS("BilinearSampler", "", "1x2x3x3 2x2x2x2", MXC_ESHAPE, "BilinearSampler: argument"),
    FAILS("BilinearSampler", "", "2x3x3 2x2x2x2", MXC_ESHAPE, "argument 'data'"),
    INFERS("BilinearSampler", "", "?x3x7x7,? -> 2x?x4x5 => 2x3x7x7,2x2x4x5 -> 2x3x4x5"),
    TRANSFORMER("(3,4)", "2x3x4x5 2x6@-1:0.937; 1x1x2x2 1x6; 7x1x3x3 7x6; 1x7x2x3 1x6; 1x1x1x5 1x6; 1x1x5x1 1x6; "
                         "3x2x2x2 3x6; 1x1x17x3 1x6; 1x3x3x3 1x6; 2x1x4x4 2x6; 1x1x1x1 1x6; 2x2x9x2 2x6; "
                         "1x1x3x65 1x6; 0x1x2x2 0x6"),
    TRANSFORMER("(6,5)", "2x3x4x5 2x6@-0.7:0.6613"),
    TRANSFORMER("(1,1)", "1x1x3x3 1x6@-1:0.937"),
    TRANSFORMER("(7,1)", "1x2x4x6 1x6@-0.6:0.5717"),
    TRANSFORMER("(10,6)", "2x2x7x8 2x6@-0.9:0.8619"),
    TRANSFORMER("(3,3)", "1x1x1x4 1x6@-0.6:0.5717"),
    TRANSFORMER("(3,4)", "0x3x4x5 0x6"),
    TRANSFORMER("(3,4)", "1x3x0x5 1x6@-1:0.937"),
    FAILS("SpatialTransformer", "transform_type=affine sampler_type=bilinear", "1x1x3x3 1x6", MXC_EINVAL,
          "expected a target_shape of two sizes above 0"),
    FAILS("SpatialTransformer", "transform_type=affine sampler_type=bilinear target_shape=(2,2)", "1x1x3x3 1x5",
          MXC_ESHAPE, "argument 'loc'"),
    FAILS("SpatialTransformer", "transform_type=warp sampler_type=bilinear target_shape=(2,2)", "1x1x3x3 1x6",
          MXC_EINVAL, "transform_type"),
    INFERS("SpatialTransformer", "transform_type=affine sampler_type=bilinear target_shape=(2,3)",
           "?x3x7x7,4x? -> ? => 4x3x7x7,4x6 -> 4x3x2x3"),
};

MXC_CASES(vision_bilinear_sampler_cases, cases);

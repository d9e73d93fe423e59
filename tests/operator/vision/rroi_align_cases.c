/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_RROIAlign. */
#include <math.h>

#include "operator/cases.h"

/* A plane read at (y, x), which is moved into it if it is not too far out. */
static double read_near(const double *plane, const int64_t *in, double y, double x) {
    double sum = 0;
    if (y < -1 || x < -1 || y > (double)in[2] || x > (double)in[3])
        return 0;
    y = fmin(fmax(y, 0), (double)(in[2] - 1));
    x = fmin(fmax(x, 0), (double)(in[3] - 1));
    for (int64_t i = 0; i < in[2] * in[3]; i++)
        sum += plane[i] * fmax(1 - fabs(y - (double)(i / in[3])), 0) * fmax(1 - fabs(x - (double)(i % in[3])), 0);
    return sum;
}

static void ref_rotated(const op_run *r) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim;
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        const double *roi = r->in[1] + o / (out[1] * out[2] * out[3]) * 6, scale = case_number(r, "spatial_scale", 1);
        const double w = fmax(roi[3] * scale, 1), h = fmax(roi[4] * scale, 1),
                     turn = roi[5] / 180 * 3.14159265358979323846;
        const int64_t bin = o % (out[2] * out[3]), channel = o / (out[2] * out[3]) % out[1];
        const int64_t given = (int64_t)case_number(r, "sampling_ratio", -1);
        const int64_t rows = given > 0 ? given : (int64_t)ceil(h / (double)out[2]);
        const int64_t columns = given > 0 ? given : (int64_t)ceil(w / (double)out[3]);
        double sum = 0;
        for (int64_t i = 0; i < rows && roi[0] >= 0 && roi[0] < (double)in[0]; i++)
            for (int64_t j = 0; j < columns; j++) {
                const double v =
                    (((double)i + 0.5) / (double)rows + (double)(bin / out[3])) * h / (double)out[2] - h / 2;
                const double u =
                    (((double)j + 0.5) / (double)columns + (double)(bin % out[3])) * w / (double)out[3] - w / 2;
                sum += read_near(r->in[0] + ((int64_t)roi[0] * in[1] + channel) * in[2] * in[3], in,
                                 roi[2] * scale + v * cos(turn) - u * sin(turn),
                                 roi[1] * scale + u * cos(turn) + v * sin(turn));
            }
        r->out[0][o] = sum / (double)(rows * columns);
    }
}

#define ROTATED(given, shapes)                                                                              \
    {                                                                                                       \
        .op = "_contrib_RROIAlign", .params = given, .in = shapes, .reference = ref_rotated, .constant = 2, \
        .tolerance = 8                                                                                      \
    }

static const op_case cases[] = {
    ROTATED("pooled_size=(2,2) spatial_scale=1",
            "4x3x5x6 6x6@0.1:3.13; 2x1x3x3 7x6; 1x7x2x2 1x6; 1x1x1x7 3x6; 1x1x7x1 3x6; 2x1x2x2 65x6; 2x33x2x2 1x6; "
            "2x2x17x3 3x6; 2x2x3x3 0x6; 0x2x3x3 2x6; 2x2x0x3 3x6"),
    ROTATED("pooled_size=(3,2) spatial_scale=0.5; pooled_size=(2,3) spatial_scale=0.7 sampling_ratio=2",
            "4x2x7x9 9x6@0.05:9.07; 1x1x4x4 5x6; 3x3x6x5 2x6"),
    ROTATED("pooled_size=(2,2) spatial_scale=0.9", "1x2x8x8 20x6@-0.9:80.03; 1x1x30x40 6x6@-90.7:180.3"),
    ROTATED("pooled_size=(1,1) spatial_scale=1 sampling_ratio=1", "1x1x5x5 12x6@-0.9:7.03; 2x2x3x4 9x6"),
    FAILS("_contrib_RROIAlign", "pooled_size=(2,2)", "1x1x3x3 1x6", MXC_EINVAL, "spatial_scale"),
    FAILS("RROIAlign", "pooled_size=(2,) spatial_scale=1", "1x1x3x3 1x6", MXC_EINVAL, "pooled_size has 1 entries"),
    FAILS("RROIAlign", "pooled_size=(2,2) spatial_scale=1", "1x1x3x3 1x5", MXC_ESHAPE, "argument 'rois'"),
    INFERS("RROIAlign", "pooled_size=(2,3) spatial_scale=1", "1x?x4x4,? -> 6x2x?x? => 1x2x4x4,6x6 -> 6x2x2x3"),
};

MXC_CASES(vision_rroi_align_cases, cases);

/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_ROIAlign. */
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

static void ref_align(const op_run *r) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim;
    int aligned = case_is(r, "aligned", "true");
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        const double *roi = r->in[1] + o / (out[1] * out[2] * out[3]) * 5;
        int64_t part = o % (out[2] * out[3]), channel = o / (out[2] * out[3]) % out[1], n[2];
        double first[2], size[2], scale = case_number(r, "spatial_scale", 1), count, sum = 0;
        for (int k = 0; k < 2; k++) {
            size[k] = (roi[4 - k] - roi[2 - k]) * scale;
            size[k] = (aligned ? size[k] : fmax(size[k], 1)) / (double)out[2 + k];
            first[k] = roi[2 - k] * scale - (aligned ? 0.5 : 0);
            first[k] += size[k] * (double)(k ? part % out[3] : part / out[3]);
            n[k] = (int64_t)case_number(r, "sample_ratio", -1);
            n[k] = n[k] > 0 ? n[k] : (int64_t)ceil(size[k]);
        }
        channel = case_is(r, "position_sensitive", "true") ? channel * out[2] * out[3] + part : channel;
        count = fmax((double)(n[0] * n[1]), 1);
        for (int64_t i = 0; i < n[0] && roi[0] >= 0 && roi[0] < (double)in[0]; i++)
            for (int64_t j = 0; j < n[1]; j++)
                sum += read_near(r->in[0] + ((int64_t)roi[0] * in[1] + channel) * in[2] * in[3], in,
                                 first[0] + ((double)i + 0.5) * size[0] / (double)n[0],
                                 first[1] + ((double)j + 0.5) * size[1] / (double)n[1]);
        r->out[0][o] = sum / count;
    }
}

#define ALIGN(given, shapes) \
    { .op = "_contrib_ROIAlign", .params = given, .in = shapes, .reference = ref_align, .constant = 2, .tolerance = 4 }

static const op_case cases[] = {
    ALIGN("pooled_size=(2,2) spatial_scale=1", "4x3x5x6 6x5@0:3i; 2x1x3x3 7x5; 1x7x2x2 1x5; 1x1x1x7 3x5; 1x1x7x1 3x5; "
                                               "2x1x2x2 65x5; 2x33x2x2 1x5; 2x2x17x3 3x5"),
    ALIGN("pooled_size=(3,2) spatial_scale=0.5", "4x2x7x9 9x5@0:9i"),
    ALIGN("pooled_size=(2,3) spatial_scale=0.7 sample_ratio=2", "4x2x7x6 6x5@0:8i"),
    ALIGN("pooled_size=(2,2) spatial_scale=1 aligned=true", "3x2x5x5 9x5@0:6i"),
    ALIGN("pooled_size=(2,2) spatial_scale=0.3 aligned=true sample_ratio=3", "3x2x5x5 9x5@0:9i"),
    ALIGN("pooled_size=(2,3) spatial_scale=1 position_sensitive=true", "3x12x5x6 5x5@0:5i"),
    ALIGN("pooled_size=(7,7) spatial_scale=0.25", "2x2x6x6 8x5@-1:20i"),
    ALIGN("pooled_size=(2,2) spatial_scale=0.5", "2x1x9x9 12x5@-9:40i"),
    ALIGN("pooled_size=(1,1) spatial_scale=1", "1x1x1x1 3x5@0:1i"),
    ALIGN("pooled_size=(1,1) spatial_scale=1", "3x2x40x30 4x5@0:39i"),
    ALIGN("pooled_size=(2,2) spatial_scale=1", "2x2x3x3 0x5"),
    ALIGN("pooled_size=(2,2) spatial_scale=1", "0x2x3x3 2x5@0:2i"),
    ALIGN("pooled_size=(2,2) spatial_scale=1", "2x2x0x3 3x5@-9:-1i"),
    FAILS("_contrib_ROIAlign", "pooled_size=(2,2)", "1x1x3x3 1x5", MXC_EINVAL, "spatial_scale"),
    FAILS("ROIAlign", "pooled_size=(2,2,2) spatial_scale=1", "1x1x3x3 1x5", MXC_EINVAL, "pooled_size has 3 entries"),
    FAILS("ROIAlign", "pooled_size=(2,2) spatial_scale=1", "1x1x3x3 1x4", MXC_ESHAPE, "argument 'rois'"),
    FAILS("ROIAlign", "pooled_size=(2,2) spatial_scale=1 position_sensitive=true", "1x6x3x3 1x5", MXC_ESHAPE,
          "axis 1 has 6 elements, expected a multiple of 4"),
    INFERS("ROIAlign", "pooled_size=(2,3) spatial_scale=1", "1x?x4x4,? -> 6x2x?x? => 1x2x4x4,6x5 -> 6x2x2x3"),
    INFERS("ROIAlign", "pooled_size=(2,3) spatial_scale=1 position_sensitive=true",
           "1x?x4x4,6x5 -> ?x2x?x? => 1x12x4x4,6x5 -> 6x2x2x3"),
};

MXC_CASES(vision_roi_align_cases, cases);

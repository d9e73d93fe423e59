/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of ROIPooling. */
#include <math.h>

#include "operator/cases.h"

/* Is element at of an axis in part i of n of the region first..last? */
static int is_inside(const op_run *r, double first, double last, int64_t i, int64_t n, int64_t at) {
    double scale = case_number(r, "spatial_scale", 1), low = round(first * scale), high = round(last * scale);
    double step = fmax(high - low + 1, 1) / (double)n;
    return (double)at + 1 > low + step * (double)i && (double)at < low + step * (double)(i + 1);
}

/* The element of data that is element o of out; -1: none. */
static int64_t pooled(const op_run *r, int64_t o) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim;
    const double *roi = r->in[1] + o / (out[1] * out[2] * out[3]) * 5;
    int64_t best = -1, c = o / (out[2] * out[3]) % out[1], size = in[2] * in[3];
    if (roi[0] < 0 || roi[0] >= (double)in[0])
        return -1;
    for (int64_t i = 0; i < size; i++) {
        int64_t at = ((int64_t)roi[0] * in[1] + c) * size + i;
        if (is_inside(r, roi[1], roi[3], o % out[3], out[3], i % in[3]) &&
            is_inside(r, roi[2], roi[4], o / out[3] % out[2], out[2], i / in[3]) &&
            (best < 0 || r->in[0][at] > r->in[0][best]))
            best = at;
    }
    return best;
}

static void ref_roi(const op_run *r) {
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        int64_t at = pooled(r, o);
        r->out[0][o] = at < 0 ? 0 : r->in[0][at];
    }
}

static void grad_roi(const op_run *r) {
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        int64_t at = pooled(r, o);
        if (at >= 0)
            r->in_grad[0][at] += r->out_grad[0][o];
    }
}

#define ROI(given, shapes)                                                                                            \
    {                                                                                                                 \
        .op = "ROIPooling", .params = given, .in = shapes, .constant = 2, .reference = ref_roi, .gradient = grad_roi, \
        .tolerance = 4                                                                                                \
    }

static const op_case cases[] = {
    ROI("pooled_size=(2,2) spatial_scale=1", "4x3x5x6 6x5@0:3i; 2x1x3x3 7x5; 1x7x2x2 1x5; 2x3x9x4 5x5; 1x1x1x7 3x5; "
                                             "1x1x7x1 3x5; 2x1x2x2 65x5; 2x65x2x2 1x5; 3x2x5x5 2x5; 2x2x17x3 3x5; "
                                             "2x1x33x2 2x5; 4x1x9x9 7x5; 5x2x4x4 1x5"),
    ROI("pooled_size=(3,2) spatial_scale=0.5", "4x2x7x9 9x5@0:7i"),
    ROI("pooled_size=(1,1) spatial_scale=1", "3x1x4x4 4x5@0:2i"),
    ROI("pooled_size=(7,7) spatial_scale=0.25", "2x2x6x6 8x5@-1:20i"),
    ROI("pooled_size=(2,3) spatial_scale=1", "2x2x3x3 12x5@-4:8i"),
    ROI("pooled_size=(2,2) spatial_scale=0", "3x2x3x3 4x5@0:2i"),
    ROI("pooled_size=(2,2) spatial_scale=1", "1x1x1x1 3x5@0:1i"),
    ROI("pooled_size=(2,2) spatial_scale=1", "2x2x3x3 0x5"),
    ROI("pooled_size=(2,2) spatial_scale=1", "0x2x3x3 2x5@0:2i"),
    ROI("pooled_size=(2,2) spatial_scale=1", "2x2x0x3 3x5@0:2i"),
    FAILS("ROIPooling", "pooled_size=(2,2)", "1x1x3x3 1x5", MXC_EINVAL, "spatial_scale"),
    FAILS("ROIPooling", "pooled_size=(2,2) spatial_scale=2", "1x1x3x3 1x5", MXC_EINVAL, "spatial_scale"),
    FAILS("ROIPooling", "pooled_size=(2,2,2) spatial_scale=1", "1x1x3x3 1x5", MXC_EINVAL, "pooled_size has 3 entries"),
    FAILS("ROIPooling", "pooled_size=(2,2) spatial_scale=1", "1x1x3x3 1x4", MXC_ESHAPE, "argument 'rois'"),
    INFERS("ROIPooling", "pooled_size=(2,3) spatial_scale=1", "1x?x4x4,? -> 6x2x?x? => 1x2x4x4,6x5 -> 6x2x2x3"),
};

MXC_CASES(vision_roi_pooling_cases, cases);

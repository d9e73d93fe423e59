/* Cases of what reads images at places or regions: GridGenerator, BilinearSampler, SpatialTransformer, ROIPooling. */
#include <math.h>
#include <stdlib.h>

#include "operator/cases.h"

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 4 }

/* ---- grids ------------------------------------------------------------------------------------------------------- */

/* Coordinate k (0: x, 1: y) of place i of an evenly spread grid. */
static double even(int k, int64_t i, int64_t height, int64_t width) {
    int64_t n = k ? height : width, at = k ? i / width : i % width;
    return n == 1 ? -1 : -1 + 2.0 * (double)at / (double)(n - 1);
}

static double affine(const double *theta, int k, int64_t i, int64_t height, int64_t width) {
    return theta[3 * k] * even(0, i, height, width) + theta[3 * k + 1] * even(1, i, height, width) + theta[3 * k + 2];
}

static void ref_affine(const op_run *r) {
    const int64_t *out = r->out_shape[0].dim;
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        int64_t places = out[2] * out[3];
        r->out[0][o] = affine(r->in[0] + o / places / 2 * 6, (int)(o / places % 2), o % places, out[2], out[3]);
    }
}

static void ref_warp(const op_run *r) {
    const int64_t *out = r->out_shape[0].dim;
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        int64_t places = out[2] * out[3], k = o / places % 2, n = out[3 - k];
        r->out[0][o] = even((int)k, o % places, out[2], out[3]) + r->in[0][o] * 2 / fmax(1, (double)(n - 1));
    }
}

/* ---- sampling ---------------------------------------------------------------------------------------------------- */

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
            at[k] = is_affine ? affine(r->in[1] + n * 6, k, i, out[2], out[3]) : r->in[1][(n * 2 + k) * places + i];
        r->out[0][o] = read_at(r->in[0] + plane * in[2] * in[3], in[2], in[3], at[0], at[1]);
    }
}

static void ref_sampler(const op_run *r) {
    sample(r, 0);
}

static void ref_transformer(const op_run *r) {
    sample(r, 1);
}

#define AFFINE(shape, shapes) ROUGH("GridGenerator", "transform_type=affine target_shape=" shape, shapes, ref_affine)
#define WARP(shapes) ROUGH("GridGenerator", "transform_type=warp", shapes, ref_warp)
#define SAMPLER(shapes) ROUGH("BilinearSampler", "", shapes, ref_sampler)
#define TRANSFORMER(shape, shapes)                                                                         \
    ROUGH("SpatialTransformer", "transform_type=affine sampler_type=bilinear target_shape=" shape, shapes, \
          ref_transformer)

/* ---- ROIPooling -------------------------------------------------------------------------------------------------- */

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

MXC_CASES(grid_cases, cases);

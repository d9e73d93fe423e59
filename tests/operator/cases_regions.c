/* Cases of what compares, resizes or reads regions of planes: Correlation, BilinearResize2D, AdaptiveAvgPooling2D,
 * ROIAlign. */
#include <math.h>
#include <stdlib.h>

#include "operator/cases.h"

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 4 }

/* ---- Correlation ------------------------------------------------------------------------------------------------- */

/* Element (y, x) of plane; 0 outside. */
static double at(const double *plane, const int64_t *in, int64_t y, int64_t x) {
    return y >= 0 && y < in[2] && x >= 0 && x < in[3] ? plane[y * in[3] + x] : 0;
}

static void ref_correlation(const op_run *r) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim, plane = in[2] * in[3];
    int64_t kernel = (int64_t)case_number(r, "kernel_size", 1), far = (int64_t)case_number(r, "max_displacement", 1);
    int64_t stride = (int64_t)case_number(r, "stride1", 1), step = (int64_t)case_number(r, "stride2", 1);
    int64_t begin = far - (int64_t)case_number(r, "pad_size", 0), across = far / step * 2 + 1;
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        int64_t y = o / out[3] % out[2] * stride + begin, x = o % out[3] * stride + begin, sample;
        int64_t move = o / out[3] / out[2] % out[1];
        int64_t dy = (move / across - far / step) * step, dx = (move % across - far / step) * step;
        double sum = 0;
        sample = o / out[3] / out[2] / out[1];
        for (int64_t i = 0; i < in[1] * kernel * kernel; i++) {
            int64_t first = (sample * in[1] + i / kernel / kernel) * plane, row = i / kernel % kernel;
            double a = at(r->in[0] + first, in, y + row, x + i % kernel);
            double b = at(r->in[1] + first, in, y + row + dy, x + i % kernel + dx);
            sum += case_is(r, "is_multiply", "false") ? fabs(a - b) : a * b;
        }
        r->out[0][o] = in[1] ? sum / (double)(in[1] * kernel * kernel) : 0;
    }
}

#define CORRELATION(given, shapes) ROUGH("Correlation", given, shapes, ref_correlation)

/* ---- BilinearResize2D -------------------------------------------------------------------------------------------- */

/* Where element i of out elements lies among in elements; a single one is at the first, as in MXNet. */
static double place(int64_t i, int64_t in, int64_t out, int aligned) {
    if (out == 1)
        return 0;
    if (aligned)
        return (double)i * (double)(in - 1) / (double)(out - 1);
    return fmin(fmax(((double)i + 0.5) * (double)in / (double)out - 0.5, 0), (double)(in - 1));
}

static void ref_resize(const op_run *r) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim;
    int aligned = !case_is(r, "align_corners", "false");
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        double y = place(o / out[3] % out[2], in[2], out[2], aligned), x = place(o % out[3], in[3], out[3], aligned);
        r->out[0][o] = 0;
        for (int64_t i = 0; i < in[2] * in[3]; i++)
            r->out[0][o] += r->in[0][o / out[2] / out[3] * in[2] * in[3] + i] *
                            fmax(1 - fabs(y - (double)(i / in[3])), 0) * fmax(1 - fabs(x - (double)(i % in[3])), 0);
    }
}

#define RESIZE(given, shapes) ROUGH("_contrib_BilinearResize2D", given, shapes, ref_resize)

/* ---- AdaptiveAvgPooling2D ---------------------------------------------------------------------------------------- */

static void ref_blocks(const op_run *r) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim;
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        int64_t i = o / out[3] % out[2], j = o % out[3], n = 0;
        double sum = 0;
        for (int64_t k = 0; k < in[2] * in[3]; k++) {
            int64_t y = k / in[3], x = k % in[3];
            if ((y + 1) * out[2] > i * in[2] && y * out[2] < (i + 1) * in[2] && (x + 1) * out[3] > j * in[3] &&
                x * out[3] < (j + 1) * in[3]) {
                sum += r->in[0][o / out[2] / out[3] * in[2] * in[3] + k];
                n++;
            }
        }
        r->out[0][o] = sum / (double)n;
    }
}

#define BLOCKS(given, shapes) ROUGH("_contrib_AdaptiveAvgPooling2D", given, shapes, ref_blocks)

/* ---- ROIAlign ---------------------------------------------------------------------------------------------------- */

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
    CORRELATION("", "2x3x5x6 2x3x5x6"),
    CORRELATION("pad_size=1", "1x2x3x4 1x2x3x4; 7x1x2x2 7x1x2x2; 1x7x1x3 1x7x1x3; 2x2x5x1 2x2x5x1; 1x1x9x9 1x1x9x9; "
                              "1x33x2x2 1x33x2x2; 1x1x1x17 1x1x1x17; 3x2x3x3 3x2x3x3; 1x2x4x3@-1:1n 1x2x4x3"),
    CORRELATION("kernel_size=3 max_displacement=2 pad_size=3", "2x2x6x7 2x2x6x7"),
    CORRELATION("kernel_size=3 max_displacement=4 stride1=2 stride2=2 pad_size=4", "1x3x8x9 1x3x8x9"),
    CORRELATION("max_displacement=3 stride2=2 pad_size=3", "1x1x5x4 1x1x5x4"),
    CORRELATION("max_displacement=0", "2x3x4x4 2x3x4x4"),
    CORRELATION("is_multiply=false", "2x3x5x6@0:1 2x3x5x6@1.5:2.5"),
    CORRELATION("is_multiply=false kernel_size=3 max_displacement=2 stride1=2 pad_size=3",
                "1x2x6x7 1x2x6x7@0.01:1.013"),
    CORRELATION("max_displacement=1 pad_size=1", "1x1x1x1 1x1x1x1"),
    CORRELATION("kernel_size=1 max_displacement=1 pad_size=1", "1x2x2x600 1x2x2x600"),
    CORRELATION("pad_size=1", "0x2x3x3 0x2x3x3"),
    CORRELATION("pad_size=1", "1x0x3x3 1x0x3x3"),
    FAILS("Correlation", "kernel_size=2", "1x1x5x5 1x1x5x5", MXC_EINVAL, "kernel_size is 2, expected an odd number"),
    FAILS("Correlation", "stride1=0", "1x1x5x5 1x1x5x5", MXC_EINVAL, "stride1"),
    FAILS("Correlation", "max_displacement=4 pad_size=1", "1x1x9x6 1x1x9x6", MXC_ESHAPE,
          "axis 3 has 8 elements with padding, expected more than 8"),
    FAILS("Correlation", "", "1x1x5x5 1x1x5x6", MXC_ESHAPE, "argument 'data2'"),
    FAILS("Correlation", "", "1x5x5 1x5x5", MXC_ESHAPE, "argument 'data1'"),
    FAILS("Correlation", "pad_size=1073741824 max_displacement=1073741824 stride2=1073741824", "1x64x5x5 1x64x5x5",
          MXC_ESHAPE, "larger than memory"),
    INFERS("Correlation", "max_displacement=2 pad_size=2", "?x3x7x?,?x3x?x9 -> 4x?x?x? => 4x3x7x9,4x3x7x9 -> 4x25x7x9"),
    RESIZE("height=7 width=9", "2x3x4x5"),
    RESIZE("height=2 width=3", "2x3x4x5"),
    RESIZE("height=4 width=5", "2x3x4x5; 1x1x1x1; 3x1x2x7; 1x65x2x2"),
    RESIZE("", "1x2x3x3"),
    RESIZE("height=5 width=3 align_corners=false", "2x2x3x4"),
    RESIZE("height=2 width=3 align_corners=false", "2x2x7x5"),
    RESIZE("height=6 width=1", "1x2x1x1"),
    RESIZE("height=1 width=2 align_corners=false", "1x2x4x4"),
    RESIZE("height=600 width=3", "1x1x5x4"),
    RESIZE("scale_height=2 scale_width=1.5", "1x2x3x5"),
    RESIZE("scale_height=0.5 width=4", "1x2x7x5"),
    RESIZE("mode=odd_scale scale_height=2 scale_width=2", "1x2x3x4"),
    RESIZE("mode=odd_scale scale_height=0.5 scale_width=0.5", "1x2x5x6"),
    RESIZE("mode=to_even_down", "1x2x5x4"),
    RESIZE("mode=to_even_up", "1x2x5x4"),
    RESIZE("mode=to_odd_down", "1x2x5x4"),
    RESIZE("mode=to_odd_up align_corners=false", "1x2x5x4"),
    RESIZE("mode=like", "2x3x4x5 1x2x6x3"),
    RESIZE("height=2 width=2", "0x2x3x3"),
    FAILS("_contrib_BilinearResize2D", "height=0", "1x1x2x2", MXC_EINVAL, "height"),
    FAILS("BilinearResize2D", "mode=odd_scale scale_height=2", "1x1x2x2", MXC_EINVAL, "needs scale_height and"),
    FAILS("BilinearResize2D", "mode=to_even_down", "1x1x1x2", MXC_ESHAPE, "axis 2 of 1 elements"),
    FAILS("BilinearResize2D", "scale_height=0.1", "1x1x5x2", MXC_ESHAPE, "would have no valid size"),
    FAILS("BilinearResize2D", "", "1x1x0x2", MXC_ESHAPE, "data"),
    FAILS("BilinearResize2D", "mode=like", "1x1x2x2 2x2", MXC_ESHAPE, "argument 'like'"),
    FAILS("BilinearResize2D", "", "2x2x2", MXC_ESHAPE, "argument 'data'"),
    INFERS("BilinearResize2D", "height=3 width=4", "?x3x5x5 -> 2x?x?x? => 2x3x5x5 -> 2x3x3x4"),
    INFERS("BilinearResize2D", "mode=like", "2x3x5x5,? -> ? => 2x3x5x5,?x?x?x? -> 2x3x?x?"),
    BLOCKS("output_size=(3,2)", "2x3x7x5"),
    BLOCKS("output_size=(3,4)", "2x3x3x4"),
    BLOCKS("output_size=(7,5)", "2x2x3x4"),
    BLOCKS("output_size=2", "1x2x5x5; 1x1x1x1; 7x1x2x2; 1x7x3x1; 1x1x1x9; 2x2x2x7; 1x33x2x2; 1x1x17x3; 3x2x4x4; "
                            "0x2x3x3; 1x1x65x2; 2x1x6x5; 1x2x3x9@-1:1nf"),
    BLOCKS("", "2x3x4x5"),
    BLOCKS("output_size=(1,3)", "1x2x40x31"),
    BLOCKS("output_size=(4,4)", "1x1x1x1"),
    BLOCKS("output_size=(2,2)", "2x0x3x3"),
    FAILS("_contrib_AdaptiveAvgPooling2D", "output_size=(1,2,3)", "1x1x2x2", MXC_EINVAL, "has 3 entries"),
    FAILS("AdaptiveAvgPooling2D", "output_size=(0,2)", "1x1x2x2", MXC_EINVAL, "output_size"),
    FAILS("AdaptiveAvgPooling2D", "", "1x1x2x0", MXC_ESHAPE, "data"),
    FAILS("AdaptiveAvgPooling2D", "", "1x1x2", MXC_ESHAPE, "argument 'data'"),
    INFERS("AdaptiveAvgPooling2D", "output_size=3", "2x?x5x5 -> ?x3x?x? => 2x3x5x5 -> 2x3x3x3"),
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

MXC_CASES(region_cases, cases);

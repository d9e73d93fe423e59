/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Correlation. */
#include <math.h>

#include "operator/cases.h"

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 4 }

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
};

MXC_CASES(vision_correlation_cases, cases);

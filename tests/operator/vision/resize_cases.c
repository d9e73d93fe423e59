/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_BilinearResize2D and _contrib_AdaptiveAvgPooling2D. */
#include <math.h>

#include "operator/cases.h"

#define ROUGH(name, given, shapes, ref) \
    { .op = name, .params = given, .in = shapes, .reference = ref, .tolerance = 4 }

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

static const op_case cases[] = {
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
};

MXC_CASES(vision_resize_cases, cases);

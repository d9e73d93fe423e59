/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _contrib_DeformableConvolution and _contrib_ModulatedDeformableConvolution. */
#include <math.h>

#include "operator/cases.h"

/* Surrounded by zeros. */
static double read_padded(const double *plane, const int64_t *in, double y, double x) {
    double sum = 0;
    for (int64_t i = 0; i < in[2] * in[3]; i++)
        sum += plane[i] * fmax(0, 1 - fabs(y - (double)(i / in[3]))) * fmax(0, 1 - fabs(x - (double)(i % in[3])));
    return sum;
}

/* 0 before the first element; behind the last one, up to its edge, the plane goes on. */
static double read_at(const double *plane, const int64_t *in, double y, double x) {
    if (y < 0 || x < 0 || y >= (double)in[2] || x >= (double)in[3])
        return 0;
    return read_padded(plane, in, fmin(y, (double)(in[2] - 1)), fmin(x, (double)(in[3] - 1)));
}

/* Channel c of sample n where element k of the patch at place p is read. */
static double moved(const op_run *r, const case_windows *w, int has_mask, int64_t groups, int64_t n, int64_t c,
                    int64_t k, int64_t p) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim, places = out[2] * out[3];
    int64_t size = case_volume(w->kernel), group = c / (in[1] / groups);
    const double *offset = r->in[1] + ((n * groups + group) * size + k) * 2 * places + p;
    int64_t y = p / out[3] * w->stride[1] - w->pad[1] + k / w->kernel[2] * w->dilate[1];
    int64_t x = p % out[3] * w->stride[2] - w->pad[2] + k % w->kernel[2] * w->dilate[2];
    if (has_mask)
        return r->in[2][((n * groups + group) * size + k) * places + p] *
               read_padded(r->in[0] + (n * in[1] + c) * in[2] * in[3], in, (double)y + offset[0],
                           (double)x + offset[places]);
    return read_at(r->in[0] + (n * in[1] + c) * in[2] * in[3], in, (double)y + offset[0], (double)x + offset[places]);
}

static void convolve(const op_run *r, int has_mask) {
    const int slot = 2 + has_mask;
    const int64_t *out = r->out_shape[0].dim, *weight = r->in_shape[slot].dim, size = weight[2] * weight[3];
    int64_t filters = out[1] / (int64_t)case_number(r, "num_group", 1);
    int64_t groups = (int64_t)case_number(r, "num_deformable_group", 1);
    case_windows w = case_windows_of(r, &r->out_shape[0], &r->in_shape[0]);
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        int64_t p = o % (out[2] * out[3]), f = o / (out[2] * out[3]) % out[1], n = o / (out[2] * out[3]) / out[1];
        double sum = r->n_in > slot + 1 ? r->in[slot + 1][f] : 0;
        for (int64_t i = 0; i < weight[1] * size; i++)
            sum += r->in[slot][f * weight[1] * size + i] *
                   moved(r, &w, has_mask, groups, n, f / filters * weight[1] + i / size, i % size, p);
        r->out[0][o] = sum;
    }
}

static void ref_deformable(const op_run *r) {
    convolve(r, 0);
}

static void ref_modulated(const op_run *r) {
    convolve(r, 1);
}

#define MODULATED(given, shapes)                                                                                    \
    {                                                                                                               \
        .op = "_contrib_ModulatedDeformableConvolution", .params = given, .in = shapes, .reference = ref_modulated, \
        .tolerance = 4                                                                                              \
    }
#define DEFORM(given, shapes)                                                                               \
    {                                                                                                       \
        .op = "_contrib_DeformableConvolution", .params = given, .in = shapes, .reference = ref_deformable, \
        .tolerance = 4                                                                                      \
    }

static const op_case cases[] = {
    DEFORM("kernel=(3,3) num_filter=2", "2x3x5x6 2x18x3x4@-1.3:1.317 2x3x3x3 2; 1x1x3x3 1x18x1x1 2x1x3x3 2; "
                                        "1x2x3x7 1x18x1x5 2x2x3x3 2; 3x1x4x3 3x18x2x1 2x1x3x3 2; "
                                        "1x5x4x4 1x18x2x2 2x5x3x3 2"),
    DEFORM("kernel=(3,3) num_filter=4 pad=(1,1) stride=(2,2) no_bias=true", "1x2x5x6 1x18x3x3@-2.1:2.117 4x2x3x3"),
    DEFORM("kernel=(2,3) num_filter=4 num_group=2 num_deformable_group=2 pad=(1,0) dilate=(2,1)",
           "2x4x5x5 2x24x5x3@-0.9:0.917 4x2x2x3 4"),
    DEFORM("kernel=(1,1) num_filter=3 num_deformable_group=3", "1x3x4x4 1x6x4x4@-1.1:1.117 3x3x1x1 3"),
    DEFORM("kernel=(2,2) num_filter=2 pad=(3,3)", "1x1x3x3 1x8x8x8@-0.7:0.717 2x1x2x2 2; 1x1x0x3 1x8x5x8 2x1x2x2 2; "
                                                  "2x1x3x0 2x8x8x5 2x1x2x2 2"), /* around no element */
    DEFORM("kernel=(1,1) num_filter=1 no_bias=true", "1x1x1x1 1x2x1x1@0.1:0.7 1x1x1x1; 7x1x1x1 7x2x1x1 1x1x1x1; "
                                                     "1x3x2x2 1x2x2x2 1x3x1x1; 1x1x1x9 1x2x1x9 1x1x1x1; "
                                                     "2x2x3x1 2x2x3x1 1x2x1x1; 0x1x2x2 0x2x2x2 1x1x1x1; "
                                                     "1x1x5x5 1x2x5x5 1x1x1x1; 1x65x1x1 1x2x1x1 1x65x1x1"),
    DEFORM("kernel=(1,2) num_filter=1", "1x2x9x11 1x4x9x10@-0.4:0.4173 1x2x1x2 1"),
    DEFORM("kernel=(3,3) num_filter=6 num_group=3 pad=(1,1)", "1x3x4x4 1x18x4x4@20:30 6x1x3x3 6"),
    DEFORM("kernel=(3,3) num_filter=2", "0x3x5x6 0x18x3x4 2x3x3x3 2"),
    MODULATED("kernel=(3,3) num_filter=2",
              "2x3x5x6 2x18x3x4@-1.3:1.317 2x9x3x4@0:1 2x3x3x3 2; 1x1x3x3 1x18x1x1 1x9x1x1 2x1x3x3 2; "
              "1x2x3x7 1x18x1x5 1x9x1x5 2x2x3x3 2; 3x1x4x3 3x18x2x1 3x9x2x1 2x1x3x3 2; "
              "1x5x4x4 1x18x2x2 1x9x2x2 2x5x3x3 2; 0x3x5x6 0x18x3x4 0x9x3x4 2x3x3x3 2"),
    MODULATED("kernel=(3,3) num_filter=4 pad=(1,1) stride=(2,2) no_bias=true im2col_step=1",
              "2x2x5x6 2x18x3x3@-2.1:2.117 2x9x3x3@0:1 4x2x3x3"),
    MODULATED("kernel=(2,3) num_filter=4 num_group=2 num_deformable_group=2 pad=(1,0) dilate=(2,1)",
              "2x4x5x5 2x24x5x3@-0.9:0.917 2x12x5x3@-1:1 4x2x2x3 4"),
    MODULATED("kernel=(1,1) num_filter=3 num_deformable_group=3", "1x3x4x4 1x6x4x4@-1.1:1.117 1x3x4x4 3x3x1x1 3"),
    MODULATED("kernel=(2,2) num_filter=2 pad=(3,3)", "1x1x3x3 1x8x8x8@-0.7:0.717 1x4x8x8 2x1x2x2 2; "
                                                     "1x1x0x3 1x8x5x8 1x4x5x8 2x1x2x2 2"),
    MODULATED("kernel=(1,1) num_filter=1 no_bias=true",
              "1x1x1x1 1x2x1x1@0.1:0.7 1x1x1x1 1x1x1x1; 7x1x1x1 7x2x1x1 7x1x1x1 1x1x1x1; "
              "1x3x2x2 1x2x2x2 1x1x2x2 1x3x1x1; 1x1x1x9 1x2x1x9 1x1x1x9 1x1x1x1; 2x2x3x1 2x2x3x1 2x1x3x1 1x2x1x1; "
              "1x1x5x5 1x2x5x5 1x1x5x5 1x1x1x1; 1x65x1x1 1x2x1x1 1x1x1x1 1x65x1x1"),
    MODULATED("kernel=(1,2) num_filter=1", "1x2x9x11 1x4x9x10@-0.4:0.4173 1x2x9x10 1x2x1x2 1"),
    MODULATED("kernel=(3,3) num_filter=6 num_group=3 pad=(1,1)", "1x3x4x4 1x18x4x4@20:30 1x9x4x4 6x1x3x3 6"),
    FAILS("ModulatedDeformableConvolution", "kernel=(3,3) num_filter=2", "1x1x5x5 1x18x3x3 1x18x3x3 2x1x3x3 2",
          MXC_ESHAPE, "argument 'mask'"),
    FAILS("ModulatedDeformableConvolution", "kernel=(3,) num_filter=2", "1x1x5x5 1x18x3x3 1x9x3x3 2x1x3x3 2",
          MXC_EINVAL, "ModulatedDeformableConvolution: kernel has 1 entries"),
    FAILS("ModulatedDeformableConvolution", "kernel=(3,3) num_filter=2 layout=NCDHW",
          "1x1x5x5 1x18x3x3 1x9x3x3 2x1x3x3 2", MXC_EINVAL, "layout=\"NCDHW\""),
    {.op = "ModulatedDeformableConvolution",
     .params = "kernel=(3,3) num_filter=4 num_group=2 no_bias=true",
     .infer = "?x?x5x6,?,2x?x?x?,?x2x?x? -> ?x?x?x? => 2x4x5x6,2x18x3x4,2x9x3x4,4x2x3x3 -> 2x4x3x4"},
    FAILS("DeformableConvolution", "kernel=(3,) num_filter=2", "1x1x5x5 1x18x3x3 2x1x3x3 2", MXC_EINVAL,
          "kernel has 1 entries"),
    FAILS("DeformableConvolution", "kernel=(3,3) num_filter=2 stride=(1,)", "1x1x5x5 1x18x3x3 2x1x3x3 2", MXC_EINVAL,
          "stride has 1 entries"),
    FAILS("DeformableConvolution", "kernel=(3,3) num_filter=3 num_group=2", "1x2x5x5 1x18x3x3 3x1x3x3 3", MXC_EINVAL,
          "not a multiple of"),
    FAILS("DeformableConvolution", "kernel=(5000,5000) num_filter=3", "1x2x5x5 1x18x3x3 3x1x3x3 3", MXC_EINVAL,
          "kernel has 25000000 elements"),
    FAILS("DeformableConvolution", "kernel=(3,3) num_filter=2", "1x1x5x2 1x18x3x3 2x1x3x3 2", MXC_ESHAPE,
          "fewer than the 3 of a patch"),
    FAILS("DeformableConvolution", "kernel=(3,3) num_filter=2", "1x1x5x5 1x17x3x3 2x1x3x3 2", MXC_ESHAPE,
          "argument 'offset'"),
    FAILS("DeformableConvolution", "kernel=(3,3) num_filter=2", "1x1x5x5 1x18x3x3 2x2x3x3 2", MXC_ESHAPE,
          "argument 'weight'"),
    FAILS("DeformableConvolution", "kernel=(3,3) num_filter=2", "1x1x5x5 1x18x3x3 2x1x3x3 3", MXC_ESHAPE,
          "argument 'bias'"),
    FAILS("DeformableConvolution", "kernel=(3,3) num_filter=2 num_deformable_group=2", "1x3x5x5 1x36x3x3 2x3x3x3 2",
          MXC_ESHAPE, "3 channels, expected a multiple of"),
    {.op = "DeformableConvolution",
     .params = "kernel=(3,3) num_filter=4 num_group=2 no_bias=true",
     .infer = "?x?x5x6,?,?x2x?x? -> 2x?x?x? => 2x4x5x6,2x18x3x4,4x2x3x3 -> 2x4x3x4"},
};

MXC_CASES(nn_deformable_convolution_cases, cases);

/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of _pack_convolution and _packed_convolution whose packing is the same on all processors, that of one filter a
 * channel; tests/operator/test_packed_convolution.c compares all algorithms with Convolution. */
#include <math.h>

#include "operator/cases.h"

/* (C,taps) to (taps,C). */
static void ref_pack(const op_run *r) {
    const int64_t channels = r->in_shape[0].dim[0], taps = channels ? case_size(&r->in_shape[0]) / channels : 0;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t tap = 0; tap < taps; tap++)
            r->out[0][tap * channels + c] = r->in[0][c * taps + tap];
}

/* Windows of 3x3 with padding 1 and stride 1 or 2; in: data, weight, bias, addend. */
static void ref_by_channel(const op_run *r) {
    const mxc_shape *in = &r->in_shape[0], *out = &r->out_shape[0];
    const int64_t height = in->dim[1], width = in->dim[2], channels = in->dim[3];
    const int64_t stride = case_is(r, "stride", "(2,2)") ? 2 : 1;
    const double slope = case_number(r, "slope", 1), limit = case_number(r, "limit", INFINITY);
    for (int64_t i = 0; i < case_size(out); i++) {
        const int64_t c = i % channels, x = i / channels % out->dim[2], y = i / channels / out->dim[2] % out->dim[1];
        const int64_t n = i / channels / out->dim[2] / out->dim[1];
        double sum = r->in[2][c] + (r->n_in > 3 ? r->in[3][i] : 0);
        for (int64_t tap = 0; tap < 9; tap++) {
            const int64_t iy = y * stride + tap / 3 - 1, ix = x * stride + tap % 3 - 1;
            if (iy >= 0 && iy < height && ix >= 0 && ix < width)
                sum += r->in[0][((n * height + iy) * width + ix) * channels + c] * r->in[1][tap * channels + c];
        }
        sum = sum < 0 ? sum * slope : sum;
        r->out[0][i] = sum > limit ? limit : sum;
    }
}

#define BY_CHANNEL(n) "kernel=(3,3) num_filter=" n " num_group=" n " algorithm=by_channel"

static const op_case cases[] = {
    {.op = "_pack_convolution",
     .params = BY_CHANNEL("5"),
     .reference = ref_pack,
     .flags = CASE_NO_GRADIENT,
     .in = "5x3x3x1"},
    {.op = "_packed_convolution",
     .params = BY_CHANNEL("5") " pad=(1,1)",
     .reference = ref_by_channel,
     .flags = CASE_NO_GRADIENT,
     .in = "2x7x9x5 45 5; 1x1x1x5 45 5; 0x4x4x5 45 5"},
    {.op = "_packed_convolution",
     .params = BY_CHANNEL("1") " pad=(1,1)",
     .reference = ref_by_channel,
     .flags = CASE_NO_GRADIENT,
     .in = "2x5x6x1 9 1"},
    {.op = "_packed_convolution_add",
     .params = BY_CHANNEL("40") " pad=(1,1) stride=(2,2) slope=0.25 limit=0.5",
     .reference = ref_by_channel,
     .flags = CASE_NO_GRADIENT,
     .in = "1x20x19x40 360 40 1x10x10x40"},
    INFERS("_packed_convolution", BY_CHANNEL("5"), "2x7x9x5,?,? -> ? => 2x7x9x5,45,5 -> 2x5x7x5"),
    INFERS("_pack_convolution", BY_CHANNEL("5"), "5x3x3x1 -> ? => 5x3x3x1 -> 45"),
    FAILS("_packed_convolution", BY_CHANNEL("5"), "2x7x9x4 45 5", MXC_ESHAPE, "argument 'data': 4 channels"),
    FAILS("_pack_convolution", BY_CHANNEL("5"), "5x3x3x2", MXC_ESHAPE, "argument 'weight': 2 channels"),
    /* hostile sizes: more kernel rows than the kernel has room for, and taps that overflow when multiplied */
    FAILS("_packed_convolution", "kernel=(65,1) num_filter=2 num_group=2 algorithm=by_channel", "1x70x2x2 130 2",
          MXC_EINVAL, "algorithm by_channel with 65 kernel rows, expected at most 64"),
    FAILS("_packed_convolution",
          "kernel=(2147483647,2147483647,2147483647) pad=(1073741823,1073741823,1073741823) num_filter=2",
          "1x1x1x1x1 2 2", MXC_ESHAPE, "argument 'weight'"),
    FAILS("_packed_convolution", "kernel=(3,3) num_filter=6 num_group=3 algorithm=by_channel", "2x7x9x3 45 6",
          MXC_EINVAL, "algorithm by_channel with 6 filters in 3 groups"),
    FAILS("_packed_convolution", "kernel=(3,3) stride=(2,2) num_filter=6 algorithm=winograd", "2x7x9x3 45 6",
          MXC_EINVAL, "algorithm winograd, expected a 3x3 kernel"),
    FAILS("_packed_convolution", "kernel=(3,3) num_filter=6", "2x7x9x3 45 6", MXC_ESHAPE, "argument 'weight'"),
};

MXC_CASES(nn_packed_convolution_cases, cases);

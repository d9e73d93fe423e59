/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the quantized convolution and fully connected layer. References compute with the real numbers that the
 * integers stand for. */
#include <math.h>

#include "operator/quantized/quantized_reference.h"

static double bias_of(const op_run *r, int64_t filter) {
    return r->n_in == 9 ? round(r->in[2][filter] * (case_quantized_unit(r, 2, 7) /
                                                    (case_quantized_unit(r, 0, 3) * case_quantized_unit(r, 1, 5))))
                        : 0;
}

static void put_layer_bounds(const op_run *r) {
    int low = r->n_in / 3;
    double most = case_quantized_unit(r, 0, low) * case_quantized_unit(r, 1, low + 2) * 2147483647.0;
    case_put_range(r, -most, most);
}

static void ref_fc(const op_run *r) {
    int64_t h = r->in_shape[1].dim[0], k = r->in_shape[1].dim[1];
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        double sum = bias_of(r, i % h);
        for (int64_t j = 0; j < k; j++)
            sum += r->in[0][i / h * k + j] * r->in[1][i % h * k + j];
        r->out[0][i] = sum;
    }
    put_layer_bounds(r);
}

static void ref_conv(const op_run *r) {
    case_windows w = case_windows_of(r, &r->out_shape[0], &r->in_shape[0]);
    int64_t groups = (int64_t)case_number(r, "num_group", 1), filters = r->in_shape[1].dim[0];
    int64_t channels = r->in_shape[1].dim[1], plane = case_volume(w.plane);
    int64_t pixels = case_volume(w.windows), places = case_volume(w.kernel);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++) {
        int64_t p = i % pixels, f = i / pixels % filters, n = i / pixels / filters, first = f / (filters / groups);
        double sum = bias_of(r, f);
        for (int64_t c = 0; c < channels * places; c++) {
            int64_t at = case_under(&w, p, c % places);
            const double *image = r->in[0] + (n * groups + first) * channels * plane + c / places * plane;
            sum += at < 0 ? 0 : image[at] * r->in[1][f * channels * places + c];
        }
        r->out[0][i] = sum;
    }
    put_layer_bounds(r);
}

#define FC_BIAS "@-128:255i 3x4@-127:127i 3@-127:127i " BOUNDS " 1@-0.5:-0.4 1@0.6:0.7 1@-0.2:-0.1 1@0.1:0.2"
#define FC_NONE "@-128:255i 3x4@-60:60i " BOUNDS " 1@-0.5:-0.4 1@0.6:0.7"
#define CONV_BIAS(data, weight, bias) \
    data "@-128:255i " weight "@-127:127i " bias "@-127:127i " BOUNDS " 1@-0.5:-0.4 1@0.6:0.7 1@-0.2:-0.1 1@0.1:0.2"
#define CONV_NONE(data, weight) data "@-128:255i " weight "@-127:127i " BOUNDS " 1@-0.5:-0.4 1@0.6:0.7"

static const op_case cases[] = {
    RUN("_contrib_quantized_fully_connected", "num_hidden=3",
        "2x4" FC_BIAS "; 1x1 3x1 3 1 1 1 1 1 1; 0x5 3x5 3 1 1 1 1 1 1; 3x2x5 3x10 3 1 1 1 1 1 1; "
        "17x33 3x33 3 1 1 1 1 1 1; 5x16 3x16 3 1 1 1 1 1 1; 2x700 3x700 3 1 1 1 1 1 1",
        ref_fc),
    RUN("_contrib_quantized_fully_connected", "num_hidden=3 no_bias=true",
        "2x4" FC_NONE "; 1x1 3x1 1 1 1 1; 3x31 3x31 1 1 1 1; 2x20000 3x20000 1 1 1 1; 0x4 3x4 1 1 1 1", ref_fc),
    RUN("_contrib_quantized_fully_connected", "num_hidden=1 no_bias=true",
        "2x4@-128:255i 1x4@-60:60i " TWO_BOUNDS "; 1x1 1x1 1 1 1 1; 6x9 1x9 1 1 1 1", ref_fc),
    RUN("_contrib_quantized_fully_connected", "num_hidden=130",
        "9x40@-128:255i 130x40@-127:127i 130@-127:127i " BOUNDS " 1@-0.5:-0.4 1@0.6:0.7 1@-0.2:-0.1 1@0.1:0.2; "
        "1x33 130x33 130 1 1 1 1 1 1; 2x2x5 130x10 130 1 1 1 1 1 1",
        ref_fc),
    RUN("_contrib_quantized_fully_connected", "num_hidden=3 flatten=false no_bias=true",
        "2x5x4@-128:255i 3x4@-60:60i " TWO_BOUNDS "; 1x1x1 3x1 1 1 1 1; 2x3x4x7 3x7 1 1 1 1", ref_fc),
    FAILS("_contrib_quantized_fully_connected", "num_hidden=3 no_bias=true", "2x4 3x4 1 1 1 1", MXC_EDTYPE,
          "_contrib_quantized_fully_connected"),
    INFERS("_contrib_quantized_fully_connected", "num_hidden=3",
           "2x4,?,?,?,?,?,?,?,? -> ?,?,? => 2x4,3x4,3,1,1,1,1,1,1 -> 2x3,1,1"),

    RUN("_contrib_quantized_conv", "kernel=(3,3) num_filter=4;kernel=(3,3) num_filter=4 stride=(2,1) pad=(1,2)",
        CONV_BIAS("2x4x5x6", "4x4x3x3", "4") "; 1x1x3x3 4x1x3x3 4 1 1 1 1 1 1; 0x3x4x4 4x3x3x3 4 1 1 1 1 1 1; "
                                             "1x8x9x13 4x8x3x3 4 1 1 1 1 1 1; 3x2x3x7 4x2x3x3 4 1 1 1 1 1 1",
        ref_conv),
    RUN("_contrib_quantized_conv", "kernel=(1,1) num_filter=8 no_bias=true",
        CONV_NONE("1x4x4x4", "8x4x1x1") "; 2x1x1x1 8x1x1x1 1 1 1 1; 1x20x11x13 8x20x1x1 1 1 1 1; "
                                        "1x16x8x8 8x16x1x1 1 1 1 1",
        ref_conv),
    RUN("_contrib_quantized_conv", "kernel=(3,3) num_filter=6 num_group=3 pad=(1,1) dilate=(2,1) no_bias=true",
        CONV_NONE("1x6x7x5", "6x2x3x3") "; 2x3x5x3 6x1x3x3 1 1 1 1", ref_conv),
    RUN("_contrib_quantized_conv", "kernel=(3,3) num_filter=8 num_group=8 pad=(1,1) stride=(2,2) no_bias=true",
        CONV_NONE("1x8x9x9", "8x1x3x3") "; 2x8x12x10 8x1x3x3 1 1 1 1", ref_conv),
    RUN("_contrib_quantized_conv", "kernel=(3,) num_filter=2 pad=(1,)",
        CONV_BIAS("2x3x7", "2x3x3", "2") "; 1x1x1 2x1x3 2 1 1 1 1 1 1", ref_conv),
    RUN("_contrib_quantized_conv", "kernel=(2,3,2) num_filter=2 stride=(1,2,1) pad=(1,0,1) no_bias=true",
        CONV_NONE("1x2x3x5x4", "2x2x2x3x2") "; 2x1x2x3x2 2x1x2x3x2 1 1 1 1", ref_conv),
    FAILS("_contrib_quantized_conv", "kernel=(1,1) num_filter=4 no_bias=true", "1x4x2x2 4x4x1x1 1 1 1 1", MXC_EDTYPE,
          "_contrib_quantized_conv"),
    INFERS("_contrib_quantized_conv", "kernel=(3,3) num_filter=4",
           "2x8x5x5,?,?,?,?,?,?,?,? -> ?,?,? => 2x8x5x5,4x8x3x3,4,1,1,1,1,1,1 -> 2x4x3x3,1,1"),
};

MXC_CASES(quantized_quantized_conv_cases, cases);

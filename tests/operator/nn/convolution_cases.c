/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Convolution. */
#include "operator/nn/nn_reference.h"

/* ---- windows: convolution and pooling ---------------------------------------------------------------------------- */

/* Calls visit for every product of the convolution, with the indices in out, data and weight. */
static void each_product(const op_run *r, void (*visit)(const op_run *, int64_t, int64_t, int64_t)) {
    case_windows w = case_windows_of_layer(r);
    int64_t filters = r->in_shape[1].dim[0], per_group = r->in_shape[1].dim[1], channels = r->in_shape[0].dim[1];
    int64_t pixels = case_volume(w.windows), plane = case_volume(w.plane), places = case_volume(w.kernel);
    for (int64_t n = 0; n < r->in_shape[0].dim[0]; n++)
        for (int64_t f = 0; f < filters; f++)
            for (int64_t p = 0; p < pixels; p++)
                for (int64_t c = 0; c < per_group; c++)
                    for (int64_t k = 0; k < places; k++) {
                        int64_t at = case_under(&w, p, k);
                        int64_t channel = f / (filters / (channels / per_group)) * per_group + c;
                        if (at >= 0)
                            visit(r, (n * filters + f) * pixels + p, (n * channels + channel) * plane + at,
                                  (f * per_group + c) * places + k);
                    }
}

static void conv_add(const op_run *r, int64_t out, int64_t data, int64_t weight) {
    r->out[0][out] += r->in[0][data] * r->in[1][weight];
}

static void conv_share(const op_run *r, int64_t out, int64_t data, int64_t weight) {
    r->in_grad[0][data] += r->out_grad[0][out] * r->in[1][weight];
    r->in_grad[1][weight] += r->out_grad[0][out] * r->in[0][data];
}

static void ref_conv(const op_run *r) {
    int64_t filters = r->in_shape[1].dim[0], n = case_size(&r->out_shape[0]);
    int64_t pixels = filters && r->out_shape[0].dim[0] ? n / filters / r->out_shape[0].dim[0] : 1;
    for (int64_t i = 0; i < n; i++)
        r->out[0][i] = r->n_in > 2 ? r->in[2][i / pixels % filters] : 0;
    each_product(r, conv_add);
}

static void grad_conv(const op_run *r) {
    int64_t filters = r->in_shape[1].dim[0], n = case_size(&r->out_shape[0]);
    int64_t pixels = r->out_shape[0].dim[0] ? n / filters / r->out_shape[0].dim[0] : 1;
    each_product(r, conv_share);
    for (int64_t i = 0; i < n && r->n_in > 2; i++)
        r->in_grad[2][i / pixels % filters] += r->out_grad[0][i];
}

/* ---- channels last: by the references of channels second, on arrays turned --------------------------------------- */

static void ref_conv_last(const op_run *r) {
    case_run_channels_second(r, ref_conv, 0);
}

static void grad_conv_last(const op_run *r) {
    case_run_channels_second(r, grad_conv, 1);
}

/* ---- the cases --------------------------------------------------------------------------------------------------- */

#define CONV(given, shapes) \
    { .op = "Convolution", .params = given, .in = shapes, .reference = ref_conv, .gradient = grad_conv }
#define CONV_LAST(given, shapes)                                                                  \
    {                                                                                             \
        .op = "Convolution", .params = "layout=" given, .in = shapes, .reference = ref_conv_last, \
        .gradient = grad_conv_last                                                                \
    }

static const op_case cases[] = {
    CONV("kernel=(1,1) num_filter=1", "1x1x1x1 1x1x1x1 1"),
    CONV("kernel=(3,3) num_filter=2", "1x1x5x5 2x1x3x3 2"),
    CONV("kernel=(5,5) num_filter=3", "2x2x12x12 3x2x5x5 3"),
    CONV("kernel=(5,5) num_filter=7 no_bias=True", "2x1x14x14 7x1x5x5"),
    CONV("kernel=(3,3) pad=(1,1) num_filter=8", "3x4x8x8 8x4x3x3 8"),
    CONV("kernel=(3,3) pad=(1,1) num_filter=5", "2x3x7x7 5x3x3x3 5"),
    CONV("kernel=(3,3) pad=(1,1) num_filter=6", "1x7x9x17 6x7x3x3 6"),
    CONV("kernel=(3,3) stride=(2,2) pad=(1,1) num_filter=4", "2x3x9x9 4x3x3x3 4"),
    CONV("kernel=(7,7) stride=(2,2) pad=(3,3) num_filter=4", "1x3x18x20 4x3x7x7 4"),
    CONV("kernel=(2,3) stride=(3,2) pad=(0,2) num_filter=3", "2x2x8x11 3x2x2x3 3"),
    CONV("kernel=(3,3) dilate=(2,2) num_filter=3", "2x2x9x10 3x2x3x3 3"),
    CONV("kernel=(3,2) dilate=(2,3) stride=(2,1) pad=(2,3) num_filter=3", "1x2x9x10 3x2x3x2 3"),
    CONV("kernel=(3,3) dilate=(3,2) stride=(1,3) pad=(1,1) num_filter=2", "1x2x12x13 2x2x3x3 2"),
    CONV("kernel=(1,1) num_filter=9", "2x20x5x6 9x20x1x1 9"),
    CONV("kernel=(1,1) stride=(2,2) num_filter=9", "2x5x7x8 9x5x1x1 9"),
    CONV("kernel=(1,1) pad=(2,1) num_filter=3", "2x2x3x3 3x2x1x1 3"),
    CONV("kernel=(3,3) pad=(5,4) num_filter=3", "1x2x4x3 3x2x3x3 3"),
    CONV("kernel=(4,4) stride=(5,5) num_filter=2", "1x2x11x13 2x2x4x4 2"),
    CONV("kernel=(3,3) num_group=2 num_filter=4", "2x4x6x6 4x2x3x3 4"),
    CONV("kernel=(3,3) pad=(1,1) num_group=3 num_filter=12 no_bias=True", "2x6x5x8 12x2x3x3"),
    CONV("kernel=(3,3) pad=(1,1) num_group=6 num_filter=6", "2x6x8x9 6x1x3x3 6"),
    CONV("kernel=(3,3) stride=(2,2) pad=(1,1) num_group=4 num_filter=8", "2x4x9x8 8x1x3x3 8"),
    CONV("kernel=(3) num_filter=4", "2x3x9 4x3x3 4; 1x1x3 4x1x3 4; 1x1x300 4x1x3 4; 1x7x4 4x7x3 4; 0x3x9 4x3x3 4; "
                                    "7x1x5 4x1x3 4"),
    CONV("kernel=(4) stride=(3) pad=(2) dilate=(2) num_filter=3", "3x2x17 3x2x4 3"),
    CONV("kernel=(2,3,2) pad=(1,0,1) num_filter=3", "1x2x4x5x4 3x2x2x3x2 3"),
    CONV("kernel=(2,2,3) stride=(2,1,2) dilate=(1,2,1) num_filter=2", "2x2x5x5x7 2x2x2x2x3 2"),
    CONV("kernel=(3,3) pad=(1,1) num_filter=20", "1x66x4x4@-0.4:0.4 20x66x3x3@-0.4:0.4 20"), /* K above one block */
    CONV("kernel=(1,1) num_filter=2", "1x2x30x30@-0.2:0.2 2x2x1x1 2"), /* pixels above one block */
    CONV("kernel=(3,3) num_filter=2", "0x2x5x5 2x2x3x3 2"),
    CONV("kernel=(3,3) pad=(2,2) num_filter=2", "1x2x1x1 2x2x3x3 2"),
    CONV("kernel=(1,5) num_filter=2 layout=NCHW workspace=512 cudnn_tune=off", "1x2x2x40 2x2x1x5 2"),
    INFERS("ChannelwiseConvolution", "kernel=(3,3) num_filter=4 num_group=4 pad=(1,1) no_bias=True",
           "2x4x5x6,? -> ? => 2x4x5x6,4x1x3x3 -> 2x4x5x6"),
    FAILS("Convolution", "kernel=(3,3) num_filter=2", "1x2x2x5 2x2x3x3 2", MXC_ESHAPE, "spatial axis 0"),
    FAILS("Convolution", "kernel=(3,3) num_filter=2", "1x2x5x5 2x3x3x3 2", MXC_ESHAPE, "weight"),
    FAILS("Convolution", "kernel=(3,3) num_filter=2", "1x2x5 2x2x3x3 2", MXC_ESHAPE, "data"),
    FAILS("Convolution", "kernel=(3,3) num_filter=2 num_group=2", "1x3x5x5 2x1x3x3 2", MXC_ESHAPE, "num_group"),
    FAILS("Convolution", "kernel=(3,3) num_filter=3 num_group=2", "1x2x5x5 3x1x3x3 3", MXC_EINVAL, "num_group"),
    FAILS("Convolution", "kernel=(3,3) stride=(1) num_filter=3", "1x2x5x5 3x2x3x3 3", MXC_EINVAL, "stride"),
    FAILS("Convolution", "kernel=(3,3) stride=(0,1) num_filter=3", "1x2x5x5 3x2x3x3 3", MXC_EINVAL, "stride"),
    FAILS("Convolution", "kernel=(3,3,3,3) num_filter=3", "1x2x5x5 3x2x3x3 3", MXC_EINVAL, "kernel"),
    FAILS("Convolution", "kernel=(3,3) num_filter=3 layout=NCW", "1x2x5x5 3x2x3x3 3", MXC_EINVAL, "layout"),
    INFERS("Convolution", "kernel=(5,5) num_filter=20", "64x1x28x28,?,? -> ? => 64x1x28x28,20x1x5x5,20 -> 64x20x24x24"),
    INFERS("Convolution", "kernel=(3,3) pad=(1,1) num_filter=4",
           "?,4x6x3x3,? -> 2x4x8x9 => 2x6x8x9,4x6x3x3,4 -> 2x4x8x9"),
    INFERS("Convolution", "kernel=(3,3) num_filter=4 num_group=2", "?,?,? -> ? => ?x?x?x?,4x?x3x3,4 -> ?x4x?x?"),

    CONV_LAST("NHWC kernel=(1,1) num_filter=1", "1x1x1x1 1x1x1x1 1"),
    CONV_LAST("NHWC kernel=(3,3) num_filter=2", "1x5x5x1 2x3x3x1 2; 0x5x5x3 2x3x3x3 2; 3x3x9x4 2x3x3x4 2; "
                                                "2x17x4x33@-0.3:0.3 2x3x3x33 2"),
    CONV_LAST("NHWC kernel=(5,5) num_filter=7 no_bias=True", "2x14x14x1 7x5x5x1"),
    CONV_LAST("NHWC kernel=(3,3) pad=(1,1) num_filter=8", "3x8x8x4 8x3x3x4 8"),
    CONV_LAST("NHWC kernel=(3,2) dilate=(2,3) stride=(2,1) pad=(2,3) num_filter=3", "1x9x10x2 3x3x2x2 3"),
    CONV_LAST("NHWC kernel=(7,7) stride=(2,2) pad=(3,3) num_filter=4", "2x18x20x3 4x7x7x3 4"),
    CONV_LAST("NHWC kernel=(1,1) num_filter=9", "2x5x6x20 9x1x1x20 9"),
    CONV_LAST("NHWC kernel=(3,3) pad=(1,1) num_group=2 num_filter=4", "2x6x6x4 4x3x3x2 4"),
    CONV_LAST("NHWC kernel=(3,3) stride=(2,2) pad=(1,1) num_group=4 num_filter=8 no_bias=True", "2x9x8x4 8x3x3x1"),
    CONV_LAST("NDHWC kernel=(2,3,2) pad=(1,0,1) num_filter=3", "2x4x5x4x2 3x2x3x2x2 3"),
    FAILS("Convolution", "kernel=(3,3) num_filter=3 layout=NDHWC", "1x5x5x2 3x3x3x2 3", MXC_EINVAL, "layout"),
    FAILS("Convolution", "kernel=(3) num_filter=3 layout=NHWC", "1x5x2 3x3x2 3", MXC_EINVAL, "layout"),
    FAILS("Convolution", "kernel=(3,3) num_filter=3 layout=NHWC", "1x5x5x2 3x2x3x3 3", MXC_ESHAPE, "weight"),
    INFERS("Convolution", "kernel=(3,5) stride=(2,1) num_filter=6 num_group=2 layout=NHWC",
           "2x9x11x8,?,? -> ? => 2x9x11x8,6x3x5x4,6 -> 2x4x7x6"),
    INFERS("Convolution", "kernel=(3,3) pad=(1,1) num_filter=4 layout=NHWC",
           "?,4x3x3x6,? -> 2x8x9x4 => 2x8x9x6,4x3x3x6,4 -> 2x8x9x4"),
};

MXC_CASES(nn_convolution_cases, cases);

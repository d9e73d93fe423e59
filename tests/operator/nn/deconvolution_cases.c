/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of Deconvolution. */
#include "operator/cases.h"

/* Windows over out. What target_shape leaves over goes, the odd one from the front. */
static case_windows windows_of(const op_run *r) {
    case_windows w = case_windows_of(r, &r->in_shape[0], &r->out_shape[0]);
    mxc_tuple target = case_tuple(r, "target_shape");
    for (int k = 0; k < target.n; k++) {
        int i = 3 - target.n + k;
        w.pad[i] = (w.stride[i] * (w.windows[i] - 1) + w.dilate[i] * (w.kernel[i] - 1) + 1 - target.value[k] + 1) / 2;
    }
    return w;
}

typedef void (*visitor)(const op_run *r, int64_t out, int64_t data, int64_t weight);

static void each_product(const op_run *r, visitor visit) {
    case_windows w = windows_of(r);
    int64_t channels = r->in_shape[0].dim[1], per = r->in_shape[1].dim[1], filters = r->out_shape[0].dim[1];
    int64_t in = case_volume(w.windows), out = case_volume(w.plane), places = case_volume(w.kernel);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        for (int64_t f = 0; f < per; f++)
            for (int64_t k = 0; k < places; k++) {
                int64_t c = i / in % channels, at = case_under(&w, i % in, k);
                int64_t filter = c / (channels / (filters / per)) * per + f;
                if (at >= 0)
                    visit(r, (i / in / channels * filters + filter) * out + at, i, (c * per + f) * places + k);
            }
}

static void add_product(const op_run *r, int64_t out, int64_t data, int64_t weight) {
    r->out[0][out] += r->in[0][data] * r->in[1][weight];
}

static void share(const op_run *r, int64_t out, int64_t data, int64_t weight) {
    r->in_grad[0][data] += r->out_grad[0][out] * r->in[1][weight];
    r->in_grad[1][weight] += r->out_grad[0][out] * r->in[0][data];
}

static int64_t filter_of(const op_run *r, int64_t i) {
    const mxc_shape *s = &r->out_shape[0];
    int64_t plane = 1;
    for (int k = 2; k < s->ndim; k++)
        plane *= s->dim[k];
    return i / plane % s->dim[1];
}

static void ref_deconv(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->out_shape[0]); i++)
        r->out[0][i] = r->n_in > 2 ? r->in[2][filter_of(r, i)] : 0;
    each_product(r, add_product);
}

static void grad_deconv(const op_run *r) {
    each_product(r, share);
    for (int64_t i = 0; i < case_size(&r->out_shape[0]) && r->n_in > 2; i++)
        r->in_grad[2][filter_of(r, i)] += r->out_grad[0][i];
}

#define DECONV(given, shapes)                                                                                   \
    {                                                                                                           \
        .op = "Deconvolution", .params = given, .in = shapes, .reference = ref_deconv, .gradient = grad_deconv, \
        .tolerance = 8                                                                                          \
    }

static const op_case cases[] = {
    DECONV("kernel=(3,3) num_filter=2", "2x3x4x5 3x2x3x3; 1x1x1x1 1x2x3x3; 7x1x2x2 1x2x3x3; 1x2x1x9 2x2x3x3; "
                                        "1x7x3x3 7x2x3x3; 1x1x1x65 1x2x3x3; 2x3x4x5@-1:1n 3x2x3x3"),
    DECONV("kernel=(3,3) num_filter=2 no_bias=False", "2x3x4x5 3x2x3x3 2"),
    DECONV("kernel=(2,2) stride=(2,2) num_filter=3 no_bias=False", "1x2x3x3 2x3x2x2 3"),
    DECONV("kernel=(4,4) stride=(2,2) pad=(1,1) num_filter=5", "2x4x5x6 4x5x4x4"),
    DECONV("kernel=(3,3) stride=(2,2) pad=(1,1) adj=(1,1) num_filter=2", "2x3x4x5 3x2x3x3"),
    DECONV("kernel=(3,2) stride=(3,2) adj=(2,1) num_filter=1", "1x1x2x3 1x1x3x2"),
    DECONV("kernel=(3,3) dilate=(2,2) num_filter=2", "1x3x4x4 3x2x3x3"),
    DECONV("kernel=(3,3) num_group=2 num_filter=4 no_bias=False", "2x6x3x4 6x2x3x3 4"),
    DECONV("kernel=(4,4) stride=(2,2) pad=(1,1) num_group=3 num_filter=3", "2x3x5x5 3x1x4x4"),
    DECONV("kernel=(4,4) stride=(2,2) target_shape=(8,9) num_filter=2", "1x3x4x4 3x2x4x4"),
    DECONV("kernel=(3,3) target_shape=(5,4) num_filter=2", "1x3x4x4 3x2x3x3"),
    DECONV("kernel=(3) stride=(2) num_filter=3 no_bias=False", "2x2x7 2x3x3 3"),
    DECONV("kernel=(2,3,2) stride=(1,2,1) pad=(0,1,0) num_filter=2", "1x2x3x3x2 2x2x2x3x2"),
    DECONV("kernel=(1,1) num_filter=4", "2x3x5x5 3x4x1x1"),
    DECONV("kernel=(1,1) num_filter=1", "1x1x1x1 1x1x1x1"),
    DECONV("kernel=(5,5) pad=(2,2) num_filter=8 no_bias=False", "2x16x17x19 16x8x5x5 8"),
    DECONV("kernel=(3,3) num_filter=2 no_bias=False", "0x3x4x5 3x2x3x3 2"),
    FAILS("Deconvolution", "num_filter=2", "2x3x4x5 3x2x3x3", MXC_EINVAL, "\"kernel\" is missing"),
    FAILS("Deconvolution", "kernel=(3,3) num_filter=2 stride=(1)", "2x3x4x5 3x2x3x3", MXC_EINVAL,
          "stride has 1 entries"),
    FAILS("Deconvolution", "kernel=(3,3) num_filter=2 adj=(1,1)", "2x3x4x5 3x2x3x3", MXC_EINVAL, "adj of axis 0 is 1"),
    FAILS("Deconvolution", "kernel=(3,3) num_filter=3 num_group=2", "2x4x4x5 4x1x3x3", MXC_EINVAL,
          "not a multiple of num_group"),
    FAILS("Deconvolution", "kernel=(3,3) num_filter=4 num_group=2", "2x3x4x5 3x2x3x3", MXC_ESHAPE,
          "3 channels, expected a multiple"),
    FAILS("Deconvolution", "kernel=(3,3) num_filter=2", "2x3x4x5 3x4x3x3", MXC_ESHAPE, "argument 'weight'"),
    FAILS("Deconvolution", "kernel=(3,3) num_filter=2", "2x3x0x5 3x2x3x3", MXC_ESHAPE, "spatial axis 0 has 0 elements"),
    FAILS("Deconvolution", "kernel=(3,3) num_filter=2 pad=(3,3)", "2x3x4x5 3x2x3x3", MXC_ESHAPE, "leaves nothing"),
    FAILS("Deconvolution", "kernel=(3,3) num_filter=2 target_shape=(7,4)", "2x3x4x5 3x2x3x3", MXC_ESHAPE,
          "target_shape of axis 0 is 7"),
    FAILS("Deconvolution", "kernel=(3,3) num_filter=2 layout=NHWC", "2x3x4x5 3x2x3x3", MXC_EUNSUPPORTED,
          "only layouts"),
    {.op = "Deconvolution",
     .params = "kernel=(4,4) stride=(2,2) pad=(1,1) num_filter=6 no_bias=False",
     .infer = "?x3x8x8,?,? -> 2x?x?x? => 2x3x8x8,3x6x4x4,6 -> 2x6x16x16"},
};

MXC_CASES(nn_deconvolution_cases, cases);

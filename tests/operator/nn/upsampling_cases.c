/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of UpSampling. */
#include "operator/cases.h"

static void ref_upsampling(const op_run *r) {
    const int64_t *out = r->out_shape[0].dim;
    int is_sum = case_is(r, "multi_input_mode", "sum");
    int64_t channel = 0;
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++)
        r->out[0][o] = 0;
    for (int i = 0; i < r->n_in; i++) {
        const int64_t *in = r->in_shape[i].dim;
        for (int64_t o = 0; o < in[0] * in[1] * out[2] * out[3]; o++) {
            int64_t x = o % out[3], y = o / out[3] % out[2], c = o / out[3] / out[2] % in[1], n = o / out[3] / out[2];
            n /= in[1];
            r->out[0][((n * out[1] + channel + c) * out[2] + y) * out[3] + x] +=
                r->in[i][((n * in[1] + c) * in[2] + y * in[2] / out[2]) * in[3] + x * in[3] / out[3]];
        }
        channel += is_sum ? 0 : in[1];
    }
}

/* Each channel of data spread by its own kernel. */
static void ref_bilinear(const op_run *r) {
    const int64_t *in = r->in_shape[0].dim, *out = r->out_shape[0].dim, size = r->in_shape[1].dim[2];
    int64_t scale = (int64_t)case_number(r, "scale", 1), pad = scale / 2;
    for (int64_t o = 0; o < case_size(&r->out_shape[0]); o++) {
        int64_t plane = o / out[3] / out[2], y = o / out[3] % out[2] + pad, x = o % out[3] + pad;
        r->out[0][o] = 0;
        for (int64_t i = 0; i < in[2] * in[3]; i++) {
            int64_t row = y - i / in[3] * scale, column = x - i % in[3] * scale;
            if (row >= 0 && row < size && column >= 0 && column < size)
                r->out[0][o] +=
                    r->in[0][plane * in[2] * in[3] + i] * r->in[1][(plane % in[1] * size + row) * size + column];
        }
    }
}

#define BILINEAR(given, shapes) RUN("UpSampling", "sample_type=bilinear " given, shapes, ref_bilinear)
#define NEAREST(given, shapes) RUN("UpSampling", "sample_type=nearest " given, shapes, ref_upsampling)

static const op_case cases[] = {
    NEAREST("scale=2 num_args=1", "2x3x4x5; 1x1x1x1; 7x1x2x3; 1x7x1x33; 2x3x4x5@-1:1nf"),
    NEAREST("scale=1 num_args=1", "1x2x3x3"),
    NEAREST("scale=7 num_args=1", "1x1x1x1"),
    NEAREST("scale=3 num_args=1", "1x2x3x211"),
    NEAREST("scale=2 num_args=1 workspace=0 num_filter=4", "0x3x4x5"),
    NEAREST("scale=2 num_args=1", "1x3x0x5"),
    NEAREST("scale=4 num_args=3", "2x3x2x3 2x1x4x6 2x2x8x12"),
    NEAREST("scale=1 num_args=2", "1x2x4x6 1x3x2x3"),
    NEAREST("scale=4 num_args=3 multi_input_mode=sum", "2x3x2x3 2x3x4x6 2x3x8x12"),
    NEAREST("scale=2 num_args=1 multi_input_mode=sum", "2x3x2x3"),
    NEAREST("scale=2 num_args=2 multi_input_mode=concat", "1x2x1x5 1x2x2x10"),
    BILINEAR("scale=2 num_filter=3 num_args=2", "2x3x4x5 3x1x4x4"),
    BILINEAR("scale=3 num_filter=2 num_args=2", "1x2x3x2 2x1x5x5"),
    BILINEAR("scale=1 num_filter=2 num_args=1", "1x2x3x3 2x1x1x1"),
    BILINEAR("scale=4 num_filter=1 num_args=1", "1x1x1x1 1x1x8x8"),
    BILINEAR("scale=2 num_filter=4 num_args=2", "2x4x1x7 4x1x4x4"),
    BILINEAR("scale=5 num_filter=1 num_args=2", "1x1x3x4 1x1x9x9"),
    BILINEAR("scale=2 num_filter=2 num_args=2", "1x2x13x17 2x1x4x4"),
    BILINEAR("scale=2 num_filter=3 num_args=2", "0x3x4x5 3x1x4x4"),
    FAILS("UpSampling", "scale=2 sample_type=bilinear num_args=2", "1x1x2x2 1x1x4x4", MXC_EINVAL, "needs num_filter"),
    FAILS("UpSampling", "scale=2 sample_type=bilinear num_filter=3 num_args=2", "1x1x2x2 1x1x4x4", MXC_ESHAPE,
          "argument 'data': expected shape (?,3,?,?)"),
    FAILS("UpSampling", "scale=2 sample_type=bilinear num_filter=1 num_args=2", "1x1x2x2 1x1x3x3", MXC_ESHAPE,
          "argument 'weight'"),
    FAILS("UpSampling", "scale=2 sample_type=bilinear num_filter=1 num_args=1", "1x1x2x2", MXC_EINVAL, "expected 2"),
    INFERS("UpSampling", "scale=2 sample_type=bilinear num_filter=3 num_args=1",
           "?x?x4x5,? -> 2x?x?x? => 2x3x4x5,3x1x4x4 -> 2x3x8x10"),
    FAILS("UpSampling", "scale=0 sample_type=nearest num_args=1", "1x1x2x2", MXC_EINVAL, "scale"),
    FAILS("UpSampling", "scale=2 sample_type=nearest num_args=1", "1x2x2", MXC_ESHAPE, "argument 'arg0'"),
    FAILS("UpSampling", "scale=2 sample_type=nearest num_args=2", "1x1x0x0 1x1x3x5", MXC_ESHAPE,
          "3 x 5 elements do not become 0 x 0 by one whole factor"),
    FAILS("UpSampling", "scale=2 sample_type=nearest num_args=2", "1x1x2x2 1x1x3x3", MXC_ESHAPE,
          "argument 1: 3 x 3 elements do not become 4 x 4"),
    FAILS("UpSampling", "scale=2 sample_type=nearest num_args=2", "1x1x2x2 1x1x2x4", MXC_ESHAPE, "by one whole factor"),
    FAILS("UpSampling", "scale=2 sample_type=nearest num_args=2 multi_input_mode=sum", "1x1x2x2 1x2x2x2", MXC_ESHAPE,
          "argument 'arg"),
    FAILS("UpSampling", "scale=2 sample_type=nearest num_args=2", "1x1x2x2 2x1x2x2", MXC_ESHAPE, "argument 'arg1'"),
    INFERS("UpSampling", "scale=2 sample_type=nearest num_args=2",
           "?,3x2x8x8 -> ?x6x8x8 => 3x4x4x4,3x2x8x8 -> 3x6x8x8"),
};

MXC_CASES(nn_upsampling_cases, cases);

/* Cases of the operators for images: L2Normalization, Pad, UpSampling; and MakeLoss. */
#include <math.h>
#include <stdlib.h>

#include "operator/cases.h"

/* ---- L2Normalization ------------------------------------------------------------------------------------------- */

/* The group of element i: its sample, with its channel or its place. */
static int64_t group_of(const op_run *r, int64_t i) {
    const mxc_shape *s = &r->in_shape[0];
    int64_t places = 1, channels = s->ndim > 1 ? s->dim[1] : 1;
    for (int k = 2; k < s->ndim; k++)
        places *= s->dim[k];
    if (case_is(r, "mode", "spatial"))
        return i / places;
    if (case_is(r, "mode", "channel"))
        return i / places / channels * places + i % places;
    return i / (places * channels);
}

static void ref_l2(const op_run *r) {
    int64_t n = case_size(&r->in_shape[0]), *group = malloc(((size_t)n + 1) * sizeof *group);
    double eps = case_number(r, "eps", 1e-10), *sum = malloc(((size_t)n + 1) * sizeof *sum); /* one for each group */
    for (int64_t i = 0; i < n; i++) {
        group[i] = group_of(r, i);
        sum[i] = eps;
    }
    for (int64_t i = 0; i < n; i++)
        sum[group[i]] += r->in[0][i] * r->in[0][i];
    for (int64_t i = 0; i < n; i++)
        r->out[0][i] = r->in[0][i] / sqrt(sum[group[i]]);
    free(group);
    free(sum);
}

#define L2(given, shapes) RUN("L2Normalization", given, shapes, ref_l2)

/* ---- Pad --------------------------------------------------------------------------------------------------------- */

static void ref_pad(const op_run *r) {
    const mxc_shape *in = &r->in_shape[0], *out = &r->out_shape[0];
    mxc_tuple width = case_tuple(r, "pad_width");
    int is_reflect = case_is(r, "mode", "reflect"), is_constant = case_is(r, "mode", "constant");
    double constant = case_number(r, "constant_value", 0);
    for (int64_t o = 0; o < case_size(out); o++) {
        int64_t rest = o, from = 0, step = 1;
        int outside = 0;
        for (int k = in->ndim - 1; k >= 0; k--) {
            int64_t i = rest % out->dim[k] - width.value[2 * k], last = in->dim[k] - 1;
            outside |= i < 0 || i > last;
            if (is_reflect)
                i = llabs(i > last ? 2 * last - i : i);
            i = i < 0 ? 0 : i > last ? last : i;
            from += i * step;
            step *= in->dim[k];
            rest /= out->dim[k];
        }
        r->out[0][o] = outside && is_constant ? constant : r->in[0][from];
    }
}

#define PAD(given, shapes) RUN("Pad", given, shapes, ref_pad)

/* ---- UpSampling -------------------------------------------------------------------------------------------------- */

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

/* ---- MakeLoss ---------------------------------------------------------------------------------------------------- */

static void ref_loss(const op_run *r) {
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        r->out[0][i] = r->in[0][i];
}

static void grad_loss(const op_run *r) {
    int64_t n = case_size(&r->in_shape[0]);
    double count = 0;
    for (int64_t i = 0; i < n; i++)
        count += r->in[0][i] > case_number(r, "valid_thresh", 0);
    if (!case_is(r, "normalization", "valid"))
        count = case_is(r, "normalization", "batch") ? (double)r->in_shape[0].dim[0] : 1;
    for (int64_t i = 0; i < n; i++)
        r->in_grad[0][i] = case_number(r, "grad_scale", 1) / fmax(count, 1);
}

#define LOSS(given, shapes) \
    { .op = "MakeLoss", .params = given, .in = shapes, .reference = ref_loss, .gradient = grad_loss }

static const op_case cases[] = {
    L2("", "3x5; 7x1@0.5:2; 1@0.5:2; 65x3@0.5:2; 17@0.5:2; 2x1x3x1x2@0.5:2; 5x9@-1:1nf"),
    L2("eps=1", "7"),
    L2("eps=0.5", "2x3x4x5"),
    L2("", "2x1x1"),
    L2("", "0x3x2"),
    L2("", "2x3x0"),
    L2("", "1x500"),
    L2("mode=spatial", "2x3x4"),
    L2("mode=spatial", "2x3x13x11"),
    L2("mode=spatial eps=0.1", "1x2x2x3x4"),
    L2("mode=spatial", "2x3x1@0.5:1"),
    L2("mode=channel", "2x3x4"),
    L2("mode=channel", "2x5x3x7"),
    L2("mode=channel", "1x7x1"),
    L2("mode=channel", "1x3x131"),
    L2("mode=channel eps=2", "2x1x4"),
    L2("mode=channel", "2x0x3"),
    FAILS("L2Normalization", "mode=channel", "2x3", MXC_ESHAPE, "expected at least 3 axes, found 2"),
    FAILS("L2Normalization", "mode=batch", "2x3", MXC_EINVAL, "mode"),
    INFERS("L2Normalization", "", "?x3 -> 2x? => 2x3 -> 2x3"),
    PAD("mode=constant pad_width=(0,0,0,0,1,2,3,4)", "2x3x4x5; 1x1x1x1; 7x1x2x2; 1x7x1x3; 1x1x33x2; 2x3x4x5@-1:1nf"),
    PAD("mode=constant pad_width=(0,0,0,0,0,0,1,0) constant_value=2.5", "1x1x1x1"),
    PAD("mode=constant pad_width=(0,0,0,0,1,0,2,1,0,3) constant_value=-1", "2x1x3x2x4"),
    PAD("mode=constant pad_width=(0,0,0,0,1,1,1,1)", "0x2x3x3"),
    PAD("mode=constant pad_width=(0,0,0,0,1,1,1,1) constant_value=0.5", "1x2x0x3"),
    PAD("mode=constant pad_width=(0,0,0,0,0,0,0,0)", "2x2x3x3"),
    PAD("mode=constant pad_width=(0,0,0,0,1,1,7,5)", "1x2x3x600"),
    PAD("mode=edge pad_width=(0,0,0,0,1,2,3,4)", "2x3x4x5"),
    PAD("mode=edge pad_width=(0,0,0,0,5,5,7,7)", "1x2x1x1"),
    PAD("mode=edge pad_width=(0,0,0,0,1,0,2,1,0,3)", "2x1x3x2x4"),
    PAD("mode=edge pad_width=(0,0,0,0,0,0,0,0,2,2)", "1x2x2x2x600"),
    PAD("mode=edge pad_width=(0,0,0,0,0,0,2,2)", "1x0x3x3"),
    PAD("mode=reflect pad_width=(0,0,0,0,1,2,3,4)", "2x3x4x5"),
    PAD("mode=reflect pad_width=(0,0,0,0,2,2,2,2)", "1x1x3x3"),
    PAD("mode=reflect pad_width=(0,0,0,0,1,0,1,1,0,3)", "2x1x3x2x4"),
    PAD("mode=reflect pad_width=(0,0,0,0,1,1,599,2)", "1x2x2x600"),
    FAILS("Pad", "mode=constant pad_width=(0,0,0,0,1,1)", "1x1x3", MXC_EINVAL, "pad_width has 6 entries"),
    FAILS("Pad", "mode=constant pad_width=(0,0,1,0,1,1,0,0)", "1x1x3x3", MXC_EINVAL, "the first two axes stay"),
    FAILS("Pad", "mode=constant pad_width=(0,0,0,0,1,-1,0,0)", "1x1x3x3", MXC_EINVAL, "pad_width"),
    FAILS("Pad", "mode=constant pad_width=(0,0,0,0,1,1,0,0)", "1x1x3x3x3", MXC_ESHAPE, "argument 'data'"),
    FAILS("Pad", "mode=edge pad_width=(0,0,0,0,1,1,0,0)", "1x1x0x3", MXC_ESHAPE,
          "axis 2 has 0 elements, expected at least 1 to be padded"),
    FAILS("Pad", "mode=reflect pad_width=(0,0,0,0,0,0,1,3)", "1x1x3x3", MXC_ESHAPE,
          "axis 3 has 3 elements, expected at least 4 to be padded"),
    INFERS("Pad", "mode=edge pad_width=(0,0,0,0,1,1,0,2)", "?x3x4x? -> 2x?x?x7 => 2x3x4x5 -> 2x3x6x7"),
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
    LOSS("", "3x5" CASE_EACH(CASE_ONE) "; 5x9@-1:1nf"),
    LOSS("grad_scale=0.5", "7"),
    LOSS("grad_scale=3 normalization=batch", "4x2x3"),
    LOSS("grad_scale=3 normalization=batch", "0x3"),
    LOSS("normalization=valid", "5x31"),
    LOSS("normalization=valid valid_thresh=0.5 grad_scale=2", "3x400"),
    LOSS("normalization=valid valid_thresh=9", "4x2"),
    LOSS("normalization=valid", "s"),
    FAILS("MakeLoss", "normalization=mean", "3", MXC_EINVAL, "normalization"),
    INFERS("MakeLoss", "", "?x3 -> 2x? => 2x3 -> 2x3"),
};

MXC_CASES(vision_cases, cases);

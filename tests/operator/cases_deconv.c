/* Cases of Deconvolution. */
#include "operator/cases.h"

/* Up to three spatial axes, the last ones; missing ones are 1. */
typedef struct geometry {
    int64_t in[3], out[3], kernel[3], stride[3], dilate[3], pad[3];
} geometry;

static int64_t entry(const mxc_tuple *tuple, int axis, int64_t initial) {
    return axis < 0 || tuple->n == 0 ? initial : tuple->value[axis];
}

static geometry geometry_of(const op_run *r) {
    mxc_tuple kernel = case_tuple(r, "kernel"), stride = case_tuple(r, "stride"), dilate = case_tuple(r, "dilate"),
              pad = case_tuple(r, "pad"), target = case_tuple(r, "target_shape");
    geometry g;
    for (int i = 0; i < 3; i++) {
        int axis = i - (3 - kernel.n);
        g.in[i] = axis < 0 ? 1 : r->in_shape[0].dim[axis + 2];
        g.out[i] = axis < 0 ? 1 : r->out_shape[0].dim[axis + 2];
        g.kernel[i] = entry(&kernel, axis, 1);
        g.stride[i] = entry(&stride, axis, 1);
        g.dilate[i] = entry(&dilate, axis, 1);
        g.pad[i] = entry(&pad, axis, 0);
        if (axis >= 0 && target.n) /* what is too much goes, the odd one from the front */
            g.pad[i] = (g.stride[i] * (g.in[i] - 1) + g.dilate[i] * (g.kernel[i] - 1) + 1 - target.value[axis] + 1) / 2;
    }
    return g;
}

static int64_t volume(const int64_t axes[3]) {
    return axes[0] * axes[1] * axes[2];
}

/* The output element where place k of the kernel of input element p falls; -1: cut off. */
static int64_t target_of(const geometry *g, int64_t p, int64_t k) {
    int64_t at[3], index = 0;
    for (int i = 2; i >= 0; i--) {
        at[i] = p % g->in[i] * g->stride[i] + k % g->kernel[i] * g->dilate[i] - g->pad[i];
        p /= g->in[i];
        k /= g->kernel[i];
    }
    for (int i = 0; i < 3; i++) {
        if (at[i] < 0 || at[i] >= g->out[i])
            return -1;
        index = index * g->out[i] + at[i];
    }
    return index;
}

typedef void (*visitor)(const op_run *r, int64_t out, int64_t data, int64_t weight);

static void each_product(const op_run *r, visitor visit) {
    geometry g = geometry_of(r);
    int64_t channels = r->in_shape[0].dim[1], per = r->in_shape[1].dim[1], filters = r->out_shape[0].dim[1];
    int64_t in = volume(g.in), out = volume(g.out), places = volume(g.kernel);
    for (int64_t i = 0; i < case_size(&r->in_shape[0]); i++)
        for (int64_t f = 0; f < per; f++)
            for (int64_t k = 0; k < places; k++) {
                int64_t c = i / in % channels, at = target_of(&g, i % in, k);
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

#define RUN(given, shapes)                                                                                             \
    {.op = "Deconvolution", .params = given, .in = shapes, .reference = ref_deconv, .gradient = grad_deconv,           \
     .tolerance = 8}
#define FAILS(given, shapes, code, text) \
    {.op = "Deconvolution", .params = given, .in = shapes, .status = code, .error = text}

static const op_case cases[] = {
    RUN("kernel=(3,3) num_filter=2", "2x3x4x5 3x2x3x3; 1x1x1x1 1x2x3x3; 7x1x2x2 1x2x3x3; 1x2x1x9 2x2x3x3; "
                                     "1x7x3x3 7x2x3x3; 2x3x4x5@-1:1n 3x2x3x3"),
    RUN("kernel=(3,3) num_filter=2 no_bias=False", "2x3x4x5 3x2x3x3 2"),
    RUN("kernel=(2,2) stride=(2,2) num_filter=3 no_bias=False", "1x2x3x3 2x3x2x2 3"),
    RUN("kernel=(4,4) stride=(2,2) pad=(1,1) num_filter=5", "2x4x5x6 4x5x4x4"),
    RUN("kernel=(3,3) stride=(2,2) pad=(1,1) adj=(1,1) num_filter=2", "2x3x4x5 3x2x3x3"),
    RUN("kernel=(3,2) stride=(3,2) adj=(2,1) num_filter=1", "1x1x2x3 1x1x3x2"),
    RUN("kernel=(3,3) dilate=(2,2) num_filter=2", "1x3x4x4 3x2x3x3"),
    RUN("kernel=(3,3) num_group=2 num_filter=4 no_bias=False", "2x6x3x4 6x2x3x3 4"),
    RUN("kernel=(4,4) stride=(2,2) pad=(1,1) num_group=3 num_filter=3", "2x3x5x5 3x1x4x4"),
    RUN("kernel=(4,4) stride=(2,2) target_shape=(8,9) num_filter=2", "1x3x4x4 3x2x4x4"),
    RUN("kernel=(3,3) target_shape=(5,4) num_filter=2", "1x3x4x4 3x2x3x3"),
    RUN("kernel=(3) stride=(2) num_filter=3 no_bias=False", "2x2x7 2x3x3 3"),
    RUN("kernel=(2,3,2) stride=(1,2,1) pad=(0,1,0) num_filter=2", "1x2x3x3x2 2x2x2x3x2"),
    RUN("kernel=(1,1) num_filter=4", "2x3x5x5 3x4x1x1"),
    RUN("kernel=(1,1) num_filter=1", "1x1x1x1 1x1x1x1"),
    RUN("kernel=(5,5) pad=(2,2) num_filter=8 no_bias=False", "2x16x17x19 16x8x5x5 8"),
    RUN("kernel=(3,3) num_filter=2 no_bias=False", "0x3x4x5 3x2x3x3 2"),
    FAILS("num_filter=2", "2x3x4x5 3x2x3x3", MXC_EINVAL, "\"kernel\" is missing"),
    FAILS("kernel=(3,3) num_filter=2 stride=(1)", "2x3x4x5 3x2x3x3", MXC_EINVAL, "stride has 1 entries"),
    FAILS("kernel=(3,3) num_filter=2 adj=(1,1)", "2x3x4x5 3x2x3x3", MXC_EINVAL, "adj of axis 0 is 1"),
    FAILS("kernel=(3,3) num_filter=3 num_group=2", "2x4x4x5 4x1x3x3", MXC_EINVAL, "not a multiple of num_group"),
    FAILS("kernel=(3,3) num_filter=4 num_group=2", "2x3x4x5 3x2x3x3", MXC_ESHAPE, "3 channels, expected a multiple"),
    FAILS("kernel=(3,3) num_filter=2", "2x3x4x5 3x4x3x3", MXC_ESHAPE, "argument 'weight'"),
    FAILS("kernel=(3,3) num_filter=2", "2x3x0x5 3x2x3x3", MXC_ESHAPE, "spatial axis 0 has 0 elements"),
    FAILS("kernel=(3,3) num_filter=2 pad=(3,3)", "2x3x4x5 3x2x3x3", MXC_ESHAPE, "leaves nothing"),
    FAILS("kernel=(3,3) num_filter=2 target_shape=(7,4)", "2x3x4x5 3x2x3x3", MXC_ESHAPE, "target_shape of axis 0 is 7"),
    FAILS("kernel=(3,3) num_filter=2 layout=NHWC", "2x3x4x5 3x2x3x3", MXC_EUNSUPPORTED, "only layouts"),
    {.op = "Deconvolution", .params = "kernel=(4,4) stride=(2,2) pad=(1,1) num_filter=6 no_bias=False",
     .infer = "?x3x8x8,?,? -> 2x?x?x? => 2x3x8x8,3x6x4x4,6 -> 2x6x16x16"},
};

MXC_CASES(deconv_cases, cases);

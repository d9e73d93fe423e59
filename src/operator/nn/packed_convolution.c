/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _packed_convolution: what a Convolution of floats with channels last is in inference on a CPU. Its weight was packed
 * by _pack_convolution, once where parameters do not change; it also adds an array to its output and rectifies it, so
 * that these take no pass over memory. The algorithm is a parameter of both, because each has its own packing.
 *
 * Which threads compute a pixel changes no result.
 */
#include "operator/nn/packed_convolution.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "operator/nn/packed_convolution_kernels.h"
#include "operator/nn/packed_winograd.h"
#include "operator/op.h"

enum { DATA, WEIGHT, THIRD };

/* Of _packed_convolution_add. */
static int has_addend(int n_in, const mxci_packed_params *p) {
    return n_in > THIRD + !p->conv.no_bias;
}

enum {
    STRIPS_LIMIT = 32,    /* of a block */
    UNITS = 8,            /* for each thread, at least */
    JOINED_CHANNELS = 16, /* of a tap, at most, whose row is joined */
};

#define COMMON_PARAMS                                                                                                  \
    MXCI_PACKED_GEOMETRY, MXCI_PACKED_PARAM(num_group, MXC_PARAM_INT, "1", 1, 100000), {                               \
        MXC_PARAM_FIELD(mxci_packed_params, algorithm),                                                                \
            .name = "algorithm", .type = MXC_PARAM_ENUM, .initial = "direct", .choices = "direct,by_channel,winograd", \
            .doc = "How to convolve, by which weights are packed. by_channel: for one filter a channel; winograd: "    \
                   "for 3x3 with stride 1."                                                                            \
    }

static const mxc_param pack_schema[] = {COMMON_PARAMS, MXC_PARAM_END};

static const mxc_param schema[] = {
    COMMON_PARAMS,
    {MXC_PARAM_FIELD(mxci_conv_params, no_bias), .name = "no_bias", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Leave out the argument bias."},
    {MXC_PARAM_FIELD(mxci_packed_params, slope), .name = "slope", .type = MXC_PARAM_FLOAT, .initial = "1",
     .doc = "What to multiply negative sums by. 0: relu; 1: keep them."},
    {MXC_PARAM_FIELD(mxci_packed_params, limit), .name = "limit", .type = MXC_PARAM_FLOAT, .non_finite = 1,
     .initial = "inf", .doc = "Largest output. inf: not limited."},
    MXC_PARAM_END,
};

static int is_winograd(const mxci_conv_params *p) {
    int is_one = p->num_group == 1 && p->kernel.n == 2;
    for (int i = 0; i < 2 && is_one; i++)
        is_one = p->kernel.value[i] == 3 && p->stride.value[i] == 1 && p->dilate.value[i] == 1;
    return is_one;
}

/* Of all axes but the last. */
static int64_t kernel_rows(const mxci_conv_params *p) {
    int64_t rows = 1;
    for (int i = 0; i < p->kernel.n - 1; i++)
        rows = mxci_dim_mul(rows, p->kernel.value[i]);
    return rows;
}

static mxc_status packed_check(void *params) {
    mxci_packed_params *p = params;
    p->conv.layout = -1;
    MXC_TRY(mxci_conv_check(&p->conv));
    if (p->algorithm == MXCI_PACKED_BY_CHANNEL && p->conv.num_filter != p->conv.num_group)
        return MXC_FAIL(MXC_EINVAL, "algorithm by_channel with %lld filters in %lld groups, expected as many",
                        (long long)p->conv.num_filter, (long long)p->conv.num_group);
    if (p->algorithm == MXCI_PACKED_BY_CHANNEL && kernel_rows(&p->conv) > MXCI_PACKED_KERNEL_ROWS)
        return MXC_FAIL(MXC_EINVAL, "algorithm by_channel with %lld kernel rows, expected at most %d",
                        (long long)kernel_rows(&p->conv), MXCI_PACKED_KERNEL_ROWS);
    if (p->algorithm == MXCI_PACKED_WINOGRAD && !is_winograd(&p->conv))
        return MXC_FAIL(MXC_EINVAL, "algorithm winograd, expected a 3x3 kernel, stride and dilate 1, and one group");
    p->conv.layout = MXCI_PACKED_LAYOUT;
    return MXC_OK;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* The geometry for known shapes of data and output. */
static mxci_packed_conv measure(const mxci_packed_params *p, const mxc_shape *data, const mxc_shape *out) {
    mxci_packed_conv c;
    mxci_conv_shape shape = mxci_conv_group(&p->conv, data, out);
    mxci_packed_measure(&shape, data->dim[0], p->conv.num_group, &c);
    return c;
}

/* Elements of the packed weight. */
static int64_t packed_size(const mxci_packed_params *p, int64_t channels) {
    mxci_conv_shape shape = {.channels = channels / p->conv.num_group,
                             .filters = p->conv.num_filter / p->conv.num_group};
    mxci_packed_conv c;
    for (int i = 0; i < 3; i++)
        shape.kernel[i] = i < 3 - p->conv.kernel.n ? 1 : p->conv.kernel.value[i - (3 - p->conv.kernel.n)];
    mxci_packed_measure(&shape, 1, p->conv.num_group, &c);
    if (p->algorithm == MXCI_PACKED_BY_CHANNEL)
        return mxci_dim_mul(c.taps, channels);
    if (p->algorithm == MXCI_PACKED_WINOGRAD) {
        mxci_packed_winograd w;
        mxci_packed_winograd_plan(&shape, 1, 1, &w);
        return mxci_packed_winograd_elements(&w);
    }
    return mxci_packed_size(&c);
}

static mxc_status check_channels(mxc_op_sig *sig, const mxci_packed_params *p, int64_t channels) {
    if (channels > 0 && channels % p->conv.num_group == 0 &&
        (p->algorithm != MXCI_PACKED_BY_CHANNEL || channels == p->conv.num_group))
        return MXC_OK;
    return mxc_sig_fail(sig, "argument 'data': %lld channels, expected a multiple of num_group %lld%s",
                        (long long)channels, (long long)p->conv.num_group,
                        p->algorithm == MXCI_PACKED_BY_CHANNEL ? ", the same number" : "");
}

static mxc_status packed_infer_shape(mxc_op_sig *sig) {
    const mxci_packed_params *p = sig->params;
    const int ndim = p->conv.kernel.n + 2;
    mxc_shape data = mxci_shape_axes(ndim), out = data, weight = mxci_shape_axes(1);
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    out.dim[ndim - 1] = p->conv.num_filter;
    out.dim[0] = sig->in_shape[DATA].dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    sig->in_shape[DATA].dim[0] = sig->out_shape[0].dim[0];
    for (int i = 0; i < p->conv.kernel.n; i++)
        MXC_TRY(mxci_conv_infer_axis(sig, i));
    if (!p->conv.no_bias)
        MXC_TRY(mxc_sig_set_shape(sig, THIRD, &(mxc_shape){.ndim = 1, .dim = {p->conv.num_filter}}));
    if (has_addend(sig->n_in, p))
        MXC_TRY(mxci_sig_same_shape(sig, 2, (int[]){sig->n_in - 1, MXC_SLOT_OUT(0)}));
    const int64_t channels = sig->in_shape[DATA].dim[ndim - 1];
    if (channels >= 0) {
        MXC_TRY(check_channels(sig, p, channels));
        weight.dim[0] = packed_size(p, channels);
    }
    return mxc_sig_set_shape(sig, WEIGHT, &weight);
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

static mxc_status pack_infer_shape(mxc_op_sig *sig) {
    const mxci_packed_params *p = sig->params;
    const int ndim = p->conv.kernel.n + 2;
    mxc_shape weight = mxci_shape_axes(ndim), out = mxci_shape_axes(1);
    weight.dim[0] = p->conv.num_filter;
    for (int i = 0; i < p->conv.kernel.n; i++)
        weight.dim[i + 1] = p->conv.kernel.value[i];
    MXC_TRY(mxc_sig_set_shape(sig, 0, &weight));
    const int64_t each = sig->in_shape[0].dim[ndim - 1];
    if (each == 0 || (p->algorithm == MXCI_PACKED_BY_CHANNEL && each > 1))
        return mxc_sig_fail(sig, "argument 'weight': %lld channels, expected %s", (long long)each,
                            p->algorithm == MXCI_PACKED_BY_CHANNEL ? "1" : "at least 1");
    if (each > 0)
        out.dim[0] = packed_size(p, mxci_dim_mul(each, p->conv.num_group));
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out);
}

typedef struct pack_run {
    mxci_packed_conv conv;
    const float *weight;
    int add;
    float *to;
} pack_run;

static void pack_part(void *arg, int64_t begin, int64_t end, int part) {
    const pack_run *r = arg;
    (void)part;
    mxci_packed_pack(&r->conv, r->weight, r->add, r->to, begin, end);
}

/* (C,taps) to (taps,C). */
static void pack_channels(const pack_run *r) {
    const mxci_packed_conv *c = &r->conv;
    for (int64_t channel = 0; channel < c->in_pixel; channel++)
        for (int64_t tap = 0; tap < c->taps; tap++) {
            float *to = &r->to[tap * c->in_pixel + channel];
            *to = (r->add ? *to : 0) + r->weight[channel * c->taps + tap];
        }
}

static mxc_status pack_forward(const mxc_op_call *call) {
    const mxci_packed_params *p = call->params;
    const mxc_tensor *weight = &call->in[0];
    const int ndim = weight->shape.ndim;
    mxc_shape data = weight->shape, out = data; /* of which only the channels count */
    pack_run r = {.weight = weight->data, .add = call->req[0] == MXC_REQ_ADD, .to = call->out[0].data};
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    data.dim[ndim - 1] = weight->shape.dim[ndim - 1] * p->conv.num_group;
    out.dim[ndim - 1] = p->conv.num_filter;
    r.conv = measure(p, &data, &out);
    if (p->algorithm == MXCI_PACKED_WINOGRAD) {
        const mxci_conv_shape shape = mxci_conv_group(&p->conv, &data, &out);
        mxci_packed_winograd w;
        mxci_packed_winograd_plan(&shape, 1, 1, &w);
        mxci_packed_winograd_pack(call->run, &w, r.weight, r.add, r.to);
        return MXC_OK;
    }
    if (p->algorithm == MXCI_PACKED_BY_CHANNEL)
        pack_channels(&r);
    else
        mxc_parallel_for_dynamic(call->run, r.conv.groups * r.conv.panels, 1, pack_part, &r);
    return MXC_OK;
}

/* ---- convolution ------------------------------------------------------------------------------------------------- */

/* Blocks of pixels times the panels of all groups are the units of work. */
typedef struct packed_plan {
    mxci_packed_conv conv;
    int64_t pixels, block, panels;
    int64_t points;      /* of a block */
    int64_t pad, padded; /* pixels before and behind each row of the images, and floats of images with these; or 0 */
} packed_plan;

/* With few channels, the taps of a kernel's row are one tap of more channels, since they lie side by side: loops over
 * channels are long then. Needs rows with their padding. */
static void join_taps(packed_plan *plan) {
    mxci_packed_conv *c = &plan->conv;
    mxci_conv_shape *s = &c->shape;
    if (c->groups > 1 || c->merged > 1 || s->channels > JOINED_CHANNELS || s->kernel[2] == 1 || s->dilate[2] != 1)
        return;
    plan->pad = s->pad[2];
    s->in[2] = mxci_dim_add(s->in[2], mxci_dim_mul(2, plan->pad));
    s->pad[2] = 0;
    s->channels *= s->kernel[2];
    c->taps /= s->kernel[2];
    s->kernel[2] = 1;
    if (plan->pad > 0)
        plan->padded =
            mxci_dim_mul(mxci_dim_mul(c->batch, mxci_dim_mul(s->in[0], s->in[1])), mxci_dim_mul(s->in[2], c->in_pixel));
}

int64_t mxci_packed_block(int64_t strips, int64_t panels, int64_t strip_points, int parts) {
    const int64_t blocks = (UNITS * (int64_t)parts + panels - 1) / panels,
                  points = MXCI_PACKED_POINTS_LIMIT / strip_points;
    int64_t block = (strips + blocks - 1) / blocks;
    block = block < STRIPS_LIMIT ? block : STRIPS_LIMIT;
    block = block < points ? block : points;
    return block > 1 ? block : 1;
}

static packed_plan make_plan(const mxci_packed_params *p, const mxc_shape *data, const mxc_shape *out, int parts) {
    packed_plan plan = {.conv = measure(p, data, out)};
    const mxci_packed_conv *c = &plan.conv;
    if (p->algorithm == MXCI_PACKED_DIRECT)
        join_taps(&plan);
    const int64_t strip_points = mxci_dim_mul(c->taps, MXCI_PACKED_STRIP);
    plan.panels = c->groups * c->panels;
    plan.pixels = mxc_shape_size(out) / c->out_pixel;
    const int64_t strips = (plan.pixels + MXCI_PACKED_STRIP - 1) / MXCI_PACKED_STRIP;
    const int64_t block = mxci_packed_block(strips, plan.panels, strip_points, parts);
    plan.block = block * MXCI_PACKED_STRIP;
    plan.points = mxci_dim_mul(block, strip_points);
    return plan;
}

typedef struct packed_scratch {
    float *zeros;
    const float **points; /* for each part */
    float *padded;
} packed_scratch;

/* Floats that a tap may read. */
static int64_t tap_floats(const mxci_packed_conv *c) {
    return c->in_pixel > c->shape.channels ? c->in_pixel : c->shape.channels;
}

static packed_scratch take_scratch(const packed_plan *plan, int parts, mxci_scratch *s) {
    packed_scratch scratch;
    scratch.zeros = mxci_scratch_array(s, tap_floats(&plan->conv), sizeof(float));
    scratch.padded = mxci_scratch_array(s, plan->padded, sizeof(float));
    scratch.points = mxci_scratch_array(s, mxci_dim_mul(parts, plan->points), sizeof(float *));
    return scratch;
}

static mxci_packed_winograd plan_winograd(const mxci_packed_params *p, const mxc_shape *data, const mxc_shape *out,
                                          int parts) {
    const mxci_conv_shape shape = mxci_conv_group(&p->conv, data, out);
    mxci_packed_winograd w;
    mxci_packed_winograd_plan(&shape, data->dim[0], parts, &w);
    return w;
}

static size_t packed_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const mxci_packed_params *p = sig->params;
    mxci_scratch s = {0};
    (void)pass;
    if (mxc_shape_size(&sig->out_shape[0]) == 0 || p->algorithm == MXCI_PACKED_BY_CHANNEL)
        return 0;
    if (p->algorithm == MXCI_PACKED_WINOGRAD) {
        const mxci_packed_winograd w = plan_winograd(p, &sig->in_shape[DATA], &sig->out_shape[0], sig->parallelism);
        mxci_packed_winograd_scratch(&w, sig->parallelism, &s);
        return s.bytes;
    }
    const packed_plan plan = make_plan(p, &sig->in_shape[DATA], &sig->out_shape[0], sig->parallelism);
    take_scratch(&plan, sig->parallelism, &s);
    return s.bytes;
}

typedef struct packed_run {
    packed_plan plan;
    packed_scratch scratch;
    const float *in, *weight;
    mxci_packed_epilogue epilogue;
    float *out;
} packed_run;

/* Units begin..end-1: the panels of a block follow each other, and share its points. */
static void direct_part(void *arg, int64_t begin, int64_t end, int part) {
    const packed_run *r = arg;
    const packed_plan *plan = &r->plan;
    const float **points = r->scratch.points + part * plan->points;
    for (int64_t unit = begin; unit < end; unit++) {
        const int64_t first = unit / plan->panels * plan->block, panel = unit % plan->panels;
        const int64_t last = plan->pixels - first < plan->block ? plan->pixels : first + plan->block;
        if (unit == begin || panel == 0)
            mxci_packed_points(&plan->conv, r->in, r->scratch.zeros, first, last, points);
        mxci_packed_direct(&plan->conv, points, r->weight, &r->epilogue, r->out, first, last, panel);
    }
}

static void channel_part(void *arg, int64_t begin, int64_t end, int part) {
    const packed_run *r = arg;
    (void)part;
    mxci_packed_by_channel(&r->plan.conv, r->in, r->weight, &r->epilogue, r->out, begin, end);
}

/* Units that are worth a thread of their own, about 0.3 MFLOP. */
static int64_t packed_grain(double products) {
    return (int64_t)(1.5e5 / (products + 1)) + 1;
}

/* Rows begin..end-1 of the images, with their padding. */
static void pad_part(void *arg, int64_t begin, int64_t end, int part) {
    const packed_run *r = arg;
    const packed_plan *plan = &r->plan;
    const int64_t width = plan->conv.shape.in[2] * plan->conv.in_pixel, edge = plan->pad * plan->conv.in_pixel;
    const int64_t inside = width - 2 * edge;
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        float *row = r->scratch.padded + i * width;
        memset(row, 0, (size_t)edge * sizeof *row);
        memcpy(row + edge, r->in + i * inside, (size_t)inside * sizeof *row);
        memset(row + edge + inside, 0, (size_t)edge * sizeof *row);
    }
}

static void run_direct(const mxc_op_call *call, packed_run *r, int parts) {
    const mxci_packed_conv *c = &r->plan.conv;
    r->scratch = take_scratch(&r->plan, parts, &(mxci_scratch){.base = call->temp});
    memset(r->scratch.zeros, 0, (size_t)tap_floats(c) * sizeof(float));
    if (r->plan.padded > 0) {
        mxc_parallel_for_dynamic(call->run, c->batch * c->shape.in[0] * c->shape.in[1],
                                 MXCI_GRAIN / (c->shape.in[2] * c->in_pixel) + 1, pad_part, r);
        r->in = r->scratch.padded;
    }
    const int64_t blocks = (r->plan.pixels + r->plan.block - 1) / r->plan.block;
    const double products =
        (double)(r->plan.block * mxci_packed_panel()) * (double)(c->taps * (c->spread ? c->spread : c->shape.channels));
    mxc_parallel_for_dynamic(call->run, blocks * r->plan.panels, packed_grain(products), direct_part, r);
}

static mxc_status packed_forward(const mxc_op_call *call) {
    const mxci_packed_params *p = call->params;
    const int parts = call->run ? mxc_engine_parallelism(call->run->engine) : 1;
    const mxc_tensor *data = &call->in[DATA], *out = &call->out[0];
    if (call->req[0] == MXC_REQ_NULL || mxci_tensor_size(out) == 0)
        return MXC_OK;
    packed_run r = {
        .plan = make_plan(p, &data->shape, &out->shape, parts),
        .in = data->data,
        .weight = call->in[WEIGHT].data,
        .epilogue = {.bias = p->conv.no_bias ? NULL : call->in[THIRD].data,
                     .addend = has_addend(call->n_in, p) ? call->in[call->n_in - 1].data : NULL,
                     .slope = (float)p->slope,
                     .limit = (float)p->limit,
                     .add = call->req[0] == MXC_REQ_ADD},
        .out = out->data,
    };
    const mxci_packed_conv *c = &r.plan.conv;
    if (p->algorithm == MXCI_PACKED_BY_CHANNEL) {
        mxc_parallel_for_dynamic(call->run, c->batch * c->shape.out[0] * c->shape.out[1],
                                 packed_grain((double)(c->shape.out[2] * c->taps * c->in_pixel)), channel_part, &r);
    } else if (p->algorithm == MXCI_PACKED_WINOGRAD) {
        const mxci_packed_winograd w = plan_winograd(p, &data->shape, &out->shape, parts);
        float *scratch = mxci_packed_winograd_scratch(&w, parts, &(mxci_scratch){.base = call->temp});
        mxci_packed_winograd_run(call->run, &w, r.in, r.weight, &r.epilogue, scratch, r.out);
    } else {
        run_direct(call, &r, parts);
    }
    return MXC_OK;
}

/* ---- slots ------------------------------------------------------------------------------------------------------- */

static int packed_n_args(const void *params) {
    return THIRD + !((const mxci_packed_params *)params)->conv.no_bias;
}

static const char *add_args_of(const void *params) {
    return ((const mxci_packed_params *)params)->conv.no_bias ? "data,weight,addend" : "data,weight,bias,addend";
}

static int add_n_args(const void *params) {
    return packed_n_args(params) + 1;
}

/* Each element of the addend is read before the output's is written, by the same thread. */
static const mxc_inplace *add_inplace(const mxc_op *op, mxc_pass pass) {
    static const mxc_inplace third[] = {{MXC_FROM_IN(THIRD), 0}, MXC_INPLACE_END};
    static const mxc_inplace fourth[] = {{MXC_FROM_IN(THIRD + 1), 0}, MXC_INPLACE_END};
    if (pass != MXC_FORWARD)
        return NULL;
    return mxc_op_n_args(op) > THIRD + 1 ? fourth : third;
}

/* ---- what passes ask --------------------------------------------------------------------------------------------- */

/* Operator name with what texts the convolution was given for its shape, and one parameter more. */
static mxc_status make_op(const mxc_op *conv, const char *name, int takes_bias, const char *algorithm, mxc_op **out) {
    static const char *const kept[] = {"kernel", "stride", "dilate", "pad", "num_filter", "num_group", "no_bias"};
    const char *keys[sizeof kept / sizeof *kept + 1], *values[sizeof kept / sizeof *kept + 1], *key, *value;
    int n = 0;
    for (int i = 0; i < mxc_op_n_given(conv); i++) {
        mxc_op_given(conv, i, &key, &value);
        for (size_t j = 0; j < sizeof kept / sizeof *kept - !takes_bias; j++)
            if (!strcmp(key, kept[j]) && n < (int)(sizeof kept / sizeof *kept)) {
                keys[n] = key;
                values[n++] = value;
            }
    }
    keys[n] = "algorithm";
    values[n++] = algorithm;
    return mxc_op_create(name, n, keys, values, out);
}

/* A group's products should fill vectors, or there should be a kernel for it. */
static int choose_algorithm(const mxci_conv_params *p, const mxci_conv_shape *s, int64_t batch, const char **out) {
    mxci_packed_conv c;
    mxci_packed_measure(s, 1, p->num_group, &c);
    *out = "direct";
    if (p->num_group > 1 && s->channels == 1 && s->filters == 1 &&
        s->kernel[0] * s->kernel[1] <= MXCI_PACKED_KERNEL_ROWS)
        *out = "by_channel";
    else if (mxci_packed_winograd_possible(s, p->num_group) && mxci_packed_winograd_pays(s, batch))
        *out = "winograd";
    else if (mxci_dim_mul(c.taps, MXCI_PACKED_STRIP) > MXCI_PACKED_POINTS_LIMIT)
        return 0;
    return 1;
}

mxc_status mxci_packed_convolution(const mxc_op_sig *sig, mxc_op **pack, mxc_op **packed) {
    const mxci_conv_params *p = sig->params;
    const char *algorithm;
    *pack = *packed = NULL;
    if (!mxci_conv_channels_last(p) || sig->in_type[DATA] != MXC_F32 || mxc_shape_size(&sig->in_shape[DATA]) == 0)
        return MXC_OK;
    const mxci_conv_shape shape = mxci_conv_group(p, &sig->in_shape[DATA], &sig->out_shape[0]);
    if (!choose_algorithm(p, &shape, sig->in_shape[DATA].dim[0], &algorithm))
        return MXC_OK;
    MXC_TRY(make_op(sig->op, "_pack_convolution", 0, algorithm, pack));
    const mxc_status status = make_op(sig->op, "_packed_convolution", 1, algorithm, packed);
    if (status != MXC_OK) {
        mxc_op_release(*pack);
        *pack = NULL;
    }
    return status;
}

/* The array is added, unless one is already; what rectifies comes last. */
static mxc_status packed_epilogue(const mxc_op *op, mxc_device device, const mxc_epilogue *what, mxc_op **out) {
    const mxci_packed_params *p = mxc_op_params(op);
    const char *const name = mxc_op_get_def(op)->name;
    char number[40];
    mxc_op *rectified;
    *out = NULL;
    if (device != MXC_CPU || p->slope != 1 || p->limit != INFINITY)
        return MXC_OK;
    if (what->adds)
        return has_addend(mxc_op_n_args(op), p) ? MXC_OK : mxci_op_like(op, "_packed_convolution_add", NULL, NULL, out);
    mxci_format(number, sizeof number, "%.17g", what->slope);
    MXC_TRY(mxci_op_like(op, name, "slope", number, &rectified));
    mxci_format(number, sizeof number, "%.17g", what->limit);
    const mxc_status status = mxci_op_like(rectified, name, "limit", number, out);
    mxc_op_release(rectified);
    return status;
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

const mxc_op_def mxci_op_pack_convolution = {
    .size = sizeof(mxc_op_def),
    .name = "_pack_convolution",
    .doc =
        "The weight (num_filter, kernel..., C / num_group) of a convolution as _packed_convolution reads it, (size,). "
        "The order depends on the processor.",
    .params = pack_schema,
    .param_size = sizeof(mxci_packed_params),
    .params_check = packed_check,
    .flags = MXC_OP_HIDDEN,
    .args = "weight",
    .infer_shape = pack_infer_shape,
    .dtypes = MXC_DTYPE_BIT(MXC_F32),
    .forward = {[MXC_CPU] = pack_forward},
};

#define PACKED_CONVOLUTION                                                                             \
    .size = sizeof(mxc_op_def), .params = schema, .param_size = sizeof(mxci_packed_params),            \
    .params_check = packed_check, .infer_shape = packed_infer_shape, .dtypes = MXC_DTYPE_BIT(MXC_F32), \
    .temp_bytes = packed_temp_bytes, .epilogue = packed_epilogue, .forward = {[MXC_CPU] = packed_forward}

const mxc_op_def mxci_op_packed_convolution = {
    PACKED_CONVOLUTION,
    .name = "_packed_convolution",
    .doc =
        "Convolution of data (N, spatial..., C), for inference on a CPU, by a weight from _pack_convolution with the "
        "same parameters: x = Convolution(data, weight, bias), output = min(limit, x < 0 ? slope x : x).",
    .args = "data,weight,bias",
    .n_args = packed_n_args,
    .flags = MXC_OP_SAMPLEWISE | MXC_OP_HIDDEN,
};

const mxc_op_def mxci_op_packed_convolution_add = {
    PACKED_CONVOLUTION,
    .name = "_packed_convolution_add",
    .doc = "The same with an array added: x = Convolution(data, weight, bias) + addend.",
    .flags = MXC_OP_HIDDEN,
    .args = "data,weight,bias,addend",
    .args_of = add_args_of,
    .n_args = add_n_args,
    .inplace = add_inplace,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolution: out[n,f,p] = bias[f] + sum over c, k of weight[f,c,k] data[n, c of f's group, stride p + dilate k -
 * pad].
 *
 * data (N,C,spatial), weight (F, C/groups, kernel), bias (F), out (N,F,spatial'), spatial' = (spatial + 2 pad -
 * dilate (kernel - 1) - 1) / stride + 1, for one to three spatial axes. Computed sample by sample and group by group
 * with the kernels of operator/nn/convolution_kernels.h, or by Winograd's algorithm (operator/nn/winograd.h) where that
 * is faster; channels last through copies. Every result is the same for any number of threads: forward and the data's
 * gradient are cut by samples (forward also by pixels), the weights' by weights.
 */
#include "operator/nn/convolution.h"

#include <string.h>

#include "base/text.h"
#include "operator/nn/packed_convolution.h"
#include "operator/nn/winograd.h"

typedef mxci_conv_params conv_params;

enum { DATA, WEIGHT, BIAS };

#define AXES_LIMIT 2147483647.0
const mxc_param mxci_conv_schema[] = {
    {MXC_PARAM_FIELD(conv_params, kernel), .name = "kernel", .type = MXC_PARAM_TUPLE, .bounded = 1, .minimum = 1,
     .maximum = AXES_LIMIT, .doc = "Kernel size of each spatial axis: (w), (h,w) or (d,h,w)."},
    {MXC_PARAM_FIELD(conv_params, stride), .name = "stride", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 1, .maximum = AXES_LIMIT, .doc = "Stride along each spatial axis. (): 1."},
    {MXC_PARAM_FIELD(conv_params, dilate), .name = "dilate", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 1, .maximum = AXES_LIMIT, .doc = "Dilation, the distance between neighbouring kernel elements. (): 1."},
    {MXC_PARAM_FIELD(conv_params, pad), .name = "pad", .type = MXC_PARAM_TUPLE, .initial = "()", .bounded = 1,
     .minimum = 0, .maximum = AXES_LIMIT, .doc = "Zero padding at both ends of each spatial axis. (): 0."},
    {MXC_PARAM_FIELD(conv_params, num_filter), .name = "num_filter", .type = MXC_PARAM_INT, .bounded = 1, .minimum = 1,
     .maximum = 100000, .doc = "Number of filters, the channels of the output."},
    {MXC_PARAM_FIELD(conv_params, num_group), .name = "num_group", .type = MXC_PARAM_INT, .initial = "1", .bounded = 1,
     .minimum = 1, .maximum = 100000, .doc = "Number of groups of channels that are convolved separately."},
    {MXC_PARAM_FIELD(conv_params, workspace), .name = "workspace", .type = MXC_PARAM_INT, .initial = "1024",
     .bounded = 1, .minimum = 0, .maximum = 8192, .doc = "Maximum scratch memory of cuDNN in MiB."},
    {MXC_PARAM_FIELD(conv_params, no_bias), .name = "no_bias", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Leave out the argument bias."},
    {MXC_PARAM_FIELD(conv_params, cudnn_tune), .name = "cudnn_tune", .type = MXC_PARAM_ENUM, .initial = "None",
     .choices = "off,limited_workspace,fastest", .optional = 1,
     .doc = "How the algorithm of cuDNN is chosen: off by its heuristics, limited_workspace by measuring those that "
            "fit workspace, fastest by measuring those that fit 8 GiB. None: limited_workspace."},
    {MXC_PARAM_FIELD(conv_params, cudnn_off), .name = "cudnn_off", .type = MXC_PARAM_BOOL, .initial = "False",
     .doc = "Do not use cuDNN."},
    {MXC_PARAM_FIELD(conv_params, layout), .name = "layout", .type = MXC_PARAM_ENUM, .initial = "None",
     .choices = "NCW,NCHW,NCDHW,NHWC,NDHWC", .optional = 1,
     .doc = "Order of the axes of data, weight and output: channels second or channels last. None: channels second."},
    MXC_PARAM_END,
};

static mxc_status complete_tuple(const char *name, mxc_tuple *tuple, int n, int64_t value) {
    if (tuple->n != 0 && tuple->n != n)
        return MXC_FAIL(MXC_EINVAL, "Convolution: %s has %d entries, kernel has %d", name, tuple->n, n);
    for (int i = tuple->n; i < n; i++)
        tuple->value[i] = value;
    tuple->n = n;
    return MXC_OK;
}

mxc_status mxci_conv_check(void *params) {
    conv_params *p = params;
    int n = p->kernel.n;
    if (n < 1 || n > 3)
        return MXC_FAIL(MXC_EINVAL, "Convolution: kernel has %d entries, expected 1 to 3", n);
    MXC_TRY(complete_tuple("stride", &p->stride, n, 1));
    MXC_TRY(complete_tuple("dilate", &p->dilate, n, 1));
    MXC_TRY(complete_tuple("pad", &p->pad, n, 0));
    if (p->num_filter % p->num_group != 0)
        return MXC_FAIL(MXC_EINVAL, "Convolution: num_filter %lld is not a multiple of num_group %lld",
                        (long long)p->num_filter, (long long)p->num_group);
    if (p->layout >= 0 && p->layout != n - 1 && (n < 2 || p->layout != n + 1))
        return MXC_FAIL(MXC_EINVAL, "Convolution: the layout is not one of the kernel's %d axes", n);
    return MXC_OK;
}

static int conv_args(const void *params) {
    return ((const conv_params *)params)->no_bias ? 2 : 3;
}

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

mxc_status mxci_conv_infer_axis(mxc_op_sig *sig, int i) {
    const conv_params *p = sig->params;
    int64_t reach = p->dilate.value[i] * (p->kernel.value[i] - 1) + 1, pad = 2 * p->pad.value[i];
    int axis = mxci_spatial_axis(mxci_conv_channels_last(p), i);
    int64_t *in = &sig->in_shape[DATA].dim[axis], *out = &sig->out_shape[0].dim[axis];
    mxc_shape expected = mxci_shape_axes(p->kernel.n + 2);
    if (*in < 0) {
        if (*out > 0 && p->stride.value[i] == 1 && *out - 1 + reach - pad >= 0)
            *in = *out - 1 + reach - pad;
        return MXC_OK;
    }
    if (*in + pad < reach)
        return mxc_sig_fail(sig,
                            "argument 'data': spatial axis %d has %lld elements and %lld of padding, fewer than the "
                            "%lld that the kernel spans",
                            i, (long long)*in, (long long)pad, (long long)reach);
    expected.dim[axis] = (*in + pad - reach) / p->stride.value[i] + 1;
    return mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &expected);
}

/* C is the weights' channels times num_group, both ways. */
static mxc_status infer_channels(mxc_op_sig *sig) {
    const conv_params *p = sig->params;
    const int axis = mxci_channel_axis(mxci_conv_channels_last(p), p->kernel.n + 2);
    int64_t *channels = &sig->in_shape[DATA].dim[axis], each = sig->in_shape[WEIGHT].dim[axis];
    mxc_shape expected = mxci_shape_axes(p->kernel.n + 2);
    if (*channels < 0) {
        if (each >= 0)
            *channels = mxci_dim_mul(each, p->num_group);
        return MXC_OK;
    }
    if (*channels == 0 || *channels % p->num_group != 0)
        return mxc_sig_fail(sig, "argument 'data': %lld channels, expected a multiple of num_group %lld",
                            (long long)*channels, (long long)p->num_group);
    expected.dim[axis] = *channels / p->num_group;
    return mxc_sig_set_shape(sig, WEIGHT, &expected);
}

mxc_status mxci_conv_infer(mxc_op_sig *sig) {
    const conv_params *p = sig->params;
    int ndim = p->kernel.n + 2, channels_last = mxci_conv_channels_last(p);
    mxc_shape data = mxci_shape_axes(ndim), weight = data, out = data, bias = mxci_shape_of(1, &p->num_filter);
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    weight.dim[0] = out.dim[mxci_channel_axis(channels_last, ndim)] = p->num_filter;
    for (int i = 0; i < p->kernel.n; i++)
        weight.dim[mxci_spatial_axis(channels_last, i)] = p->kernel.value[i];
    MXC_TRY(mxc_sig_set_shape(sig, WEIGHT, &weight));
    if (!p->no_bias)
        MXC_TRY(mxc_sig_set_shape(sig, BIAS, &bias));
    out.dim[0] = sig->in_shape[DATA].dim[0];
    MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
    sig->in_shape[DATA].dim[0] = sig->out_shape[0].dim[0];
    MXC_TRY(infer_channels(sig));
    for (int i = 0; i < p->kernel.n; i++)
        MXC_TRY(mxci_conv_infer_axis(sig, i));
    return MXC_OK;
}

/* ---- scratch --------------------------------------------------------------------------------------------------- */

/* The geometry by which the data's gradient is a convolution of out_grad with flipped weights, which is faster than
 * adding patches' into the image. Returns whether to use it: strides must be 1, and the padding of out_grad must not
 * make it multiply many zeros (at most a quarter more pixels). */
static int flip_shape(const mxci_conv_shape *s, mxci_conv_shape *flipped) {
    int64_t inside = 1, outside = 1;
    int possible = 1;
    *flipped = *s;
    flipped->channels = s->filters;
    flipped->filters = s->channels;
    for (int i = 0; i < 3; i++) {
        flipped->in[i] = s->out[i];
        flipped->out[i] = s->in[i];
        flipped->pad[i] = s->dilate[i] * (s->kernel[i] - 1) - s->pad[i];
        possible = possible && s->stride[i] == 1 && flipped->pad[i] >= 0;
        inside *= s->in[i];
        outside *= s->out[i];
    }
    return possible && inside * 4 <= outside * 5 && (s->channels > 3 || s->filters <= 2);
}

/* Scratch of one pass, in this order: the tables of the geometry, and of the flipped one where out_grad is convolved;
 * for each part a block with the padded images and a panel of out_grad; rearranged weights, or the sums of the weights'
 * gradient. */
typedef struct conv_plan {
    const mxci_conv_kernels *kernels;
    size_t element;
    mxci_conv_geometry geo, flipped;
    int flip, parts;
    size_t tables, flipped_tables, block, weights;
    int64_t sums; /* elements for one group */
    /* What Winograd's algorithm computes: the output or the data's gradient, and the weights' gradient. */
    int has_winograd, has_weight_winograd;
    int needs_tables; /* of the direct algorithm */
    mxci_winograd winograd, weight_winograd;
} conv_plan;

/* Which passes of a group Winograd's algorithm computes. In inference the choice does not depend on the batch: slices
 * of it give the same bits. */
static void plan_winograd(conv_plan *plan, const mxci_conv_shape *shape, const mxci_conv_shape *flipped, int64_t batch,
                          int64_t groups, int is_train, mxc_pass pass) {
    const int64_t samples = is_train || pass == MXC_BACKWARD ? batch : 1;
    plan->needs_tables = 1;
    if (plan->element != sizeof(float))
        return;
    if (pass == MXC_FORWARD)
        plan->has_winograd = mxci_winograd_plan(shape, MXCI_WINOGRAD_FORWARD, batch, groups, samples, &plan->winograd);
    else
        plan->has_weight_winograd =
            mxci_winograd_plan(shape, MXCI_WINOGRAD_WEIGHT, batch, groups, samples, &plan->weight_winograd);
    if (plan->flip)
        plan->has_winograd =
            mxci_winograd_plan(flipped, MXCI_WINOGRAD_FLIPPED, batch, groups, samples, &plan->winograd);
    plan->needs_tables = !plan->has_winograd || (pass == MXC_BACKWARD && !plan->has_weight_winograd);
}

/*
 * Everything of a run that follows from the shapes: the geometry of one group, the kernels, and the bytes of each part
 * of the scratch. temp_bytes and the run make the same plan, so that the two agree.
 */
static void convolution_make_plan(conv_plan *plan, const conv_params *p, const mxc_shape *data, const mxc_shape *out,
                                  mxc_dtype dtype, int is_train, mxc_pass pass, int parts) {
    mxci_conv_shape shape = mxci_conv_group(p, data, out), flipped;
    int64_t elements;
    int lanes;
    memset(plan, 0, sizeof *plan);
    plan->parts = parts;
    plan->kernels = dtype == MXC_F64 ? &mxci_conv_f64 : &mxci_conv_f32;
    plan->element = dtype == MXC_F64 ? sizeof(double) : sizeof(float);
    lanes = plan->kernels->lanes;
    mxci_conv_geometry_measure(&shape, &plan->geo);
    if (pass == MXC_BACKWARD)
        mxci_conv_geometry_group(&plan->geo, data->dim[0], data->dim[1] * shape.in[0] * shape.in[1] * shape.in[2]);
    elements = mxci_dim_mul(plan->geo.elements, plan->geo.samples);
    plan->tables = mxci_conv_geometry_table_bytes(&plan->geo, lanes);
    if (pass == MXC_BACKWARD) {
        plan->flip = flip_shape(&shape, &flipped);
        plan->sums = mxci_dim_mul((shape.filters + lanes - 1) / lanes * lanes, plan->geo.patch_size);
        /* More than rearranged weights need: both uses share the block. */
        plan->weights = mxci_size_of(mxci_dim_mul(plan->sums, p->num_group), plan->element);
    }
    if (plan->flip) {
        mxci_conv_geometry_measure(&flipped, &plan->flipped);
        plan->flipped_tables = mxci_conv_geometry_table_bytes(&plan->flipped, lanes);
        if (plan->flipped.elements > elements)
            elements = plan->flipped.elements;
    }
    plan->block = mxci_size_add(mxci_size_align(mxci_size_of(elements, plan->element)),
                                mxci_size_align(mxci_size_of(shape.filters * 2 * lanes, plan->element)));
    plan_winograd(plan, &shape, &flipped, data->dim[0], p->num_group, is_train, pass);
}

typedef struct conv_scratch {
    void *tables, *flipped_tables, *weights;
    char *blocks;
    mxci_winograd_scratch winograd, weight_winograd; /* in the same place, one after the other */
} conv_scratch;

/* Hands out the parts of scratch, or measures it where s has no base. */
static conv_scratch convolution_take_scratch(const conv_plan *plan, mxci_scratch *s) {
    conv_scratch parts = {0};
    mxci_scratch shared;
    parts.tables = mxci_scratch_take(s, plan->tables);
    parts.flipped_tables = mxci_scratch_take(s, plan->flipped_tables);
    parts.blocks = mxci_scratch_array(s, plan->parts, plan->block);
    parts.weights = mxci_scratch_take(s, plan->weights);
    shared = *s;
    if (plan->has_weight_winograd)
        parts.weight_winograd =
            mxci_winograd_take_scratch(&plan->weight_winograd, MXCI_WINOGRAD_WEIGHT, plan->parts, &shared);
    if (plan->has_winograd)
        parts.winograd = mxci_winograd_take_scratch(&plan->winograd, MXCI_WINOGRAD_FORWARD, plan->parts, s);
    s->bytes = s->bytes > shared.bytes ? s->bytes : shared.bytes;
    return parts;
}

/* The scratch is measured by taking it from an allocator without memory. */
static size_t convolution_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    conv_plan plan;
    mxci_scratch s = {0};
    if (mxc_shape_size(&sig->out_shape[0]) == 0)
        return s.bytes;
    convolution_make_plan(&plan, sig->params, &sig->in_shape[DATA], &sig->out_shape[0], sig->in_type[DATA],
                          sig->is_train, pass, sig->parallelism);
    convolution_take_scratch(&plan, &s);
    return s.bytes;
}

static int to_channels_second(const void *params, mxc_pass pass, void *out) {
    conv_params *to = out;
    (void)pass;
    *to = *(const conv_params *)params;
    to->layout = -1;
    return mxci_conv_channels_last(params);
}

/* ---- one call -------------------------------------------------------------------------------------------------- */

/* One pass over all samples and groups; "index" counts groups of all samples. Used for out = conv(in, weight) and, with
 * the roles of data and output exchanged, for the data's gradient as a convolution. */
typedef struct conv_run {
    const conv_plan *plan;
    const mxci_conv_geometry *geo;
    int64_t batch, groups;
    int64_t image, output, weights; /* elements of one group in in, out and weight */
    const void *in, *weight, *bias, *out_grad;
    void *out, *sums; /* what is computed; sums for the weights' gradient */
    int add;
    int64_t units, unit; /* forward: units of work in one group, panels in each */
    char *blocks;
    void *rearranged; /* backward: rearranged weights, then the sums of the weights' gradient */
    mxci_winograd_scratch winograd, weight_winograd;
} conv_run;

static void *convolution_at(const conv_run *r, const void *base, int64_t element) {
    return (char *)base + (size_t)element * r->plan->element;
}

static int64_t panels_of(const conv_run *r, int64_t n) {
    int64_t wide = 2 * r->plan->kernels->lanes;
    return (n + wide - 1) / wide;
}

/* Zeroes the padding of the part's padded images: once per part, since later images leave it as it is. */
static void clear_padding(const conv_run *r, int part) {
    if (!r->geo->is_image)
        memset(r->blocks + (size_t)part * r->plan->block, 0,
               (size_t)(r->geo->elements * r->geo->samples) * r->plan->element);
}

/* The padded images of a group in some samples from index on: the images themselves where no padding is needed, else
 * copies in the part's block. */
static const void *padded_images(const conv_run *r, int64_t index, int64_t samples, int part) {
    void *block = r->blocks + (size_t)part * r->plan->block;
    if (r->geo->is_image)
        return convolution_at(r, r->in, index * r->image);
    for (int64_t n = 0; n < samples; n++)
        r->plan->kernels->pad_image(r->geo, convolution_at(r, r->in, (index + n * r->groups) * r->image),
                                    convolution_at(r, block, n * r->geo->elements));
    return block;
}

/* Units of work per part that are worth a thread of their own: about 0.3 MFLOP. */
static int64_t grain(const conv_run *r, int64_t units) {
    double flops = 2.0 * (double)(r->geo->shape.filters * r->geo->pixels) * (double)r->geo->patch_size / (double)units;
    return (int64_t)(3e5 / (flops + 1)) + 1;
}

/* Units begin..end-1: a unit is some panels of pixels of one group of one sample. The padded image is made again where
 * a part begins in the middle of a group. */
static void convolution_forward_part(void *arg, int64_t begin, int64_t end, int part) {
    const conv_run *r = arg;
    const mxci_conv_kernels *k = r->plan->kernels;
    static const double zero;
    clear_padding(r, part);
    while (begin < end) {
        int64_t index = begin / r->units, group = index % r->groups, first = begin % r->units;
        int64_t last = end - begin < r->units - first ? first + end - begin : r->units;
        int64_t panels = panels_of(r, r->geo->pixels), stop = last * r->unit < panels ? last * r->unit : panels;
        const void *padded = padded_images(r, index, 1, part),
                   *weight = convolution_at(r, r->weight, group * r->weights);
        const void *bias = r->bias ? convolution_at(r, r->bias, group * r->geo->shape.filters) : &zero;
        void *out = convolution_at(r, r->out, index * r->output);
        if (!r->add)
            k->forward(r->geo, padded, weight, bias, r->bias != NULL, 0, out, first * r->unit, stop);
        else
            k->forward(r->geo, padded, weight, out, r->geo->pixels, 1, out, first * r->unit, stop);
        if (r->add && r->bias)
            k->add_bias(r->geo, bias, out, first * r->unit, stop);
        begin += last - first;
    }
}

/* The same for the groups of all samples by Winograd's algorithm. */
static void convolution_run_winograd(const mxc_op_call *call, const conv_run *r) {
    for (int64_t g = 0; g < r->groups; g++) {
        const mxci_winograd_call group = {
            .plan = &r->plan->winograd,
            .batch = r->batch,
            .in = convolution_at(r, r->in, g * r->image),
            .weight = convolution_at(r, r->weight, g * r->weights),
            .bias = r->bias ? convolution_at(r, r->bias, g * r->geo->shape.filters) : NULL,
            .out = convolution_at(r, r->out, g * r->output),
            .add = r->add,
            .scratch = r->winograd,
        };
        mxci_winograd_forward(call->run, &group);
    }
}

static void convolution_run_forward(const mxc_op_call *call, conv_run *r) {
    if (r->plan->has_winograd) {
        convolution_run_winograd(call, r);
        return;
    }
    int64_t panels = panels_of(r, r->geo->pixels);
    r->unit = r->batch * r->groups >= 4 * r->plan->parts ? panels : 1; /* few samples: cut them too */
    r->units = (panels + r->unit - 1) / r->unit;
    mxc_parallel_for(call->run, r->batch * r->groups * r->units, grain(r, r->units), convolution_forward_part, r);
}

/* Elements begin..end-1 of the patches of all groups. Each is summed over all samples by one part in one order, so that
 * the result does not depend on the threads. */
static void weight_part(void *arg, int64_t begin, int64_t end, int part) {
    const conv_run *r = arg;
    const mxci_conv_kernels *k = r->plan->kernels;
    int64_t patch_size = r->geo->patch_size;
    clear_padding(r, part);
    while (begin < end) {
        int64_t group = begin / patch_size, first = begin % patch_size;
        int64_t last = end - begin < patch_size - first ? first + end - begin : patch_size;
        void *sums = convolution_at(r, r->sums, group * r->plan->sums);
        for (int64_t n = 0; n < r->batch; n += r->geo->samples) {
            int64_t index = n * r->groups + group, rest = r->batch - n;
            int64_t samples = rest < r->geo->samples ? rest : r->geo->samples;
            k->weight(r->geo, samples, padded_images(r, index, samples, part),
                      convolution_at(r, r->out_grad, index * r->output), r->groups * r->output, n > 0, sums, first,
                      last);
        }
        k->put_weight(r->geo, sums, r->add, convolution_at(r, r->out, group * r->weights), first, last);
        begin += last - first;
    }
}

/* Groups begin..end-1 of all samples, by adding weight^T out_grad into the padded image (col2im). */
static void data_part(void *arg, int64_t begin, int64_t end, int part) {
    const conv_run *r = arg;
    const mxci_conv_kernels *k = r->plan->kernels;
    char *block = r->blocks + (size_t)part * r->plan->block;
    void *panel = block + mxci_size_align((size_t)r->geo->elements * r->plan->element);
    for (int64_t index = begin; index < end; index++) {
        void *image = convolution_at(r, r->out, index * r->image), *padded = r->geo->is_image ? image : block;
        if (!r->geo->is_image || !r->add)
            memset(padded, 0, (size_t)r->geo->elements * r->plan->element);
        k->data(r->geo, convolution_at(r, r->weight, index % r->groups * r->weights),
                convolution_at(r, r->out_grad, index * r->output), panel, padded);
        if (!r->geo->is_image)
            k->crop(r->geo, r->add, padded, image);
    }
}

/* ---- weights rearranged ---------------------------------------------------------------------------------------- */

typedef struct rearrange {
    const conv_run *r;
    const void *weight;
    void *to;
    int64_t units; /* in one group: strips of six elements of a patch, or channels */
} rearrange;

enum { UNITS = 16 };

/* Units begin..end-1 of the weights, of all groups: flipped for the data gradient as a convolution, else packed. */
static void rearrange_part(void *arg, int64_t begin, int64_t end, int part) {
    const rearrange *w = arg;
    const conv_plan *plan = w->r->plan;
    (void)part;
    for (int64_t i = begin, n; i < end; i += n) {
        int64_t group = i / w->units, unit = i % w->units, last;
        n = end - i < UNITS ? end - i : UNITS; /* together: neighbours share cache lines */
        last = unit + n < w->units ? unit + n : w->units;
        n = last - unit;
        const void *from = convolution_at(w->r, w->weight, group * w->r->weights);
        void *to = convolution_at(w->r, w->to, group * w->r->weights);
        (plan->flip ? plan->kernels->flip : plan->kernels->pack)(&plan->geo, from, to, unit, last);
    }
}

/* Weights flipped, where the data's gradient is a convolution, or packed into strips, where it is added up. */
static void rearrange_weights(const mxc_op_call *call, const conv_run *r, void *to) {
    const mxci_conv_geometry *geo = &r->plan->geo;
    rearrange w = {.r = r, .weight = call->in[WEIGHT].data, .to = to};
    w.units = r->plan->flip ? geo->shape.channels : (geo->patch_size + 5) / 6;
    mxc_parallel_for(call->run, w.units * r->groups, MXCI_GRAIN * w.units / (r->weights + 1) + 1, rearrange_part, &w);
}

/* ---- forward and backward -------------------------------------------------------------------------------------- */

/* Takes the scratch and fills the offset tables in it. Sizes in conv_run are elements of one image and one group. */
static conv_run convolution_open_run(const mxc_op_call *call, conv_plan *plan, mxc_pass pass) {
    const conv_params *p = call->params;
    conv_scratch scratch;
    int parts = call->run ? mxc_engine_parallelism(call->run->engine) : 1;
    convolution_make_plan(plan, p, &call->in[DATA].shape, &call->out[0].shape, call->in[DATA].dtype, call->is_train,
                          pass, parts);
    scratch = convolution_take_scratch(plan, &(mxci_scratch){.base = call->temp});
    if (plan->needs_tables)
        mxci_conv_geometry_plan(&plan->geo, plan->kernels->lanes, scratch.tables);
    if (plan->flip && !plan->has_winograd)
        mxci_conv_geometry_plan(&plan->flipped, plan->kernels->lanes, scratch.flipped_tables);
    return (conv_run){.plan = plan,
                      .geo = &plan->geo,
                      .batch = call->in[DATA].shape.dim[0],
                      .groups = p->num_group,
                      .image = plan->geo.shape.channels * mxci_shape_count(&call->in[DATA].shape, 2, p->kernel.n + 2),
                      .output = plan->geo.shape.filters * plan->geo.pixels,
                      .weights = plan->geo.shape.filters * plan->geo.patch_size,
                      .in = call->in[DATA].data,
                      .blocks = scratch.blocks,
                      .rearranged = scratch.weights,
                      .winograd = scratch.winograd,
                      .weight_winograd = scratch.weight_winograd};
}

static mxc_status conv_forward(const mxc_op_call *call) {
    conv_plan plan;
    conv_run r;
    if (call->req[0] == MXC_REQ_NULL || mxci_tensor_size(&call->out[0]) == 0)
        return MXC_OK;
    r = convolution_open_run(call, &plan, MXC_FORWARD);
    r.weight = call->in[WEIGHT].data;
    r.bias = call->n_in > BIAS ? call->in[BIAS].data : NULL;
    r.out = call->out[0].data;
    r.add = call->req[0] == MXC_REQ_ADD;
    convolution_run_forward(call, &r);
    return MXC_OK;
}

static void data_gradient(const mxc_op_call *call, const conv_run *base) {
    const conv_plan *plan = base->plan;
    conv_run r = *base;
    if (plan->has_winograd) {
        r.weight = call->in[WEIGHT].data; /* flipped when it is transformed */
    } else {
        rearrange_weights(call, &r, r.rearranged);
        r.weight = r.rearranged;
    }
    r.out = call->in_grad[DATA].data;
    r.add = call->req[DATA] == MXC_REQ_ADD;
    if (!plan->flip) {
        mxc_parallel_for(call->run, r.batch * r.groups, grain(&r, 1), data_part, &r);
        return;
    }
    r.geo = &plan->flipped;
    r.in = r.out_grad;
    r.image = base->output;
    r.output = base->image;
    convolution_run_forward(call, &r);
}

static void weight_gradient(const mxc_op_call *call, const conv_run *base) {
    conv_run r = *base;
    r.out = call->in_grad[WEIGHT].data;
    r.sums = r.rearranged;
    r.add = call->req[WEIGHT] == MXC_REQ_ADD;
    for (int64_t g = 0; r.plan->has_weight_winograd && g < r.groups; g++) {
        const mxci_winograd_call group = {
            .plan = &r.plan->weight_winograd,
            .batch = r.batch,
            .in = convolution_at(&r, r.in, g * r.image),
            .out_grad = convolution_at(&r, r.out_grad, g * r.output),
            .out = convolution_at(&r, r.out, g * r.weights),
            .add = r.add,
            .scratch = r.weight_winograd,
        };
        mxci_winograd_backward_weight(call->run, &group);
    }
    if (r.plan->has_weight_winograd)
        return;
    mxc_parallel_for(call->run, r.geo->patch_size * r.groups, grain(&r, r.geo->patch_size) / r.batch + 1, weight_part,
                     &r);
}

/* Sums of out_grad over samples and pixels, filters begin..end-1 of all groups. */
static void convolution_bias_part(void *arg, int64_t begin, int64_t end, int part) {
    const conv_run *r = arg;
    int64_t filters = r->geo->shape.filters * r->groups, pixels = r->geo->pixels;
    (void)part;
    for (int64_t f = begin; f < end; f++) {
        double sum =
            r->plan->kernels->sum(convolution_at(r, r->out_grad, f * pixels), r->batch, filters * pixels, pixels);
        r->plan->kernels->put(convolution_at(r, r->out, f), sum, r->add);
    }
}

static void convolution_bias_gradient(const mxc_op_call *call, const conv_run *base) {
    conv_run r = *base;
    r.out = call->in_grad[BIAS].data;
    r.add = call->req[BIAS] == MXC_REQ_ADD;
    mxc_parallel_for(call->run, r.geo->shape.filters * r.groups, MXCI_GRAIN / (r.batch * r.geo->pixels) + 1,
                     convolution_bias_part, &r);
}

static mxc_status conv_backward(const mxc_op_call *call) {
    conv_plan plan;
    conv_run r;
    if (mxci_tensor_size(&call->out[0]) == 0) {
        for (int i = 0; i < call->n_in; i++)
            mxci_assign_constant(call->run, call->req[i], &call->in_grad[i], 0);
        return MXC_OK;
    }
    r = convolution_open_run(call, &plan, MXC_BACKWARD);
    r.out_grad = call->out_grad[0].data;
    if (call->req[DATA] != MXC_REQ_NULL)
        data_gradient(call, &r);
    if (call->req[WEIGHT] != MXC_REQ_NULL)
        weight_gradient(call, &r);
    if (call->n_in > BIAS && call->req[BIAS] != MXC_REQ_NULL)
        convolution_bias_gradient(call, &r);
    return MXC_OK;
}

/* ---- what passes ask -------------------------------------------------------------------------------------------- */

static int conv_channels_last(const mxc_op *op, int ndim, mxc_channels_last *out) {
    const conv_params *p = mxc_op_params(op);
    *out = (mxc_channels_last){.key = "layout", .weights = 1 << WEIGHT, .leads = 1, .library_off = p->cudnn_off};
    mxci_format(out->value, sizeof out->value, "%s", ndim == 4 ? "NHWC" : "NDHWC");
    return !mxci_conv_channels_last(p);
}

static int conv_quantized(const mxc_op *op, mxc_quantized *out) {
    *out = (mxc_quantized){.op = "_contrib_quantized_conv", .has_weights = 1, .is_32bit = 1};
    return !mxci_conv_channels_last(mxc_op_params(op)); /* the counterpart takes channels second only */
}

static int conv_linear(const mxc_op *op, mxc_linear *out) {
    const conv_params *p = mxc_op_params(op);
    const int ndim = p->kernel.n + 2;
    *out =
        (mxc_linear){.ndim = ndim, .axis = mxci_channel_axis(mxci_conv_channels_last(p), ndim), .no_bias = "no_bias"};
    return 1;
}

const mxc_op_def mxci_op_convolution = {
    .size = sizeof(mxc_op_def),
    .name = "Convolution",
    .aliases = "Convolution_v1,ChannelwiseConvolution", /* the latter: a fork's, for one filter a channel */
    .doc = "output[n,f,p] = bias[f] + sum over c and k of weight[f,c,k] data[n, c, stride p + dilate k - pad], for one "
           "to three spatial axes; data (N,C,...), weight (num_filter, C / num_group, kernel...), bias (num_filter,); "
           "with channels last data (N,...,C), weight (num_filter, kernel..., C / num_group)",
    .params = mxci_conv_schema,
    .param_size = sizeof(conv_params),
    .params_check = mxci_conv_check,
    .args = "data,weight,bias",
    .n_args = conv_args,
    .infer_shape = mxci_conv_infer,
    .dtypes = MXC_DTYPES_FLOAT,
    .cpu_dtypes = MXC_DTYPES_REAL,
    .to_channels_second = to_channels_second,
    .needs = {.out_grad = 1, .in = 1 << DATA | 1 << WEIGHT},
    .flags = MXC_OP_SAMPLEWISE,
    .temp_bytes = convolution_temp_bytes,
    .channels_last = conv_channels_last,
    .quantized = conv_quantized,
    .linear = conv_linear,
    .packed = mxci_packed_convolution,
    .forward = {[MXC_CPU] = conv_forward},
    .backward = {[MXC_CPU] = conv_backward},
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeformableConvolution: a convolution whose patches are sampled at learnt offsets (J. Dai et al., "Deformable
 * convolutional networks", 2017). data (N,C,h,w), offset (N, G*K*2, H, W), weight (F, C/groups, kernel), bias (F), out
 * (N,F,H,W). The channels are in G groups for the offsets; for each group, each of K elements of a patch and each
 * output position, offset has how far down and to the right of its position in a plain convolution the element is read,
 * by bilinear interpolation; 0 outside of data. The patches of a sample are written to scratch as columns (C*K, H*W),
 * and the rest is matrix products.
 *
 * ModulatedDeformableConvolution (X. Zhu et al., "Deformable ConvNets v2", 2018) has one more argument, mask (N, G*K,
 * H, W), factors of the elements of patches; and its data is surrounded by zeros, to which it is interpolated.
 */
#include "operator/nn/deformable_convolution.h"

#include <string.h>

#include "math/assign.h"
#include "math/gemm.h"
#include "operator/infer.h"

typedef mxci_deformable_params deformable_params;

enum { DATA, OFFSET, MASK };

#define LIMIT (1 << 24)
#define AXES(field, least) \
    .type = MXC_PARAM_TUPLE, MXC_PARAM_FIELD(deformable_params, field), .bounded = 1, .minimum = least, .maximum = LIMIT
#define COUNT(field) \
    .type = MXC_PARAM_INT, MXC_PARAM_FIELD(deformable_params, field), .bounded = 1, .minimum = 1, .maximum = LIMIT
static const mxc_param schema[] = {
    {.name = "kernel", AXES(kernel, 1), .doc = "Kernel height and width."},
    {.name = "stride", AXES(stride, 1), .initial = "()", .doc = "Stride along each spatial axis. (): 1."},
    {.name = "dilate",
     AXES(dilate, 1),
     .initial = "()",
     .doc = "Dilation, the distance between neighbouring kernel elements. (): 1."},
    {.name = "pad", AXES(pad, 0), .initial = "()", .doc = "Zero padding at both ends of each spatial axis. (): 0."},
    {.name = "num_filter", COUNT(num_filter), .doc = "Number of filters, the channels of the output."},
    {.name = "num_group",
     COUNT(num_group),
     .initial = "1",
     .doc = "Number of groups of channels that are convolved separately."},
    {.name = "num_deformable_group",
     COUNT(num_deformable_group),
     .initial = "1",
     .doc = "Number of groups of channels with separate offsets."},
    {MXC_PARAM_FIELD(deformable_params, workspace), .name = "workspace", .type = MXC_PARAM_INT, .initial = "1024",
     .bounded = 1, .minimum = 0, .maximum = 8192, .doc = "Accepted for compatibility with MXNet; has no effect."},
    {MXC_PARAM_FIELD(deformable_params, no_bias), .name = "no_bias", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Leave out the argument bias."},
    {MXC_PARAM_FIELD(deformable_params, layout), .name = "layout", .type = MXC_PARAM_ENUM, .initial = "None",
     .choices = "NCHW", .optional = 1, .doc = "Order of the axes. Only NCHW is supported."},
    MXC_PARAM_END,
};

static const mxc_param modulated_schema[] = {
    {.name = "kernel", AXES(kernel, 1), .doc = "Kernel height and width."},
    {.name = "stride", AXES(stride, 1), .initial = "()", .doc = "Stride along each spatial axis. (): 1."},
    {.name = "dilate",
     AXES(dilate, 1),
     .initial = "()",
     .doc = "Dilation, the distance between neighbouring kernel elements. (): 1."},
    {.name = "pad", AXES(pad, 0), .initial = "()", .doc = "Zero padding at both ends of each spatial axis. (): 0."},
    {.name = "num_filter", COUNT(num_filter), .doc = "Number of filters, the channels of the output."},
    {.name = "num_group",
     COUNT(num_group),
     .initial = "1",
     .doc = "Number of groups of channels that are convolved separately."},
    {.name = "num_deformable_group",
     COUNT(num_deformable_group),
     .initial = "1",
     .doc = "Number of groups of channels with separate offsets."},
    {MXC_PARAM_FIELD(deformable_params, workspace), .name = "workspace", .type = MXC_PARAM_INT, .initial = "1024",
     .bounded = 1, .minimum = 0, .maximum = 8192, .doc = "Accepted for compatibility with MXNet; has no effect."},
    {MXC_PARAM_FIELD(deformable_params, no_bias), .name = "no_bias", .type = MXC_PARAM_BOOL, .initial = "false",
     .doc = "Leave out the argument bias."},
    {MXC_PARAM_FIELD(deformable_params, layout), .name = "layout", .type = MXC_PARAM_ENUM, .initial = "None",
     .choices = "NCHW", .optional = 1, .doc = "Order of the axes. Only NCHW is supported."},
    {.name = "im2col_step",
     COUNT(im2col_step),
     .initial = "64",
     .doc = "Accepted for compatibility with MXNet; has no effect."},
    MXC_PARAM_END,
};
#undef AXES
#undef COUNT

/* Slots of weight and bias, which come behind the mask where there is one. */
static int weight_slot(const deformable_params *p, int n_in) {
    return MASK + mxci_deformable_has_mask(p, n_in);
}

static int bias_slot(const deformable_params *p, int n_in) {
    return weight_slot(p, n_in) + 1;
}

static int64_t patch_size(const deformable_params *p) {
    return p->kernel.value[0] * p->kernel.value[1];
}

static mxc_status deformable_convolution_complete(const char *op, const char *name, mxc_tuple *tuple, int64_t value) {
    if (tuple->n != 0 && tuple->n != 2)
        return MXC_FAIL(MXC_EINVAL, "%s: %s has %d entries, expected 2", op, name, (int)tuple->n);
    for (int i = tuple->n; i < 2; i++)
        tuple->value[i] = value;
    tuple->n = 2;
    return MXC_OK;
}

static mxc_status check_params(deformable_params *p, const char *op) {
    if (p->kernel.n != 2)
        return MXC_FAIL(MXC_EINVAL, "%s: kernel has %d entries, expected 2", op, (int)p->kernel.n);
    if (patch_size(p) > LIMIT)
        return MXC_FAIL(MXC_EINVAL, "%s: kernel has %lld elements, expected up to %d", op, (long long)patch_size(p),
                        LIMIT);
    MXC_TRY(deformable_convolution_complete(op, "stride", &p->stride, 1));
    MXC_TRY(deformable_convolution_complete(op, "dilate", &p->dilate, 1));
    MXC_TRY(deformable_convolution_complete(op, "pad", &p->pad, 0));
    if (p->num_filter % p->num_group)
        return MXC_FAIL(MXC_EINVAL, "%s: num_filter %lld is not a multiple of num_group %lld", op,
                        (long long)p->num_filter, (long long)p->num_group);
    return MXC_OK;
}

static mxc_status deformable_convolution_check_params(void *params) {
    return check_params(params, "_contrib_DeformableConvolution");
}

static mxc_status modulated_check_params(void *params) {
    return check_params(params, "_contrib_ModulatedDeformableConvolution");
}

static int deformable_convolution_n_args(const void *params) {
    return ((const deformable_params *)params)->no_bias ? 3 : 4;
}

static int modulated_n_args(const void *params) {
    return deformable_convolution_n_args(params) + 1;
}

/* ---- inference --------------------------------------------------------------------------------------------------- */

/* Positions of patches along an axis; -1 if it is not known. */
static mxc_status infer_out_size(const mxc_op_sig *sig, int i, int64_t *out) {
    const deformable_params *p = sig->params;
    int64_t in = sig->in_shape[DATA].dim[i + 2], span = p->dilate.value[i] * (p->kernel.value[i] - 1) + 1;
    *out = -1;
    if (in < 0)
        return MXC_OK;
    in += 2 * p->pad.value[i];
    if (in < span)
        return mxc_sig_fail(sig,
                            "argument 'data': axis %d has %lld elements with padding, fewer than the %lld of a "
                            "patch",
                            i + 2, (long long)in, (long long)span);
    *out = (in - span) / p->stride.value[i] + 1;
    return MXC_OK;
}

/* Channels: a multiple of both kinds of groups, and what weight says. */
static mxc_status infer_weight(mxc_op_sig *sig) {
    const deformable_params *p = sig->params;
    const int slot = weight_slot(p, sig->n_in);
    int64_t channels = sig->in_shape[DATA].dim[1];
    mxc_shape data = mxci_shape_axes(4);
    mxc_shape weight = mxci_shape_of(4, (int64_t[]){p->num_filter, -1, p->kernel.value[0], p->kernel.value[1]});
    if (channels >= 0 && (channels % p->num_group || channels % p->num_deformable_group || channels == 0))
        return mxc_sig_fail(sig,
                            "argument 'data': %lld channels, expected a multiple of num_group %lld and of "
                            "num_deformable_group %lld",
                            (long long)channels, (long long)p->num_group, (long long)p->num_deformable_group);
    weight.dim[1] = channels < 0 ? -1 : channels / p->num_group;
    MXC_TRY(mxc_sig_set_shape(sig, slot, &weight));
    weight = sig->in_shape[slot];
    data.dim[1] = mxci_dim_mul(weight.dim[1], p->num_group);
    return mxc_sig_set_shape(sig, DATA, &data);
}

/* N, H and W follow from data, output and offset, whichever knows them. */
static mxc_status deformable_convolution_infer_shape(mxc_op_sig *sig) {
    const deformable_params *p = sig->params;
    mxc_shape data = mxci_shape_axes(4), bias = mxci_shape_of(1, &p->num_filter), out, offset, columns;
    char text[MXC_SHAPE_TEXT];
    MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
    MXC_TRY(infer_weight(sig));
    if (!p->no_bias)
        MXC_TRY(mxc_sig_set_shape(sig, bias_slot(p, sig->n_in), &bias));
    out = mxci_shape_of(4, (int64_t[]){-1, p->num_filter, -1, -1});
    for (int i = 0; i < 2; i++)
        MXC_TRY(infer_out_size(sig, i, &out.dim[i + 2]));
    offset = mxci_shape_of(4, (int64_t[]){-1, p->num_deformable_group * patch_size(p) * 2, out.dim[2], out.dim[3]});
    for (int pass = 0; pass < 2; pass++) {
        MXC_TRY(mxc_sig_set_shape(sig, DATA, &data));
        out.dim[0] = mxci_known(sig->in_shape[DATA].dim[0], out.dim[0]);
        MXC_TRY(mxc_sig_set_shape(sig, MXC_SLOT_OUT(0), &out));
        offset.dim[0] = sig->out_shape[0].dim[0];
        MXC_TRY(mxc_sig_set_shape(sig, OFFSET, &offset));
        out = sig->in_shape[OFFSET];
        if (mxci_deformable_has_mask(p, sig->n_in)) {
            out.dim[1] /= 2;
            MXC_TRY(mxc_sig_set_shape(sig, MASK, &out));
            out = sig->in_shape[MASK];
        }
        out.dim[1] = p->num_filter;
        data.dim[0] = out.dim[0];
    }
    if (!mxc_shape_known(&sig->in_shape[DATA]))
        return MXC_OK;
    columns = mxci_shape_of(4, (int64_t[]){sig->in_shape[DATA].dim[1], patch_size(p), out.dim[2], out.dim[3]});
    if (!mxci_shape_fits(&columns))
        return mxc_sig_fail(sig, "argument 'data': its patches, %s, are larger than memory can be",
                            mxc_shape_format(&columns, text, sizeof text));
    return MXC_OK;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Hands out scratch, or measures it where s has no base: the columns (C*K, H*W) of a sample, and in backward their
 * gradient. */
static void deformable_convolution_take_scratch(mxci_scratch *s, const deformable_params *p, const mxc_shape *data,
                                                const mxc_shape *out, size_t element, mxc_pass pass, void **columns,
                                                void **grad) {
    int64_t rows = mxci_dim_mul(data->dim[1], patch_size(p)), positions = mxci_dim_mul(out->dim[2], out->dim[3]);
    *columns = mxci_scratch_array(s, mxci_dim_mul(rows, positions), element);
    *grad = pass == MXC_BACKWARD ? mxci_scratch_array(s, mxci_dim_mul(rows, positions), element) : NULL;
}

static size_t deformable_convolution_temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    size_t element = sig->in_type[DATA] == MXC_F64 ? sizeof(double) : sizeof(float);
    mxci_scratch measure = {0};
    void *columns, *grad;
    deformable_convolution_take_scratch(&measure, sig->params, &sig->in_shape[DATA], &sig->out_shape[0], element, pass,
                                        &columns, &grad);
    return measure.bytes;
}

typedef struct deformable_run {
    const mxc_op_call *call;
    const deformable_params *params;
    mxci_deformable_shape shape;
    mxc_dtype dtype;
    int64_t sample;                  /* the one that is computed */
    int64_t data, offset, mask, out; /* elements of a sample in each array */
    int has_mask, weight, bias;      /* slots */
    mxc_tensor columns, grad;        /* of the sample, and their gradient */
    mxci_gemm_args gemm;             /* weight (F/groups, C/groups*K) times columns, for each group */
} deformable_run;

static deformable_run deformable_convolution_open_run(const mxc_op_call *call, mxc_pass pass) {
    const deformable_params *p = call->params;
    const int64_t *in = call->in[DATA].shape.dim, *out = call->out[0].shape.dim, groups = p->num_group;
    deformable_run r = {.call = call, .params = p, .dtype = call->in[DATA].dtype, .gemm = MXCI_GEMM_INIT};
    r.has_mask = mxci_deformable_has_mask(p, call->n_in);
    r.weight = weight_slot(p, call->n_in);
    r.bias = bias_slot(p, call->n_in);
    r.shape = mxci_deformable_shape_of(p, in, out, r.has_mask);
    r.data = in[1] * in[2] * in[3];
    r.offset = p->num_deformable_group * patch_size(p) * 2 * out[2] * out[3];
    r.mask = r.offset / 2;
    r.out = out[1] * out[2] * out[3];
    r.columns.dtype = r.grad.dtype = r.dtype;
    deformable_convolution_take_scratch(&(mxci_scratch){.base = call->temp}, p, &call->in[DATA].shape,
                                        &call->out[0].shape, mxc_dtype_size(r.dtype), pass, &r.columns.data,
                                        &r.grad.data);
    r.gemm.dtype = r.dtype;
    r.gemm.batch = groups;
    r.gemm.m = p->num_filter / groups;
    r.gemm.k = in[1] / groups * patch_size(p);
    r.gemm.n = out[2] * out[3];
    return r;
}

/* The mask of the sample that is computed, or NULL. */
static const void *mask_of(const deformable_run *r) {
    return r->has_mask ? mxci_at(&r->call->in[MASK], r->sample * r->mask) : NULL;
}

/* Elements begin..end-1 of the offset groups' patches. */
static void columns_part(void *arg, int64_t begin, int64_t end, int part) {
    const deformable_run *r = arg;
    const void *x = mxci_at(&r->call->in[DATA], r->sample * r->data);
    const void *offset = mxci_at(&r->call->in[OFFSET], r->sample * r->offset);
    (void)part;
    if (r->dtype == MXC_F32)
        mxci_deformable_columns_f32(&r->shape, x, offset, mask_of(r), r->columns.data, begin, end);
    else
        mxci_deformable_columns_f64(&r->shape, x, offset, mask_of(r), r->columns.data, begin, end);
}

/* Of data without elements, which padding surrounds, they are 0. */
static void make_columns(deformable_run *r) {
    if (r->data == 0)
        memset(r->columns.data, 0, (size_t)(r->gemm.batch * r->gemm.k * r->gemm.n) * mxc_dtype_size(r->dtype));
    else
        mxc_parallel_for(r->call->run, r->shape.groups * patch_size(r->params), 1, columns_part, r);
}

/* Planes begin..end-1 of out: bias is added. */
static void deformable_convolution_bias_part(void *arg, int64_t begin, int64_t end, int part) {
    const deformable_run *r = arg;
    const mxc_tensor *out = &r->call->out[0];
    (void)part;
    for (int64_t i = begin; i < end; i++) {
        double bias = mxci_value_at(&r->call->in[r->bias], i % r->params->num_filter);
        for (int64_t k = i * r->gemm.n; k < (i + 1) * r->gemm.n; k++)
            if (r->dtype == MXC_F32)
                ((float *)out->data)[k] += (float)bias;
            else
                ((double *)out->data)[k] += bias;
    }
}

static mxc_status deformable_convolution_forward(const mxc_op_call *call) {
    deformable_run r = deformable_convolution_open_run(call, MXC_FORWARD);
    mxci_gemm_args *g = &r.gemm;
    int64_t samples = call->out[0].shape.dim[0];
    if (call->req[0] == MXC_REQ_NULL)
        return MXC_OK;
    g->beta = call->req[0] == MXC_REQ_ADD;
    g->lda = g->k, g->ldb = g->ldc = g->n;
    g->a_stride = g->m * g->k, g->b_stride = g->k * g->n, g->c_stride = g->m * g->n;
    for (; r.sample < samples; r.sample++) {
        make_columns(&r);
        g->a = call->in[r.weight].data;
        g->b = r.columns.data;
        g->c = mxci_at(&call->out[0], r.sample * r.out);
        mxci_gemm(call->run, g, NULL);
    }
    if (call->n_in > r.bias)
        mxc_parallel_for(call->run, samples * r.params->num_filter, MXCI_GRAIN / g->n + 1,
                         deformable_convolution_bias_part, &r);
    return MXC_OK;
}

/* The gradient of one sample's data from that of its columns: each adds to the four elements it was sampled from. */
static void data_grad_part(void *arg, int64_t begin, int64_t end, int part) {
    const deformable_run *r = arg;
    const void *offset = mxci_at(&r->call->in[OFFSET], r->sample * r->offset);
    void *dx = mxci_at(&r->call->in_grad[DATA], r->sample * r->data);
    (void)part;
    if (r->dtype == MXC_F32)
        mxci_deformable_data_grad_f32(&r->shape, offset, mask_of(r), r->grad.data, dx, begin, end);
    else
        mxci_deformable_data_grad_f64(&r->shape, offset, mask_of(r), r->grad.data, dx, begin, end);
}

/* The gradient of one sample's offsets: the columns' gradient times the slope of the bilinear sample there. */
static void offset_grad_part(void *arg, int64_t begin, int64_t end, int part) {
    const deformable_run *r = arg;
    const void *x = mxci_at(&r->call->in[DATA], r->sample * r->data);
    const void *offset = mxci_at(&r->call->in[OFFSET], r->sample * r->offset);
    void *to = mxci_at(&r->call->in_grad[OFFSET], r->sample * r->offset);
    (void)part;
    if (r->dtype == MXC_F32)
        mxci_deformable_offset_grad_f32(&r->shape, x, offset, mask_of(r), r->grad.data, to, begin, end);
    else
        mxci_deformable_offset_grad_f64(&r->shape, x, offset, mask_of(r), r->grad.data, to, begin, end);
}

static void mask_grad_part(void *arg, int64_t begin, int64_t end, int part) {
    const deformable_run *r = arg;
    const void *x = mxci_at(&r->call->in[DATA], r->sample * r->data);
    const void *offset = mxci_at(&r->call->in[OFFSET], r->sample * r->offset);
    void *to = mxci_at(&r->call->in_grad[MASK], r->sample * r->mask);
    (void)part;
    if (r->dtype == MXC_F32)
        mxci_deformable_mask_grad_f32(&r->shape, x, offset, r->grad.data, to, begin, end);
    else
        mxci_deformable_mask_grad_f64(&r->shape, x, offset, r->grad.data, to, begin, end);
}

/* The gradients of a sample's data, offset and mask, from that of its columns: weight^T out_grad. */
static void input_gradients(deformable_run *r) {
    const mxc_op_call *call = r->call;
    const mxc_req mask_req = r->has_mask ? call->req[MASK] : MXC_REQ_NULL;
    mxci_gemm_args g = r->gemm;
    if ((call->req[DATA] == MXC_REQ_NULL && call->req[OFFSET] == MXC_REQ_NULL && mask_req == MXC_REQ_NULL) ||
        r->data == 0)
        return;
    g.transpose_a = 1;
    g.m = r->gemm.k, g.k = r->gemm.m;
    g.lda = g.m, g.ldb = g.ldc = g.n;
    g.a_stride = g.m * g.k, g.b_stride = g.k * g.n, g.c_stride = g.m * g.n;
    g.a = call->in[r->weight].data;
    g.b = mxci_at(&call->out_grad[0], r->sample * r->out);
    g.c = r->grad.data;
    mxci_gemm(call->run, &g, NULL);
    r->shape.add = call->req[DATA] == MXC_REQ_ADD;
    if (call->req[DATA] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, r->shape.channels, 1, data_grad_part, r);
    r->shape.add = call->req[OFFSET] == MXC_REQ_ADD;
    if (call->req[OFFSET] != MXC_REQ_NULL)
        mxc_parallel_for(call->run, r->shape.groups * patch_size(r->params), 1, offset_grad_part, r);
    r->shape.add = mask_req == MXC_REQ_ADD;
    if (mask_req != MXC_REQ_NULL)
        mxc_parallel_for(call->run, r->shape.groups * patch_size(r->params), 1, mask_grad_part, r);
}

/* Adds a sample's out_grad columns^T to weight's gradient. */
static void weight_gradient(deformable_run *r) {
    const mxc_op_call *call = r->call;
    mxci_gemm_args g = r->gemm;
    if (call->req[r->weight] == MXC_REQ_NULL)
        return;
    make_columns(r);
    g.transpose_b = 1;
    g.n = r->gemm.k, g.k = r->gemm.n;
    g.lda = g.ldb = g.k, g.ldc = g.n;
    g.a_stride = g.m * g.k, g.b_stride = g.k * g.n, g.c_stride = g.m * g.n;
    g.beta = 1;
    g.a = mxci_at(&call->out_grad[0], r->sample * r->out);
    g.b = r->columns.data;
    g.c = call->in_grad[r->weight].data;
    mxci_gemm(call->run, &g, NULL);
}

static void deformable_convolution_bias_gradient(const deformable_run *r) {
    const mxc_tensor *g = &r->call->out_grad[0];
    for (int64_t f = 0; f < r->params->num_filter; f++) {
        double sum = 0;
        for (int64_t n = 0; n < g->shape.dim[0]; n++)
            for (int64_t p = 0; p < r->gemm.n; p++) {
                int64_t i = n * r->out + f * r->gemm.n + p;
                sum += r->dtype == MXC_F32 ? (double)((const float *)g->data)[i] : ((const double *)g->data)[i];
            }
        mxci_assign_value(r->call->req[r->bias], &r->call->in_grad[r->bias], f, sum);
    }
}

/* Sample by sample, with one matrix of columns; weight's gradient adds up over the samples, hence cleared first. */
static mxc_status deformable_convolution_backward(const mxc_op_call *call) {
    deformable_run r = deformable_convolution_open_run(call, MXC_BACKWARD);
    if (call->req[r.weight] == MXC_REQ_WRITE || call->req[r.weight] == MXC_REQ_INPLACE)
        mxci_assign_constant(call->run, MXC_REQ_WRITE, &call->in_grad[r.weight], 0);
    if (r.data == 0)
        for (int slot = OFFSET; slot < r.weight; slot++)
            mxci_assign_constant(call->run, call->req[slot], &call->in_grad[slot], 0);
    for (; r.sample < call->in[DATA].shape.dim[0]; r.sample++) {
        input_gradients(&r);
        weight_gradient(&r);
    }
    if (call->n_in > r.bias)
        deformable_convolution_bias_gradient(&r);
    return MXC_OK;
}

/* Members that both descriptors have alike. */
#define COMMON                                                                                                    \
    .size = sizeof(mxc_op_def), .param_size = sizeof(deformable_params),                                          \
    .infer_shape = deformable_convolution_infer_shape, .dtypes = MXC_DTYPES_FLOAT, .cpu_dtypes = MXC_DTYPES_REAL, \
    .temp_bytes = deformable_convolution_temp_bytes, .forward = {[MXC_CPU] = deformable_convolution_forward},     \
    .backward = {[MXC_CPU] = deformable_convolution_backward}

const mxc_op_def mxci_op_deformable_convolution = {
    COMMON,
    .name = "_contrib_DeformableConvolution",
    .params_check = deformable_convolution_check_params,
    .aliases = "DeformableConvolution",
    .doc = "Convolution of data (N,C,h,w) with weight (num_filter, C / num_group, kernel), plus bias, that reads each "
           "kernel element at a position moved down and to the right by offset (N,G*K*2,H,W), for K kernel elements in "
           "each of G groups of channels; output (N,num_filter,H,W)",
    .params = schema,
    .args = "data,offset,weight,bias",
    .n_args = deformable_convolution_n_args,
    .needs = {.out_grad = 1, .in = 7},
};

const mxc_op_def mxci_op_modulated_deformable_convolution = {
    COMMON,
    .name = "_contrib_ModulatedDeformableConvolution",
    .params_check = modulated_check_params,
    .aliases = "ModulatedDeformableConvolution",
    .doc = "Convolution of data (N,C,h,w) with weight (num_filter, C / num_group, kernel), plus bias, that reads each "
           "kernel element at a position moved down and to the right by offset (N,G*K*2,H,W) and multiplies it by mask "
           "(N,G*K,H,W), for K kernel elements in each of G groups of channels; output (N,num_filter,H,W)",
    .params = modulated_schema,
    .args = "data,offset,mask,weight,bias",
    .n_args = modulated_n_args,
    .needs = {.out_grad = 1, .in = 15},
};
